/** Goldens: the extension configurations of each world in `tests/testdata/translate/extension/in`, which Envoy accepts. */
import assert from "node:assert/strict";
import { any, encode } from "../../../lib/pb/codec.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import { wasmExtension } from "../../../lib/translate/extension/wasm.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { answeringModule } from "../../agent/support/wasm_files.ts";
import { inputNames, testGoldens } from "../../golden.ts";
import { envoyPath, validate } from "../envoy.ts";
import { fakeReader, type FakeWorld } from "../fake_reader.ts";
import { worldFromYaml } from "../world_from_yaml.ts";

const EXTENSION = "envoy.config.core.v3.TypedExtensionConfig";
const folder = new URL("../../testdata/translate/extension/", import.meta.url);
const names = inputNames(new URL("in/", folder));

function build(name: string, edit: (yaml: string) => string = (yaml) => yaml) {
  const world = worldFromYaml(edit(Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder)))) as FakeWorld & {
    readonly extensions?: readonly string[];
  };
  const { extensions } = world;
  const properties = { ...world.properties, ...(extensions ? { extensions: new Set(extensions) } : {}) };
  const read = fakeReader({ ...world, properties });
  return read.wasmPlugins().map((plugin) => wasmExtension(read, plugin));
}

function text(name: string): string {
  const shown = build(name).map(({ message, ...rest }) => ({
    ...rest,
    message: readable(EXTENSION, encode(EXTENSION, message)),
  }));
  return `${JSON.stringify(shown, null, 1)}\n`;
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".json",
  cases: new Map(names.map((name) => [name, () => text(name)])),
});

/** Listeners with the configurations in place of their names. */
function listeners(filters: readonly envoy.config.core.v3.TypedExtensionConfig[]): envoy.config.listener.v3.Listener[] {
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

for (const name of names) {
  Deno.test({
    name: `Envoy accepts what golden ${name} says, with a module in a file, and calls no field deprecated`,
    ignore: envoyPath() === undefined,
    async fn() {
      const file = await Deno.makeTempFile({ suffix: ".wasm" });
      try {
        await Deno.writeFile(file, answeringModule(418));
        const local = (yaml: string) => yaml.replaceAll(/url: [^,\n}]+/g, `url: "file://${file}"`);
        const filters = build(name, name === "no_agent" ? (yaml) => yaml.replace("/etc/a.wasm", file) : local);
        const http = filters.map(({ message }) => message).filter(({ name }) => !name?.includes("connections"));
        const verdict = await validate(envoyPath()!, { listeners: listeners(http) });
        assert.ok(verdict.accepted, verdict.output);
        assert.deepEqual(verdict.deprecated, []);
      } finally {
        await Deno.remove(file);
      }
    },
  });
}
