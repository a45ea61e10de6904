/**
 * Writes the tables of docs/ that are generated from code: the debug pages, and the parts of the programs.
 *
 *     deno task doc-tables
 *
 * Permissions: read and write (docs/users/pages.md, docs/architecture.md).
 *
 * @module
 */
import { AGENT_PARTS } from "../lib/agent/start/agent_parts.ts";
import { PAGES } from "../lib/debug/pages.ts";
import { SERVER_PARTS } from "../lib/discovery/server_parts.ts";

/** A table of a page, between the comments `<!-- NAME: ... -->` and `<!-- /NAME -->`. */
export interface DocTable {
  readonly name: string;
  /** Path of the page in the repository. */
  readonly page: string;
  /** Lines of the table, in the layout of `deno fmt`. */
  readonly lines: () => string;
}

const cell = (text: string) => text.replaceAll("|", "\\|");

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const wide = head.map((_, i) => Math.max(...all.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) => `| ${row.map((text, i) => text.padEnd(wide[i]!)).join(" | ")} |`;
  const [first, ...rest] = all.map(line);
  return [first, `| ${wide.map((w) => "-".repeat(w)).join(" | ")} |`, ...rest].join("\n");
}

type ListedParts = readonly {
  readonly name: string;
  readonly needs: readonly string[];
  readonly why: string;
  readonly beside?: boolean;
}[];

function partsTable(parts: ListedParts): string {
  const listed = parts.map(({ name, needs, why, beside }) =>
    [`\`${name}\``, needs.map((need) => `\`${need}\``).join(" "), cell(beside ? `${why} (beside)` : why)] as const
  );
  return table(["Part", "Needs", "Why it stands there"], listed);
}

export const DOC_TABLES: readonly DocTable[] = [
  {
    name: "pages",
    page: "docs/users/pages.md",
    lines: () => table(["Page", "What"], PAGES.map(({ path, help }) => [`\`/debug/${path}\``, cell(help)])),
  },
  { name: "server-parts", page: "docs/architecture.md", lines: () => partsTable(SERVER_PARTS.list) },
  { name: "agent-parts", page: "docs/architecture.md", lines: () => partsTable(AGENT_PARTS.list) },
];

/** A page's text with a table inserted. */
export function withDocTable(text: string, { name, lines }: DocTable): string {
  const start = text.indexOf(`<!-- ${name}:`), end = text.indexOf(`<!-- /${name} -->`);
  if (start < 0 || end < start) throw new Error(`no place for the table ${name}`);
  const from = text.indexOf("-->\n", start) + "-->\n".length;
  return `${text.slice(0, from)}\n${lines()}\n\n${text.slice(end)}`;
}

if (import.meta.main) {
  for (const each of DOC_TABLES) {
    const path = new URL(`../${each.page}`, import.meta.url);
    Deno.writeTextFileSync(path, withDocTable(Deno.readTextFileSync(path), each));
  }
}
