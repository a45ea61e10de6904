/** WasmPlugins of a server, in real Envoys behind agents. The agents fetch the modules. */
import assert from "node:assert/strict";
import { LISTENER } from "../../../lib/xds/protocol/types.ts";
import { Load, oneRequest } from "../../../scripts/demo/load.ts";
import { envoyPath } from "../../envoy/path.ts";
import { TestRegistry } from "../support/registry.ts";
import { CLIENT, withSidecarPair } from "../support/sidecar_pair.ts";
import { answeringModule } from "../support/wasm_files.ts";
import { until } from "../../patience.ts";

const LAYER = "application/vnd.module.wasm.content.layer.v1+wasm";
const PASSWORD = "hunter2";

/** The registry wants a password. */
async function privateRegistry(): Promise<TestRegistry> {
  const registry = new TestRegistry();
  registry.wanted = `Basic ${btoa(`mesh:${PASSWORD}`)}`;
  registry.challenge = 'Basic realm="registry"';
  await registry.push("demo/guard:1", [{ mediaType: LAYER, bytes: answeringModule(418) }]);
  await registry.push("demo/guard:2", [{ mediaType: LAYER, bytes: answeringModule(420) }]);
  return registry;
}

function secretFile(host: string): string {
  const config = JSON.stringify({ auths: { [host]: { auth: btoa(`mesh:${PASSWORD}`) } } });
  return `
apiVersion: v1
kind: Secret
metadata: { name: registry, namespace: demo }
type: kubernetes.io/dockerconfigjson
data: { .dockerconfigjson: ${btoa(config)} }
`;
}

function pluginFile(name: string, url: string, more = ""): string {
  return `
apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: { name: ${name}, namespace: demo }
spec:
  selector: { matchLabels: { instance: server } }
  url: ${url}
  imagePullSecret: registry
  phase: AUTHN
  match: [{ mode: SERVER }]
  ${more}
`;
}

interface Row {
  readonly proxy: string;
  readonly resources: Readonly<Record<string, { readonly acked: string; readonly lastError?: string }>>;
}

Deno.test({
  name:
    "a plugin of a private registry runs in its server alone, its next image changes no listener, one that cannot be had denies or lets pass, and its end costs no request",
  ignore: envoyPath() === undefined,
  async fn() {
    await using registry = await privateRegistry();
    const files = { "secret.yaml": secretFile(registry.host) };
    const agents = { WASM_INSECURE_REGISTRIES: registry.host, WASM_HTTP_REQUEST_MAX_RETRIES: "1" };
    await withSidecarPair({ mode: "PERMISSIVE", files, agents }, async ({ mesh, here, there }) => {
      const through = () => oneRequest(here, "app.test");
      const listeners = async () => {
        const rows = await mesh.page<Row[]>("syncz");
        const acked = rows.map(({ resources }) => resources[LISTENER]!.acked);
        return { rows, acked };
      };
      await mesh.write("plugin.yaml", pluginFile("guard", `${registry.host}/demo/guard:1`));
      await until(
        "the module runs",
        async () => await through() === "418" && await oneRequest(there, "app.test") === "418",
      );
      const before = await listeners();
      await mesh.write("plugin.yaml", pluginFile("guard", `${registry.host}/demo/guard:2`));
      await until("the next module runs", async () => await through() === "420");
      assert.deepEqual((await listeners()).acked, before.acked);
      const name = before.rows.find(({ proxy }) => proxy.includes("server"))!.proxy;
      const shown = JSON.stringify(await mesh.page(`ecdsz?proxyID=${encodeURIComponent(name)}`));
      assert.match(shown, /extensions.istio.io\/wasmplugin\/demo.guard/);
      assert.doesNotMatch(shown + mesh.output, new RegExp(`${btoa(`mesh:${PASSWORD}`)}|${PASSWORD}`));

      await mesh.write("plugin.yaml", pluginFile("none", `${registry.host}/demo/none:1`));
      await until("all is denied without the module", async () => await through() === "403");
      await mesh.write("plugin.yaml", pluginFile("open", `${registry.host}/demo/none:1`, "failStrategy: FAIL_OPEN"));
      await until("all passes without the module", async () => await through() === CLIENT);

      await using load = new Load(here, "app.test");
      await load.more(50);
      await Deno.remove(`${mesh.folder}/config/plugin.yaml`);
      await until("the plugin is gone", async () => {
        const shown = JSON.stringify(await mesh.page(`config_dump?types=lds&proxyID=${encodeURIComponent(name)}`));
        return !shown.includes("wasmplugin");
      });
      await load.more(200);
      assert.deepEqual(load.take().failures, {});
    });
  },
});
