/** Identity end to end: the server's own authority, two agents with their Envoys, and mutual TLS between the Envoys. */
import assert from "node:assert/strict";
import type { AgentProcess } from "../../scripts/demo/agent.ts";
import { IdentityMesh } from "../../scripts/demo/identity_mesh.ts";
import { oneRequest } from "../../scripts/demo/load.ts";
import { pairFiles } from "../../scripts/demo/workloads.ts";
import { withPorts } from "../../scripts/ports.ts";
import { callerEcho } from "../../scripts/demo/caller_echo.ts";
import { envoyPath } from "../envoy/path.ts";
import { until } from "../patience.ts";

/** The probes of an orchestrator, and the calls of an ending workload. */
async function readyThenDrained(agent: AgentProcess, [, status, readiness]: readonly number[]): Promise<void> {
  const probe = async () => {
    const response = await fetch(`http://127.0.0.1:${readiness}/healthz/ready`);
    return [response.status, await response.text()];
  };
  const post = async (path: string) =>
    await (await fetch(`http://127.0.0.1:${status}/${path}`, { method: "POST" })).text();
  // A request can pass the proxy's first worker before the proxy reports that all workers have started.
  await until("the workload is ready", async () => String(await probe()) === "200,");
  assert.equal(await post("drain"), "OK");
  assert.deepEqual(await probe(), [503, "the proxy is draining\n"]);
  assert.equal(await post("quitquitquit"), "OK");
  assert.equal(await agent.ended, 0);
}

Deno.test({
  name:
    "two workloads with nothing but tokens get identities from the server's own authority, and talk mutual TLS where nothing else is let in; probes and the end of one are answered",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(11, async ([port = 0, there = 0, here = 0, ...ports]) => {
      await using app = callerEcho();
      await using mesh = await IdentityMesh.start({
        port,
        files: pairFiles({ client: here, server: there, application: app.port, mode: "STRICT" }),
      });
      try {
        const server = await mesh.agent({ name: "server", ports: ports.slice(0, 4) });
        await mesh.agent({ name: "client", ports: ports.slice(4, 8) });
        await until("a request passes both sidecars", async () =>
          await oneRequest(here, "app.test") === "spiffe://cluster.local/ns/demo/sa/client");
        assert.equal(await oneRequest(there, "app.test"), "refused", "plain connections are not let in");
        await readyThenDrained(server, ports);
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});
