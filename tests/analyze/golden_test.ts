import { formatFinding } from "../../lib/finding/finding.ts";
import { parseMeshConfig } from "../../lib/config/mesh/parse.ts";
import { inputNames, testGoldens } from "../golden.ts";
import { AnalyzedFolder } from "./support/analyzed.ts";

/*
 * Cases by topic: `tests/testdata/analyze/<topic>/input/<case>.yaml` is a folder with one file. A first line `# mesh:
 * {...}` is the mesh configuration. `.../expected/<case>.txt` has a finding in each paragraph; `deno task goldens`
 * accepts.
 */
const root = new URL("../testdata/analyze/", import.meta.url);

for (const topic of [...Deno.readDirSync(root)].map(({ name }) => name).sort()) {
  const input = new URL(`${topic}/input/`, root);
  testGoldens({
    folder: new URL(`${topic}/expected/`, root),
    suffix: ".txt",
    cases: new Map(inputNames(input).map((name) => [name, () => textOf(new URL(`${name}.yaml`, input))])),
  });
}

function textOf(file: URL): string {
  const text = Deno.readTextFileSync(file);
  const mesh = /^# mesh: (.*)$/m.exec(text)?.[1] ?? "{}";
  const folder = new AnalyzedFolder(parseMeshConfig(mesh, { systemNamespace: "mesh-system" }).value);
  folder.write({ "case.yaml": text });
  const found = folder.findings().map((one) => {
    const objects = one.place.objects.slice(1).map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`);
    const others = objects.length === 0 ? "" : `\n  with   ${objects.join(", ")}`;
    return `${one.code} ${formatFinding(one)}\n  at     ${one.place.line}:${
      one.place.column ?? "-"
    }\n  effect ${one.effect}\n  fix    ${one.fix}${others}\n`;
  });
  return found.length === 0 ? "nothing\n" : found.join("\n");
}
