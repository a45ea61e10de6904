/** Lines and columns of findings are computed only when somebody reads the findings. */
import assert from "node:assert/strict";
import { page, withServer } from "./running.ts";

const routes = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: r${at}, namespace: x }
spec:
  hosts: [a${at}.x]
  http: [{ route: [{ destination: { host: no-such-host.x } }] }]
`).join("---\n");

Deno.test("the analysis opens no file; a reader of findings gets the line and column of each", async () => {
  await withServer({ "r.yaml": routes(3) }, async ({ analysis, ports }) => {
    await analysis.analyzed();
    const unknown = () => [...analysis.findings()].filter(({ name }) => name === "unknown-host");
    assert.deepEqual(
      unknown().map(({ place: { line, column } }) => [line, column]),
      [1, 8, 15].map((
        line,
      ) => [line, undefined]),
    );
    for (const path of ["/debug/problemz", "/debug/warningz"]) {
      const found = JSON.parse((await page(ports.http, path)).body) as ReturnType<typeof unknown>;
      const places = found.filter(({ name }) => name === "unknown-host").map(({ place }) => place);
      assert.deepEqual(places.map(({ line, column }) => [line, column]), [6, 13, 20].map((line) => [line, 43]), path);
    }
  });
});

Deno.test("objects that moved to other lines are found there, also by several readers at once", async () => {
  await withServer({ "r.yaml": routes(2) }, async ({ analysis, configuration }, folder) => {
    await analysis.settled();
    await Deno.writeTextFile(`${folder}/r.yaml`, `# one\n# more\n${routes(2)}`);
    await configuration.settled();
    const asked = [analysis.settled(), analysis.settled(), analysis.settled()];
    for (const settled of asked) {
      await settled;
      assert.deepEqual([...analysis.findings()].map(({ place }) => place.line), [8, 15]);
    }
  });
});

const placesOf = (found: Iterable<{ readonly name: string; readonly place: { line: number; column?: number } }>) =>
  [...found].filter(({ name }) => name === "unknown-host").map(({ place: { line, column } }) => [line, column]);

Deno.test("after two quick edits a finding has its place in the text in force, not in the text between", async () => {
  const text = routes(1);
  await withServer({ "r.yaml": text }, async ({ analysis, configuration }, folder) => {
    await analysis.analyzed();
    Deno.writeTextFileSync(`${folder}/r.yaml`, text.replace("spec:", "# one\n# more\nspec:"));
    await analysis.settled(); // most likely before the edit is read
    Deno.writeTextFileSync(`${folder}/r.yaml`, text);
    await configuration.settled();
    await analysis.settled();
    assert.deepEqual(placesOf(analysis.findings()), [[6, 43]]);
  });
});

Deno.test("findings about an object whose present text is refused have no line in that text", async () => {
  const text = routes(1);
  await withServer({ "r.yaml": text }, async ({ analysis, configuration }, folder) => {
    await analysis.settled();
    assert.deepEqual(placesOf(analysis.findings()), [[6, 43]]);
    for (const more of ["# one\n", "# one\n# more\n"]) {
      await Deno.writeTextFile(`${folder}/r.yaml`, text.replace("spec:", `${more}spec:\n  exportTo: 3`));
      await configuration.settled();
      await analysis.settled();
      assert.deepEqual(placesOf(analysis.findings()), [[1, undefined]], "the last good version is in no file");
    }
    await Deno.writeTextFile(`${folder}/r.yaml`, text);
    await configuration.settled();
    await analysis.settled();
    assert.deepEqual(placesOf(analysis.findings()), [[6, 43]]);
  });
});
