/** A rollout: workloads take each other's place while requests run. */
import assert from "node:assert/strict";
import { IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { Load, oneRequest } from "../../../scripts/demo/load.ts";
import { peersFile, serviceFile, sidecarFile } from "../../../scripts/demo/workloads.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { envoyPath } from "../../envoy/path.ts";
import { until } from "../../patience.ts";

/** An application that names its instance. Each answer takes a while, so that some are under way at any moment. */
function application(name: string): { readonly port: number } & AsyncDisposable {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return new Response(name);
  });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

Deno.test({
  name:
    "a rollout under load fails no request: the old workload's agent drains while the endpoints move to the new one",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(16, async ([port = 0, here = 0, ...ports]) => {
      await using one = application("one");
      await using two = application("two");
      const instances = [
        { name: "one", port: ports[0]!, application: one.port, ports: ports.slice(1, 5) },
        { name: "two", port: ports[5]!, application: two.port, ports: ports.slice(6, 10) },
      ] as const;
      await using mesh = await IdentityMesh.start({
        port,
        files: {
          "service.yaml": serviceFile(here, [instances[0]]),
          "one.yaml": sidecarFile(instances[0]),
          "two.yaml": sidecarFile(instances[1]),
          "peers.yaml": peersFile("STRICT"),
        },
      });
      try {
        const start = ({ name, ports }: typeof instances[number]) =>
          mesh.agent({ name, account: "server", ports, proxy: { terminationDrainDuration: "8s" } });
        let old = await start(instances[0]);
        await mesh.agent({ name: "client", ports: ports.slice(10, 14) });
        await until("a request passes both sidecars", async () => await oneRequest(here, "app.test") === "one");
        await using load = new Load(here, "app.test");
        // There and back: endpoints first, then the signal; the signal first, then endpoints.
        for (const [next, signalFirst] of [[instances[1], false], [instances[0], true]] as const) {
          const fresh = await start(next);
          const ready = `http://127.0.0.1:${next.ports[2]}/healthz/ready`;
          await until(`${next.name} is ready`, () =>
            fetch(ready).then(async (response) => {
              await response.body?.cancel();
              return response.ok;
            }, () => false));
          if (signalFirst) {
            old.signal("SIGTERM");
            await until("it drains", () => old.output.includes("draining for"));
          }
          await mesh.write("service.yaml", serviceFile(here, [next]));
          if (!signalFirst) old.signal("SIGTERM");
          assert.equal(await old.ended, 0);
          await load.more(50);
          const { answers, failures } = load.take();
          assert.deepEqual([Object.keys(answers).sort(), failures], [["one", "two"], {}]);
          await load.more(50);
          assert.deepEqual(Object.keys(load.take().answers), [next.name]);
          old = fresh;
        }
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});
