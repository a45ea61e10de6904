/** A whole agent beside a real Envoy, and an upstream whose filter has its module elsewhere. */
import assert from "node:assert/strict";
import { lastText } from "../../../lib/agent/wasm/config/wire_fields.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { missing } from "../../dns/support/namespace.ts";
import { envoyPath } from "../../envoy/path.ts";
import { AgentProcess } from "../support/agent_process.ts";
import { TestDiscovery } from "../support/discovery.ts";
import { answeringModule, sha256 } from "../support/wasm_files.ts";
import { CLUSTER, LISTENER, listenerWithFilter } from "../support/wasm_listener.ts";
import { EXTENSION, extensionOf, response } from "../support/wasm_messages.ts";
import { TestWebServer } from "../support/web_server.ts";
import { until } from "../../patience.ts";

const PLUGIN = "answers";
/** Runs a program with a folder in the place of `/var/lib`, which is shared by all agents of a machine. */
const IN_MOUNTS = [
  "unshare",
  "--mount",
  "--propagation",
  "private",
  "sh",
  "-c",
  'mount --bind "$0" /var/lib && exec "$@"',
];

const without = missing(["unshare", "mount"]);

Deno.test({
  name: `the program pilot-agent hands its Envoy a remote Wasm module as a file of its own folder, and Envoy runs it${
    without === undefined ? "" : ` (ignored: ${without})`
  }`,
  ignore: envoyPath() === undefined || without !== undefined,
  fn: () =>
    withPorts(5, async ([door = 0, admin = 0, status = 0, readiness = 0, metrics = 0]) => {
      const module = answeringModule(418);
      await using modules = new TestWebServer(() => new Response(module));
      const url = `http://${modules.host}/answers.wasm`;
      const sent: Readonly<Record<string, readonly { readonly name: string; readonly config: Uint8Array }[]>> = {
        [CLUSTER]: [],
        [LISTENER]: [{ name: PLUGIN, config: listenerWithFilter(PLUGIN, door) }],
        [EXTENSION]: [{ name: PLUGIN, config: extensionOf({ name: PLUGIN, url, sha256: await sha256(module) }) }],
      };
      await using discovery = await TestDiscovery.start(0, ({ call }, request) => {
        const type = lastText(request, 2);
        const isFirst = lastText(request, 6) === "";
        const resources = sent[type];
        if (!isFirst || resources === undefined) return;
        call.send([response("delta", { version: "1", nonce: "1", type }, resources)], false);
      });
      const varLib = await Deno.makeTempDir();
      try {
        await using agent = await AgentProcess.start({
          runner: [...IN_MOUNTS, varLib],
          env: {
            ...{ POD_NAME: "a", POD_NAMESPACE: "shop", INSTANCE_IP: "127.0.0.1" },
            ...{ PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}` },
            PROXY_CONFIG: JSON.stringify({
              ...{ binaryPath: "envoy", discoveryAddress: `127.0.0.1:${discovery.port}`, concurrency: 1 },
              ...{ controlPlaneAuthPolicy: "NONE", interceptionMode: "NONE", terminationDrainDuration: "0.1s" },
              ...{ proxyAdminPort: admin, statusPort: status },
            }),
          },
        });
        const answer = async () => {
          const response = await fetch(`http://127.0.0.1:${door}/`).catch(() => undefined);
          await response?.body?.cancel();
          return response?.status;
        };
        await until("the module answers", async () => await answer() === 418).catch((cause) => {
          throw new Error(agent.output, { cause });
        });
        assert.deepEqual(modules.asked, ["/answers.wasm"]);
        const shown = await (await fetch(`http://127.0.0.1:${admin}/config_dump?resource=ecds_filters`)).text();
        const path = /"filename": "\/var\/lib(\/mesh\/data\/wasm\/[^"]+\.wasm)"/.exec(shown)?.[1];
        assert.ok(path !== undefined && !shown.includes(url), shown);
        assert.deepEqual(await Deno.readFile(varLib + path), module);
      } finally {
        await Deno.remove(varLib, { recursive: true });
      }
    }),
});
