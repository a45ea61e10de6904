/** Lines and columns of findings: nobody waits for them but who looks. */
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

Deno.test("the analysis opens no file; who looks at findings gets the line and column of each", async () => {
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

Deno.test("objects that moved to other lines are found there, by several who ask at once", async () => {
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
