import assert from "node:assert/strict";
import { checkGolden, checkStale, type Goldens, modeOf } from "../golden.ts";

/** Goldens in a temporary folder. */
async function withGoldens(files: Readonly<Record<string, string>>, use: (goldens: Goldens) => void): Promise<void> {
  const path = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${path}/${name}`, text);
    const cases = new Map([["a", () => '{"x":1}'], ["b", () => '{"y":2}']]);
    use({ folder: new URL(`file://${path}/`), suffix: ".json", cases });
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

Deno.test("a golden that equals its file passes; a golden that differs, or has no file, fails", async () => {
  await withGoldens({ "a.json": '{"x":1}', "b.json": '{"y":3}' }, (goldens) => {
    checkGolden(goldens, "a", "compare");
    assert.throws(() => checkGolden(goldens, "b", "compare"), assert.AssertionError);
    Deno.removeSync(new URL("b.json", goldens.folder));
    assert.throws(() => checkGolden(goldens, "b", "compare"), /b\.json is missing/);
  });
});

Deno.test("a file that no case makes fails, and goes when goldens are updated", async () => {
  await withGoldens({ "a.json": '{"x":1}', "b.json": "old", "gone.json": "", "note.txt": "" }, (goldens) => {
    assert.throws(() => checkStale(goldens, "compare"), /gone\.json[^]*note\.txt|no case makes/);
    checkStale(goldens, "update");
    checkStale(goldens, "compare");
    checkGolden(goldens, "b", "update");
    checkGolden(goldens, "b", "compare");
    assert.equal(Deno.readTextFileSync(new URL("b.json", goldens.folder)), '{"y":2}');
  });
});

Deno.test("an update is asked for by a variable, and refused where CI is set", async () => {
  assert.deepEqual([modeOf(undefined, undefined), modeOf("", undefined), modeOf(undefined, "true")], [
    "compare",
    "compare",
    "compare",
  ]);
  assert.equal(modeOf("1", undefined), "update");
  assert.equal(modeOf("1", "true"), "refuse");
  await withGoldens({ "a.json": "old" }, (goldens) => {
    assert.throws(() => checkGolden(goldens, "a", "refuse"), /not changed where CI is set/);
    assert.equal(Deno.readTextFileSync(new URL("a.json", goldens.folder)), "old");
  });
});
