import assert from "node:assert/strict";

const folder = new URL("../../docs/decisions/", import.meta.url).pathname;
const records = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => /^\d/.test(name)).sort();

Deno.test("records of decisions are numbered without a gap, and no two records have the same number", () => {
  const numbers = records.map((name) => Number(name.slice(0, 4)));
  assert.deepEqual(numbers, records.map((_, i) => i + 1));
});

Deno.test("the heading of a record begins with its number", () => {
  const wrong = records.filter((name) => {
    return !Deno.readTextFileSync(folder + name).startsWith(`# ${Number(name.slice(0, 4))}. `);
  });
  assert.deepEqual(wrong, []);
});

Deno.test("the index by subject lists each record once, under the record's own title", () => {
  const index = Deno.readTextFileSync(folder + "README.md");
  const listed = [...index.matchAll(/^- \[(.*)\]\((\d.*\.md)\)$/gm)].map(([, title, name]) => `${name} # ${title}`);
  const expected = records.map((name) => `${name} ${Deno.readTextFileSync(folder + name).split("\n")[0]}`);
  assert.deepEqual(listed.sort(), expected);
});
