/** Envoy takes the extension configurations of goldens, with a module in a file. */
import assert from "node:assert/strict";
import { any, TYPE_URL_PREFIX } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { answeringModule } from "../../agent/support/wasm_files.ts";
import { inputNames } from "../../golden.ts";
import { envoyPath } from "../../envoy/path.ts";
import { validate } from "../../envoy/verdict.ts";
import { worldOf } from "../golden/expected.ts";
import { proxiesOf, readGolden } from "../golden/read.ts";

type Extension = envoy.config.core.v3.TypedExtensionConfig;

const EXTENSION = "envoy.config.core.v3.TypedExtensionConfig";
const folder = new URL("../../testdata/translate/extension/", import.meta.url);

/** The extension configurations of a golden with changed text. */
function extensions(name: string, edit: (yaml: string) => string): Extension[] {
  const golden = readGolden(edit(Deno.readTextFileSync(new URL(`${name}.yaml`, folder))));
  const [proxy] = [...proxiesOf(golden.head).values()];
  return [...worldOf(golden).resourcesOf(proxy!).values()]
    .filter(({ typeUrl }) => typeUrl === TYPE_URL_PREFIX + EXTENSION)
    .map(({ value }) => decode<Extension>(EXTENSION, value));
}

/** Listeners with the configurations in place of names. */
function listeners(filters: readonly Extension[]): envoy.config.listener.v3.Listener[] {
  const manager = {
    stat_prefix: "a",
    route_config: {},
    http_filters: [
      ...filters.filter(({ typed_config }) => typed_config?.type_url?.includes(".http.")),
      { name: "router", typed_config: any("envoy.extensions.filters.http.router.v3.Router", {}) },
    ],
  };
  const type = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
  const network = filters.filter(({ typed_config }) => typed_config?.type_url?.includes(".network."));
  const address = { socket_address: { address: "127.0.0.1", port_value: 0 } };
  return [{
    name: "a",
    address,
    filter_chains: [{ filters: [...network, { name: "http", typed_config: any(type, manager) }] }],
  }];
}

for (const name of inputNames(folder)) {
  Deno.test({
    name: `Envoy accepts the extensions of golden ${name}, with a module in a file, and calls no field deprecated`,
    ignore: envoyPath() === undefined,
    async fn() {
      const file = await Deno.makeTempFile({ suffix: ".wasm" });
      try {
        await Deno.writeFile(file, answeringModule(418));
        const local = (yaml: string) => yaml.replaceAll(/url: [^,\n}]+/g, `url: "file://${file}"`);
        const own = extensions(name, name === "no_agent" ? (yaml) => yaml.replace("/etc/a.wasm", file) : local);
        const http = own.filter(({ name }) => !name?.includes("connections"));
        const verdict = await validate(envoyPath()!, { listeners: listeners(http) });
        assert.ok(verdict.accepted, verdict.output);
        assert.deepEqual(verdict.deprecated, []);
      } finally {
        await Deno.remove(file);
      }
    },
  });
}
