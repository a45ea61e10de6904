/** Settings of an agent with an effect on the start of Envoy: each setting, against an agent without settings. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath } from "../envoy/path.ts";
import { AgentProcess } from "./support/agent_process.ts";

/** A setting, and a text in Envoy's command line or bootstrap that the setting adds or removes. */
interface ShownSetting {
  readonly value: string;
  readonly adds?: RegExp;
  readonly removes?: RegExp;
}

const SETTINGS: Readonly<Record<string, ShownSetting>> = {
  MESH_CPU_LIMIT: { value: "3", adds: / --concurrency 3\b/ },
  MESH_PROXY_ENABLE_CORE_DUMP: { value: "true", adds: / --enable-core-dump\b/ },
  PROXY_SKIP_DEPRECATED_LOGS: { value: "false", removes: / --skip-deprecated-logs\b/ },
  MESH_DUAL_STACK: { value: "true", adds: /"additional_addresses"/ },
  METRICS_LOCALHOST_ACCESS_ONLY: { value: "true", removes: /"address":"0\.0\.0\.0","port_value":METRICS\b/ },
  EXIT_ON_ZERO_ACTIVE_CONNECTIONS: { value: "true", adds: /"EXIT_ON_ZERO_ACTIVE_CONNECTIONS":"true"/ },
  MESH_META_CLUSTER_ID: { value: "east", adds: /"CLUSTER_ID":"east"/ },
  METRIC_ROTATION_INTERVAL: { value: "1h", adds: /"stats_eviction_interval":"3660s"/ },
  METRIC_GRACEFUL_DELETION_INTERVAL: { value: "1m", adds: /"stats_eviction_interval":"3660s"/ },
  MESHD_SAN: { value: "meshd.test", adds: /"PILOT_SAN":\["meshd\.test"\]/ },
};

/** Envoy's command line and bootstrap by an agent with the given variables. */
async function startedWith(env: Readonly<Record<string, string>>): Promise<string> {
  let found = "";
  await withPorts(4, async ([admin = 0, status = 0, readiness = 0, metrics = 0]) => {
    await using agent = await AgentProcess.start({
      env: {
        ...{ POD_NAME: "a", POD_NAMESPACE: "shop", INSTANCE_IP: "127.0.0.1,::1" },
        ...{ PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}` },
        PROXY_CONFIG: JSON.stringify({
          ...{ binaryPath: "envoy", discoveryAddress: "127.0.0.1:1", controlPlaneAuthPolicy: "NONE" },
          ...{ proxyAdminPort: admin, statusPort: status, terminationDrainDuration: "0.1s" },
        }),
        ...env,
      },
    });
    const pid = await agent.envoy();
    const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/cmdline`] }).output();
    const line = new TextDecoder().decode(stdout).replaceAll("\0", " ");
    const bootstrap = JSON.parse(await Deno.readTextFile(`${agent.folder}/etc/mesh/proxy/envoy-rev.json`));
    found = `${line}\n${JSON.stringify(bootstrap).replaceAll(`"port_value":${metrics}`, '"port_value":METRICS')}`;
  });
  return found;
}

Deno.test({
  name: "settings of an agent change the command line and the bootstrap of Envoy",
  ignore: envoyPath() === undefined,
  async fn() {
    const variables = Object.entries(SETTINGS).map(([name, { value }]) => [name, value] as const);
    const [without, withAll] = [await startedWith({}), await startedWith(Object.fromEntries(variables))];
    const shown = Object.entries(SETTINGS).map(([name, { adds, removes }]) => {
      const [absent, present] = adds === undefined ? [withAll, without] : [without, withAll];
      const sign = (adds ?? removes)!;
      return [name, sign.test(absent), sign.test(present)];
    });
    assert.deepEqual(shown, Object.keys(SETTINGS).map((name) => [name, false, true]), `${without}\n${withAll}`);
  },
});
