/**
 * Goldens: what each world in `tests/testdata/translate/listener/in` becomes. `deno task goldens` accepts a change.
 */
import assert from "node:assert/strict";
import { encode } from "../../../lib/pb/codec.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import { inputNames, testGoldens } from "../../golden.ts";
import { envoyPath, validate } from "../envoy.ts";
import { buildListeners } from "./world.ts";

const LISTENER = "envoy.config.listener.v3.Listener";
const folder = new URL("../../testdata/translate/listener/", import.meta.url);
const names = inputNames(new URL("in/", folder));

function input(name: string): string {
  return Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder));
}

function text(name: string): string {
  const { listeners, ...found } = buildListeners(input(name));
  const shown = listeners.map(({ message, ...rest }) => ({
    ...rest,
    message: readable(LISTENER, encode(LISTENER, message)),
  }));
  return JSON.stringify({ listeners: shown, ...found }, null, 1) + "\n";
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".json",
  cases: new Map(names.map((name) => [name, () => text(name)])),
});

const envoyBinary = envoyPath();
const pem = new URL("../cluster/pem/", folder).pathname;

/** The API that is generated here does not have yet what stands in for these. */
const WITHOUT_SUCCESSOR: ReadonlySet<string> = new Set([
  "envoy.config.rbac.v3.Principal.metadata",
  "envoy.config.rbac.v3.Permission.metadata",
  // Work in progress.
  "envoy.config.rbac.v3.Principal.source_ip",
]);

/** Some tracers refuse to start without their cluster. */
const COLLECTOR = { name: "outbound|4318||collector.logs", connect_timeout: { seconds: 1 }, type: 0 } as const;

for (const name of names) {
  Deno.test({
    name: `Envoy accepts every listener of golden ${name}, and calls no field deprecated`,
    ignore: envoyBinary === undefined,
    async fn() {
      const { listeners } = buildListeners(input(name).replaceAll("/etc/certs/", pem));
      const verdict = await validate(envoyBinary!, {
        clusters: [COLLECTOR],
        listeners: listeners.map(({ message }) => message),
      });
      assert.ok(verdict.accepted, verdict.output);
      assert.deepEqual(verdict.deprecated.filter((field) => !WITHOUT_SUCCESSOR.has(field)), []);
    },
  });
}
