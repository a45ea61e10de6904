/**
 * Goldens: what each world in `tests/testdata/translate/listener/in` becomes. To accept a change:
 * `deno test --allow-read --allow-write --allow-env --allow-run tests/translate/listener/golden_test.ts -- --update-goldens`.
 */
import assert from "node:assert/strict";
import { encode } from "../../../lib/pb/codec.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import { envoyPath, validate } from "../envoy.ts";
import { buildListeners } from "./world.ts";

const LISTENER = "envoy.config.listener.v3.Listener";
const folder = new URL("../../testdata/translate/listener/", import.meta.url);
const names = [...Deno.readDirSync(new URL("in/", folder))].map((e) => e.name.replace(".yaml", "")).sort();

function input(name: string): string {
  return Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder));
}

for (const name of names) {
  Deno.test(`golden ${name}`, () => {
    const { listeners, conflicts } = buildListeners(input(name));
    const shown = listeners.map(({ message, ...rest }) => ({
      ...rest,
      message: readable(LISTENER, encode(LISTENER, message)),
    }));
    const actual = JSON.stringify({ listeners: shown, conflicts }, null, 1) + "\n";
    const file = new URL(`out/${name}.json`, folder);
    if (Deno.args.includes("--update-goldens")) Deno.writeTextFileSync(file, actual);
    assert.deepEqual(JSON.parse(actual), JSON.parse(Deno.readTextFileSync(file)));
  });
}

const envoyBinary = envoyPath();
const pem = new URL("../cluster/pem/", folder).pathname;

for (const name of names) {
  Deno.test({
    name: `Envoy accepts every listener of golden ${name}, and calls no field deprecated`,
    ignore: envoyBinary === undefined,
    async fn() {
      const { listeners } = buildListeners(input(name).replaceAll("/etc/certs/", pem));
      const verdict = await validate(envoyBinary!, { listeners: listeners.map(({ message }) => message) });
      assert.ok(verdict.accepted, verdict.output);
      assert.deepEqual(verdict.deprecated, []);
    },
  });
}
