import assert from "node:assert/strict";
import { page, withServer } from "../discovery/running.ts";

interface Answer {
  readonly object: string;
  /** Absent: no version is in force. */
  readonly hash?: string;
  readonly also?: string;
}

const OURS = `apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: both, namespace: shop }
spec: { servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }
`;

const theirs = (name: string) =>
  `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: shop }
spec: { gatewayClassName: mesh, listeners: [{ name: http, port: 80, protocol: HTTP }] }
`;

const CLASS = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: mesh }
spec: { controllerName: mesh.io/gateway-controller }
`;

Deno.test("live finds the Gateway that a text means, and names the other kind's Gateway of the same name", async () => {
  const files = { "a.yaml": [OURS, theirs("both"), theirs("door"), CLASS].join("---\n") };
  await withServer(files, async ({ ports }) => {
    const ask = async (text: string, wait = ""): Promise<[string, boolean, string | undefined]> => {
      const { object, hash, also }: Answer = JSON.parse(
        (await page(ports.http, `/debug/live?object=${text}${wait}`)).body,
      );
      return [object, hash !== undefined, also];
    };
    const api = "gateway.gateway.networking.k8s.io";
    assert.deepEqual(await ask("gateway/shop/both"), ["Gateway/shop/both", true, `${api}/shop/both`]);
    assert.deepEqual(await ask(`${api}/shop/both`), ["ApiGateway/shop/both", true, undefined]);
    assert.deepEqual(await ask("gateways.networking.istio.io/shop/both"), ["Gateway/shop/both", true, undefined]);
    for (const wait of ["", "&wait=0s"]) {
      assert.deepEqual(await ask("gateway/shop/door", wait), ["ApiGateway/shop/door", true, undefined]);
    }
    assert.deepEqual(await ask("gateway/shop/none"), ["Gateway/shop/none", false, undefined]);
    for (const text of ["GatewayClass//mesh", "gatewayclass/mesh"]) {
      assert.deepEqual(await ask(text), ["GatewayClass//mesh", true, undefined]);
    }
    assert.equal((await page(ports.http, "/debug/live?object=gatewayclass/shop/mesh")).status, 400);
  });
});
