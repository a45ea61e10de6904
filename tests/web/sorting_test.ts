/** Lists are sorted by an address: numbers by size, also in texts, and states with the worst first. */
import assert from "node:assert/strict";
import type { ListColumn } from "../../lib/debug/list_page.ts";
import { sortedRows, sortHeadings } from "../../lib/web/sorting.ts";

interface Row {
  readonly name: string;
  readonly count: number;
  readonly tone: "good" | "bad" | "warn";
}

const ROWS: readonly Row[] = [
  { name: "web-10", count: 9, tone: "good" },
  { name: "web-2", count: 10, tone: "bad" },
  { name: "api", count: 1, tone: "warn" },
];

const COLUMNS: readonly ListColumn<Row, void>[] = [
  { title: "Name", cell: ({ name }) => ({ text: name, link: "/" }) },
  { title: "Count", isNumber: true, cell: ({ count }) => count },
  { title: "State", cell: ({ tone }) => ({ tone, word: "x" }) },
  { title: "Size", cell: ({ count }) => `${count} kB`, order: ({ count }) => -count },
];

function sorted(sort: string): string[] {
  const request = { path: "/debug/x", query: new URLSearchParams({ sort }) };
  return sortedRows(ROWS, COLUMNS, undefined, request).map(({ name }) => name);
}

Deno.test("rows are sorted by the column of the query, in both directions; an unknown column changes nothing", () => {
  assert.deepEqual(sorted("Name"), ["api", "web-2", "web-10"]);
  assert.deepEqual(sorted("-Name"), ["web-10", "web-2", "api"]);
  assert.deepEqual(sorted("Count"), ["api", "web-10", "web-2"]);
  assert.deepEqual(sorted("State"), ["web-2", "api", "web-10"]);
  assert.deepEqual(sorted("Size"), ["web-2", "web-10", "api"]);
  assert.deepEqual(sorted("Nonsense"), ["web-10", "web-2", "api"]);
});

Deno.test("a heading sorts by its column, then the other way, keeps the filters and leaves the part of the list", () => {
  const headings = (query: string) => sortHeadings(COLUMNS, { path: "/debug/x", query: new URLSearchParams(query) });
  assert.deepEqual(headings("q=a&page=3")[0]?.sorts, { link: "/debug/x?q=a&sort=Name", order: "none" });
  assert.deepEqual(headings("sort=Name")[0]?.sorts, { link: "/debug/x?sort=-Name", order: "ascending" });
  assert.deepEqual(headings("sort=-Name")[0]?.sorts, { link: "/debug/x?sort=Name", order: "descending" });
});
