/** Expected addresses of reviewed worlds. */
import { inputNames, testGoldens } from "../golden.ts";
import { objectsOf, TunnelWorld } from "./support/world.ts";

const folder = new URL("../testdata/ambient/addresses/", import.meta.url);
const input = new URL("input/", folder);

testGoldens({
  folder: new URL("expected/", folder),
  suffix: ".json",
  cases: new Map(
    inputNames(input).map((name) => [name, () => {
      const objects = objectsOf(Deno.readTextFileSync(new URL(`${name}.yaml`, input)));
      return `${JSON.stringify(new TunnelWorld().put(...objects).readable(), undefined, 2)}\n`;
    }]),
  ),
});
