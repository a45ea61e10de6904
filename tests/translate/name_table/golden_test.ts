/**
 * Goldens: the DNS table that an agent gets of each world in `tests/testdata/translate/name_table/in`, as it reads the
 * bytes. `deno task goldens` accepts a change.
 */
import { decodeNameTable } from "../../../lib/dns/table/name_table_wire.ts";
import { encodeName, encodeNameTable } from "../../../lib/translate/name_table/encode.ts";
import { nameEntries } from "../../../lib/translate/name_table/entry.ts";
import { inputNames, testGoldens } from "../../golden.ts";
import { fakeReader } from "../fake_reader.ts";
import { worldFromYaml } from "../world_from_yaml.ts";

const folder = new URL("../../testdata/translate/name_table/", import.meta.url);

function text(name: string): string {
  const world = worldFromYaml(Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder)));
  const read = fakeReader(world);
  const names = (world.services ?? []).flatMap(({ hostname }) => nameEntries(read, hostname)).map(encodeName);
  return JSON.stringify(decodeNameTable(encodeNameTable(names).value), null, 1) + "\n";
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".json",
  cases: new Map(inputNames(new URL("in/", folder)).map((name) => [name, () => text(name)])),
});
