/**
 * Writes the table of debug pages into docs/users/pages.md, from the pages themselves.
 *
 *     deno task pages
 *
 * Permissions: read and write (docs/users/pages.md).
 *
 * @module
 */
import { PAGES } from "../lib/debug/pages.ts";

const page = new URL("../docs/users/pages.md", import.meta.url);
const place = /(<!-- pages:[^\n]*-->\n)[\s\S]*?(<!-- \/pages -->)/;

/** The table, as `deno fmt` lays it out. */
export function pagesTable(): string {
  const rows = PAGES.map(({ path, help }) => [`\`/debug/${path}\``, help.replaceAll("|", "\\|")] as const);
  const all = [["Page", "What"] as const, ...rows];
  const wide = [0, 1].map((i) => Math.max(...all.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(wide[i]!)).join(" | ")} |`;
  const [head, ...rest] = all.map(line);
  return [head, `| ${wide.map((w) => "-".repeat(w)).join(" | ")} |`, ...rest].join("\n");
}

/** A page's text with the table put in. */
export function withPagesTable(text: string): string {
  return text.replace(place, (_, start, end) => `${start}\n${pagesTable()}\n\n${end}`);
}

if (import.meta.main) Deno.writeTextFileSync(page, withPagesTable(Deno.readTextFileSync(page)));
