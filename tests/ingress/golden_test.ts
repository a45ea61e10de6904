/** Objects made from Ingresses. Inputs: `testdata/ingress/in`; accept changes with `deno task goldens`. */
import assert from "node:assert/strict";
import { stringify } from "yaml";
import { inputNames, testGoldens } from "../golden.ts";
import { IngressWorld } from "./world.ts";

const folder = new URL("../testdata/ingress/", import.meta.url);
const inputs = new URL("in/", folder);

function made(name: string): string {
  const world = IngressWorld.of(Deno.readTextFileSync(new URL(`${name}.yaml`, inputs)));
  assert.deepEqual(world.findings.map(({ message }) => message), [], "what is derived is right");
  return stringify(world.objects(), { lineWidth: 120, aliasDuplicateObjects: false });
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".yaml",
  cases: new Map(inputNames(inputs).map((name) => [name, () => made(name)])),
});
