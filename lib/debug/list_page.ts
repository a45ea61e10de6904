/**
 * A list page as data: rows, filters and columns. The JSON for programs and the HTML for people follow from the same
 * description.
 *
 * @module
 */
import * as z from "zod";
import { longJsonResponse } from "../http/json_stream.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { queried, textQuery } from "./query.ts";
import type { DebugView } from "./view.ts";

/** A state: a tone for its colour and mark, and a word. */
export interface StateWord {
  readonly tone: "good" | "warn" | "bad" | "dim";
  readonly word: string;
}

/** A piece of a cell: a text, a link, a state, or a time of day in ms since the epoch. */
export type CellPart =
  | string
  | number
  | { readonly text: string; readonly link: string; readonly title?: string }
  | { readonly mono: string }
  | { readonly code: string; readonly link?: string; readonly title?: string }
  | { readonly dim: string }
  | { readonly time: number }
  | StateWord;

/** The content of a cell. The parts of a list stand below each other. */
export type Cell = CellPart | readonly CellPart[];

/** A column of a table. Methods get what the table's {@linkcode DescribedList.look} returned for this request. */
export interface ListColumn<Row, Look> {
  readonly title: string;
  /** The cells are numbers, aligned on the right. */
  readonly isNumber?: true;
  cell(row: Row, look: Look): Cell;
  /** What the rows are sorted by; default: the first part of the cell. */
  order?(row: Row, look: Look): string | number;
}

/** A choice among the rows by a query parameter. */
export interface ListFilter<Row, Look> {
  /** The name of the query parameter. The form calls the choice of all rows `any NAME`. */
  readonly name: string;
  /** The value of a row. */
  of(row: Row, look: Look): string;
  /** The values offered by the form; default: the values of all rows, sorted. */
  readonly options?: readonly string[];
  /** The asked value in the spelling of the rows; default: unchanged. */
  read?(asked: string): string;
  /** Whether a row matches an asked value; default: the row's own value is equal. */
  matches?(row: Row, asked: string, look: Look): boolean;
  /** The filter for programs: a description of the expected values. Absent: only people use the filter. */
  readonly forPrograms?: string;
}

/** A table of rows with its filters. */
export interface ListTable<Row, Look> {
  /** The noun for a row, such as `service`. */
  readonly noun: string;
  /** The sentence in place of a table without rows. */
  readonly none: string;
  /** The text of a row that the query `q` is searched in; absent: the table has no search. */
  searched?(row: Row, look: Look): string;
  readonly filters?: readonly ListFilter<Row, Look>[];
  readonly columns: readonly ListColumn<Row, Look>[];
  /** The `id` of a row in HTML. */
  rowId?(row: Row): string;
}

/** A page with a single list. */
export interface DescribedList<Row, Look> extends ListTable<Row, Look> {
  readonly title: string;
  /** Pages about the same subject. Default: none. */
  readonly beside?: readonly { readonly title: string; readonly link: string }[];
  /** Query parameters of programs and people beside the filters. */
  readonly query?: Readonly<Record<string, z.ZodType>>;
  /** Waits a moment for rows that follow a push. */
  ready?(view: DebugView, signal: AbortSignal): Promise<unknown>;
  /** The rows for programs, or a response that says why there are none. */
  rows(view: DebugView, query: URLSearchParams): readonly Row[] | HttpResponse;
  /** The rows for people; default: the rows for programs. */
  people?(rows: readonly Row[], view: DebugView): readonly Row[];
  /** The JSON of the rows. Lazy lists in the answer are read and written piece by piece. */
  json(rows: readonly Row[], view: DebugView): unknown;
  /** Further data for cells and filters, made once for each request. */
  look(view: DebugView): Look;
}

/** A list page with rows of any type. */
export type AnyDescribedList = DescribedList<unknown, unknown>;

/** The query parameters of a list page for programs. */
export function listQuery<Row, Look>({ query = {}, filters = [] }: DescribedList<Row, Look>) {
  const shared = filters.flatMap(({ name, forPrograms }) =>
    forPrograms === undefined ? [] : [[name, textQuery(forPrograms).optional()] as const]
  );
  return z.object({ ...query, ...Object.fromEntries(shared) });
}

/** The JSON answer of a list page. */
export function listAnswer<Row, Look>(
  page: DescribedList<Row, Look>,
): (request: HttpRequest, view: DebugView) => HttpResponse | Promise<HttpResponse> {
  return queried(listQuery(page), async (request, view): Promise<HttpResponse> => {
    await page.ready?.(view, request.signal);
    const rows = page.rows(view, request.query);
    if (isResponse(rows)) return rows;
    const filters = page.filters?.filter(({ forPrograms }) => forPrograms !== undefined) ?? [];
    const look = page.look(view);
    return longJsonResponse(page.json(chosenRows(rows, filters, request.query, look), view), request);
  });
}

/** The rows matched by the filters of a query. */
export function chosenRows<Row, Look>(
  rows: readonly Row[],
  filters: readonly ListFilter<Row, Look>[],
  query: URLSearchParams,
  look: Look,
): readonly Row[] {
  const asked = filters.flatMap((filter) => {
    const text = query.get(filter.name) ?? "";
    return text === "" ? [] : [{ filter, value: filter.read?.(text) ?? text }];
  });
  if (asked.length === 0) return rows;
  return rows.filter((row) =>
    asked.every(({ filter, value }) => filter.matches?.(row, value, look) ?? filter.of(row, look) === value)
  );
}

/** Whether a page has given a response instead of rows. */
export function isResponse<Row>(rows: readonly Row[] | HttpResponse): rows is HttpResponse {
  return "status" in rows;
}
