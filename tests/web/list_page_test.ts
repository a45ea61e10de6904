/** List pages: JSON for programs and HTML for people follow from one description. */
import assert from "node:assert/strict";
import { LazyList } from "../../lib/http/json_stream.ts";
import { type DescribedList, listAnswer } from "../../lib/debug/list_page.ts";
import type { DebugView } from "../../lib/debug/view.ts";
import type { HttpRequest } from "../../lib/http/message.ts";
import { listPage } from "../../lib/web/list_page.ts";

interface Boat {
  readonly name: string;
  readonly harbour: string;
  readonly isLeaking: boolean;
}

const FLEET: readonly Boat[] = [
  { name: "ann", harbour: "east", isLeaking: false },
  { name: "bea", harbour: "west", isLeaking: true },
  { name: "cat", harbour: "west", isLeaking: false },
];

/** The page of some boats, and how often the state of a boat was asked. */
function boats(fleet: readonly Boat[]) {
  let states = 0;
  const page: DescribedList<Boat, string> = {
    title: "Boats",
    noun: "boat",
    none: "No boat is at sea.",
    rows: () => fleet,
    people: (rows) => rows.toReversed(),
    json: (rows) => LazyList.of(rows, ({ name }) => name),
    look: () => "sea",
    searched: ({ name }) => name,
    filters: [
      { name: "harbour", of: ({ harbour }) => harbour, forPrograms: "a harbour", read: (word) => word.toLowerCase() },
      {
        name: "state",
        options: ["leaking", "dry"],
        of: ({ isLeaking }) => {
          states++;
          return isLeaking ? "leaking" : "dry";
        },
      },
    ],
    columns: [
      { title: "Name", cell: ({ name }, sea) => ({ text: name, link: `/${sea}/${name}` }) },
      { title: "State", cell: ({ isLeaking }) => isLeaking ? { tone: "bad", word: "leaks" } : "" },
    ],
  };
  const request = (query: string) =>
    ({ path: "/debug/boats", query: new URLSearchParams(query), signal: new AbortController().signal }) as HttpRequest;
  const view = {} as DebugView;
  return {
    json: async (query: string) => {
      const { status, body, parts = [] } = await listAnswer(page)(request(query), view);
      // The size of the first part depends on the time for making the part.
      let text = String(body);
      for await (const part of parts) text += String(part);
      return { status, body: text };
    },
    html: async (query: string) => (await listPage(page)(request(query), view)).body.text,
    states: () => states,
  };
}

const names = (html: string) => [...html.matchAll(/<a href="\/sea\/\w+">(\w+)<\/a>/g)].map(([, name]) => name);

Deno.test("a list page's rows are JSON for programs, and a table in the order for people", async () => {
  const page = boats(FLEET);
  assert.deepEqual(await page.json(""), { status: 200, body: '["ann","bea","cat"]\n' });
  const html = await page.html("");
  assert.deepEqual(names(html), ["cat", "bea", "ann"]);
  assert.match(html, /<span class="bad state">✗ leaks<\/span>/);
});

Deno.test("a filter for programs is a filter for people as well, in the spelling of the rows", async () => {
  const page = boats(FLEET);
  assert.equal((await page.json("harbour=WEST")).body, '["bea","cat"]\n');
  assert.deepEqual(names(await page.html("harbour=WEST")), ["cat", "bea"]);
});

Deno.test("a filter for people alone is refused as a query of programs", async () => {
  const { status, body } = await boats(FLEET).json("state=dry");
  assert.equal(status, 400);
  assert.match(body, /query "state": this page has none of that name, expected one of harbour, pretty/);
});

Deno.test("filters with fixed options ask no row that nobody filters by", async () => {
  const page = boats(FLEET);
  await page.html("");
  assert.equal(page.states(), 0);
  assert.deepEqual(names(await page.html("q=a&state=leaking")), ["bea"]);
});

Deno.test("an empty list is shown as empty, and an empty filtered list as without a match", async () => {
  assert.match(await boats([]).html(""), /No boat is at sea\./);
  assert.match(await boats(FLEET).html("q=zoe"), /No boat matches the filters\./);
});
