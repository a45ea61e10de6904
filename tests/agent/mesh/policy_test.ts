/** Policies of real workloads, switched while requests run. */
import assert from "node:assert/strict";
import { IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { Load, oneRequest } from "../../../scripts/demo/load.ts";
import { pairFiles, peersFile, shortConnectionsFile } from "../../../scripts/demo/workloads.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { callerEcho } from "../../../scripts/demo/caller_echo.ts";
import { until } from "../../e2e/support/mesh.ts";
import { envoyPath } from "../../translate/envoy.ts";

const CLIENT = "spiffe://cluster.local/ns/demo/sa/client";

Deno.test({
  name:
    "PERMISSIVE becomes STRICT and PERMISSIVE again under load: callers with a sidecar lose no request, callers without one are let in and refused by the policy alone",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(11, async ([port = 0, here = 0, there = 0, ...ports]) => {
      await using app = callerEcho();
      await using mesh = await IdentityMesh.start({
        port,
        files: {
          ...pairFiles({ client: here, server: there, application: app.port, mode: "PERMISSIVE" }),
          "short.yaml": shortConnectionsFile(20),
        },
      });
      try {
        const server = await mesh.agent({ name: "server", ports: ports.slice(0, 4) });
        const client = await mesh.agent({ name: "client", ports: ports.slice(4, 8) });
        const plain = () => oneRequest(there, "app.test");
        await until("a request passes both sidecars", async () => await oneRequest(here, "app.test") === CLIENT);
        await until("a request passes the server's", async () => await plain() === "nobody");
        await using mutual = new Load(here, "app.test");
        {
          await using without = new Load(there, "app.test");
          await without.more(100);
          assert.deepEqual(without.take().failures, {});
        }
        for (
          const [mode, answer] of [["STRICT", "refused"], ["PERMISSIVE", "nobody"], ["STRICT", "refused"]] as const
        ) {
          await mesh.write("peers.yaml", peersFile(mode));
          await until(`${mode} is in force`, async () => await plain() === answer);
          for (let i = 0; i < 20; i++) assert.equal(await plain(), answer, mode);
          await mutual.more(100);
        }
        const { answers, failures } = mutual.take();
        assert.deepEqual([Object.keys(answers), failures], [[CLIENT], {}]);
        assert.doesNotMatch(mesh.output + server.output + client.output, /rejected/);
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});
