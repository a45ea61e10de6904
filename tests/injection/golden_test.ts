import { inputNames, testGoldens } from "../golden.ts";
import { inject, readCase, resultText } from "./support.ts";

const folder = new URL("../testdata/injection/", import.meta.url);

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".yaml",
  cases: new Map(
    inputNames(new URL("in/", folder)).map((name) => [
      name,
      () => resultText(inject(readCase(Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder))))),
    ]),
  ),
});
