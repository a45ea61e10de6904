/** Goldens: all that a gRPC library may ask for in each world of `tests/testdata/translate/proxyless/in`. */
import { texts } from "../../discovery/fixture.ts";
import { inputNames, testGoldens } from "../../golden.ts";
import { folder, LIBRARY, world } from "./world.ts";

function text(name: string): string {
  const fixture = world(name);
  const state = fixture.join(LIBRARY);
  const resources = Object.entries(texts(state)).sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = {
    resources: Object.fromEntries(resources.map(([key, resource]) => [key, JSON.parse(resource)])),
    findings: fixture.pipeline.translator.warnings().map(({ code, message }) => `${code}: ${message}`),
  };
  return JSON.stringify(shown, null, 1) + "\n";
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".json",
  cases: new Map(inputNames(new URL("in/", folder)).map((name) => [name, () => text(name)])),
});
