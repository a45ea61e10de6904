/** A signal while an agent starts. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath } from "../envoy/path.ts";
import { until } from "../patience.ts";
import { AgentProcess } from "./support/agent_process.ts";

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test({
  name: "a signal between the start of Envoy and the end of the agent's start ends both",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(4, async ([admin = 0, status = 0, readiness = 0, metrics = 0]) => {
      await using agent = await AgentProcess.start({
        env: {
          ...{ POD_NAME: "a", POD_NAMESPACE: "shop", INSTANCE_IP: "127.0.0.1" },
          ...{ PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}` },
          PROXY_CONFIG: JSON.stringify({
            ...{ binaryPath: "envoy", discoveryAddress: "127.0.0.1:1", controlPlaneAuthPolicy: "NONE" },
            ...{ proxyAdminPort: admin, statusPort: status, terminationDrainDuration: "0.1s" },
          }),
        },
      });
      // The bootstrap is written immediately before Envoy is started.
      await until("the bootstrap", () => exists(`${agent.folder}/etc/mesh/proxy/envoy-rev.json`));
      agent.signal("SIGTERM");
      assert.equal(await agent.ended, 0, agent.output);
      assert.match(agent.output, /a signal: draining/);
    }),
});
