/** A service is added, changed and removed while a real Envoy carries requests to the service. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { DOOR, gateway, service } from "./support/door.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { requestHost } from "./support/request.ts";
import { until } from "../patience.ts";

const path = envoyPath();

/** An application that answers with a fixed text. */
function application(text: string) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response(text));
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** The gateway's answer for a host: the body, a status other than 200, or "closed" without a listener. */
async function ask(port: number, host: string): Promise<string> {
  const response = await requestHost(port, host);
  if (typeof response === "string") return "closed";
  return response.status === 200 ? response.body : String(response.status);
}

for (const delta of [true, false]) {
  Deno.test({
    name: `${delta ? "delta with VHDS" : "state of the world"}: a service comes, changes and goes; nothing is rejected`,
    ignore: path === undefined,
    fn: () =>
      withPorts(1, async ([port = 0]) => {
        await using one = application("one");
        await using two = application("two");
        await using mesh = await TestMesh.start({
          files: { "gateway.yaml": gateway(port), "a.yaml": service("a", one.port) },
        });
        const envoy = await mesh.attach(path!, DOOR, delta);
        const [row] = await mesh.settled();
        await envoy.ready(port);
        assert.equal(row!.protocol, delta ? "delta" : "state of the world");
        assert.equal(Object.keys(row!.resources).some((type) => type.endsWith(".VirtualHost")), delta);
        assert.equal(await ask(port, "a.test"), "one");
        assert.equal(await ask(port, "b.test"), "404");

        await mesh.write("b.yaml", service("b", two.port));
        await until("the service that came", async () => await ask(port, "b.test") === "two");
        assert.equal(await ask(port, "a.test"), "one");

        await mesh.write("b.yaml", service("b", one.port));
        await until("the changed endpoint", async () => await ask(port, "b.test") === "one");

        await mesh.write("b.yaml");
        await until("the end of its route", async () => await ask(port, "b.test") === "404");
        await until("the end of its cluster", async () => !(await envoy.admin("clusters"))!.includes("b.demo"));
        assert.equal(await ask(port, "a.test"), "one");

        await mesh.write("gateway.yaml");
        await until("the end of the listener", async () => await ask(port, "a.test") === "closed");
        await mesh.settled();
        const { rejections } = await mesh.page<{ rejections: unknown[] }>("push_status");
        assert.deepEqual(rejections, []);
      }),
  });

  Deno.test({
    name: `${
      delta ? "delta with VHDS" : "state of the world"
    }: a route that went with all others does not come back with a new one`,
    ignore: path === undefined,
    fn: () =>
      withPorts(1, async ([port = 0]) => {
        await using one = application("one");
        await using two = application("two");
        await using mesh = await TestMesh.start({
          files: { "gateway.yaml": gateway(port), "a.yaml": service("a", one.port) },
        });
        const envoy = await mesh.attach(path!, DOOR, delta);
        await mesh.settled();
        await envoy.ready(port);
        await until("the first route", async () => await ask(port, "a.test") === "one");

        await mesh.write("a.yaml");
        await until("the end of the last route", async () => await ask(port, "a.test") === "404");
        await mesh.write("b.yaml", service("b", two.port));
        await until("the new route", async () => await ask(port, "b.test") === "two");
        assert.equal(await ask(port, "a.test"), "404");

        await mesh.settled();
        const { rejections } = await mesh.page<{ rejections: unknown[] }>("push_status");
        assert.deepEqual(rejections, []);
      }),
  });
}
