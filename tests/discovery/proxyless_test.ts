/** A gRPC library's questions and answers over the wire, with many names and with nonsense too. */
import assert from "node:assert/strict";
import { decode } from "../../lib/pb/reflect.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../../lib/xds/protocol/types.ts";
import { QuestionClient } from "./question_client.ts";
import { withServer } from "./running.ts";

const SERVICES = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: one, namespace: shop }
spec:
  hosts: [one.shop.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: grpc, protocol: GRPC, targetPort: 8080 }]
  endpoints: [{ address: 10.0.0.1 }]
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: two, namespace: bank }
spec:
  hosts: [two.bank.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: grpc, protocol: GRPC }, { number: 81, name: grpc-more, protocol: GRPC }]
  endpoints: [{ address: 10.0.0.2 }]
`;

const ID = "sidecar~10.0.0.1~app.shop~shop.svc.cluster.local";

async function withLibrary(run: (client: QuestionClient, port: number) => Promise<void>): Promise<void> {
  await withServer({ "services.yaml": SERVICES }, async (server) => {
    using client = await QuestionClient.connect(server.ports.grpc, ID, undefined, { GENERATOR: "grpc" });
    await run(client, server.ports.grpc);
  });
}

/** Names of the resources in the answer for some names. */
async function named(client: QuestionClient, typeUrl: string, ...names: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const resource of await client.resources(typeUrl, ...names)) {
    if (typeof resource === "string") throw new Error(`the stream ended: ${resource}`);
    const message = decode<{ name?: string; cluster_name?: string }>(typeUrl.split("/")[1]!, resource.value);
    found.push(message.name ?? message.cluster_name ?? "");
  }
  return found.sort();
}

Deno.test("a wildcard gives a library nothing, because it takes resources by name alone", () =>
  withLibrary(async (client) => {
    assert.deepEqual(await named(client, CLUSTER), []);
    assert.deepEqual(await named(client, LISTENER), []);
    assert.deepEqual(await named(client, CLUSTER, "*", "outbound|80||one.shop.svc.cluster.local"), [
      "outbound|80||one.shop.svc.cluster.local",
    ]);
  }));

Deno.test("listeners have the requested form of the name: short, with the namespace, or in full", () =>
  withLibrary(async (client) => {
    const names = ["one:80", "one.shop:80", "one.shop.svc:80", "one.shop.svc.cluster.local:80", "two.bank:81", "one"];
    assert.deepEqual(await named(client, LISTENER, ...names), [...names].sort());
    // A short name belongs to the client's own namespace.
    assert.deepEqual(await named(client, LISTENER, "two:80", "one.bank:80"), []);
  }));

Deno.test("a name without a port means all ports of its service", () =>
  withLibrary(async (client) => {
    assert.deepEqual(await named(client, LISTENER, "two.bank"), ["two.bank:80", "two.bank:81"]);
  }));

Deno.test("a library follows names from its listener to endpoints, and serves at the target port of its services", () =>
  withLibrary(async (client) => {
    const name = "outbound|80||one.shop.svc.cluster.local";
    for (const type of [ROUTE, CLUSTER, ENDPOINTS]) assert.deepEqual(await named(client, type, name), [name]);
    const inbound = (at: string) => `xds.istio.io/grpc/lds/inbound/${at}`;
    const asked = ["0.0.0.0:8080", "[::]:8080", "10.0.0.1:8080", "0.0.0.0:80", "10.0.0.2:8080", "10.0.0.1"].map(
      inbound,
    );
    assert.deepEqual(await named(client, LISTENER, ...asked), asked.slice(0, 3).sort());
  }));

Deno.test("a request with 10,000 unknown names and nonsense gets its known names, and harms no other client", () =>
  withLibrary(async (client, port) => {
    const nonsense = ["", ":", "::80", "one:", "one:80:80", "one:080", "%s", "\u0000", "../one:80", "ONE:80", "*:80"];
    const inbound = ["", "[", "0.0.0.0", "0.0.0.0:", "0.0.0.0:99999", "%s", "0.0.0.0:8080/"]
      .map((at) => `xds.istio.io/grpc/lds/inbound/${at}`);
    const many = Array.from({ length: 10_000 }, (_, i) => `unknown-${i}.shop.svc.cluster.local:80`);
    const long = "x".repeat(100_000);
    const names = [...nonsense, ...inbound, ...many, long, "one:80"];
    assert.deepEqual(await named(client, LISTENER, ...names), ["one:80"]);
    const clusters = [
      "outbound|80|",
      "outbound|x||one.shop.svc.cluster.local",
      "outbound|80|v9|one.shop.svc.cluster.local",
    ];
    assert.deepEqual(await named(client, CLUSTER, ...clusters, ...many, long), []);
    using other = await QuestionClient.connect(port, ID, undefined, { GENERATOR: "grpc" });
    assert.deepEqual(await named(other, LISTENER, "one:80"), ["one:80"]);
  }));
