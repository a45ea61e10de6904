/** Policies of real workloads, switched while requests run. */
import assert from "node:assert/strict";
import { Agent } from "node:http";
import { IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { Load, oneRequest } from "../../../scripts/demo/load.ts";
import { peersFile, shortConnectionsFile, sidecarFile } from "../../../scripts/demo/workloads.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { callerEcho } from "../../../scripts/demo/caller_echo.ts";
import { envoyPath } from "../../envoy/path.ts";
import { CLIENT, withSidecarPair } from "../support/sidecar_pair.ts";
import { until } from "../../patience.ts";

Deno.test({
  name:
    "PERMISSIVE becomes STRICT and PERMISSIVE again under load: callers with a sidecar lose no request, callers without one are let in and refused by the policy alone",
  ignore: envoyPath() === undefined,
  fn: () =>
    withSidecarPair(
      { mode: "PERMISSIVE", files: { "short.yaml": shortConnectionsFile(20) } },
      async ({ mesh, here, there, server, client }) => {
        const plain = () => oneRequest(there, "app.test");
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
      },
    ),
});

Deno.test({
  name:
    "a connection that is open when a policy changes has a request judged by the old one, and is closed with an answer; one that waits is closed when draining is over",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(6, async ([port = 0, there = 0, ...ports]) => {
      await using app = callerEcho();
      await using mesh = await IdentityMesh.start({
        port,
        files: {
          "sidecar.yaml": sidecarFile({ name: "server", port: there, application: app.port }),
          "peers.yaml": peersFile("PERMISSIVE"),
        },
      });
      const open = new Agent({ keepAlive: true, maxSockets: 1 });
      try {
        await mesh.agent({ name: "server", ports, proxy: { drainDuration: "6s" } });
        await until("it serves", async () => await oneRequest(there, "app.test", open) === "nobody");
        using waiting = await Deno.connect({ hostname: "127.0.0.1", port: there });
        await waiting.write(new TextEncoder().encode("GET / HTTP/1.1\r\n"));
        await mesh.write("peers.yaml", peersFile("STRICT"));
        await until("STRICT is in force", async () => await oneRequest(there, "app.test") === "refused");
        // New connections are judged by the new policy a moment before the old listener begins to drain.
        const answers: string[] = [];
        await until("an answer closes the connection", async () => {
          answers.push(await oneRequest(there, "app.test", open));
          return answers.at(-1) !== "nobody";
        });
        assert.deepEqual([answers[0], answers.at(-1)], ["nobody", "refused"]);
        assert.equal(await waiting.read(new Uint8Array(1)), null);
      } catch (error) {
        throw mesh.failure(error);
      } finally {
        open.destroy();
      }
    }),
});
