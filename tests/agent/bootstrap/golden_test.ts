import { inputNames, testGoldens } from "../../golden.ts";
import { bootstrapOfCase, folder, readCase } from "./cases.ts";

testGoldens({
  folder: new URL("expected/", folder),
  suffix: ".json",
  cases: new Map(
    inputNames(new URL("input/", folder)).map((name) => [
      name,
      () => `${JSON.stringify(bootstrapOfCase(readCase(name)).config, undefined, 2)}\n`,
    ]),
  ),
});
