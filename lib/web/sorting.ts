/**
 * Sorting of lists by a column: the query `sort` has the column's title, with `-` in front for the other direction.
 *
 * @module
 */
import { changedQuery } from "../debug/links.ts";
import type { Cell, CellPart, ListColumn } from "../debug/list_page.ts";
import type { HttpRequest } from "../http/message.ts";
import type { Heading } from "./list.ts";

type Asked = Pick<HttpRequest, "path" | "query">;

interface SortOrder {
  readonly title: string;
  readonly isDown: boolean;
}

function orderOf({ query }: Asked): SortOrder {
  const text = query.get("sort") ?? "";
  return text.startsWith("-") ? { title: text.slice(1), isDown: true } : { title: text, isDown: false };
}

/** The rows in the order that a request asks for. Without an order, or for an unknown column: as they are. */
export function sortedRows<Row, Look>(
  rows: readonly Row[],
  columns: readonly ListColumn<Row, Look>[],
  look: Look,
  request: Asked,
): readonly Row[] {
  const { title, isDown } = orderOf(request);
  const column = columns.find((one) => one.title === title);
  if (column === undefined) return rows;
  const keyed = rows.map((row) => ({ row, key: column.order?.(row, look) ?? sortKey(column.cell(row, look)) }));
  keyed.sort((a, b) => isDown ? compared(b.key, a.key) : compared(a.key, b.key));
  return keyed.map(({ row }) => row);
}

/** The headings of a table whose rows can be sorted. A second click turns the order around. */
export function sortHeadings<Row, Look>(columns: readonly ListColumn<Row, Look>[], request: Asked): Heading[] {
  const { title: now, isDown } = orderOf(request);
  return columns.map(({ title, isNumber }): Heading => {
    const isNow = title === now;
    const link = changedQuery(request, { sort: isNow && !isDown ? `-${title}` : title, page: "" });
    return { title, isNumber, sorts: { link, order: !isNow ? "none" : isDown ? "descending" : "ascending" } };
  });
}

const TONE_RANK = { bad: 0, warn: 1, good: 2, dim: 3 } as const;

/** What a cell is sorted by: a number, or a text. States come by tone, the worst first. */
function sortKey(cell: Cell): string | number {
  const part = isList(cell) ? cell[0] ?? "" : cell;
  if (typeof part === "string" || typeof part === "number") return part;
  if ("tone" in part) return `${TONE_RANK[part.tone]} ${part.word}`;
  if ("time" in part) return part.time;
  return "text" in part ? part.text : "mono" in part ? part.mono : "code" in part ? part.code : part.dim;
}

function isList(cell: Cell): cell is readonly CellPart[] {
  return Array.isArray(cell);
}

const BY_NUMBERS = new Intl.Collator("en", { numeric: true });

/** Numbers come by size, also numbers in texts: `web-2` before `web-10`. */
function compared(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : BY_NUMBERS.compare(String(a), String(b));
}
