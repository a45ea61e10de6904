/**
 * The HTML of the tables and list pages described by {@linkcode ListTable}.
 *
 * @module
 */
import {
  type AnyDescribedList,
  type Cell,
  type CellPart,
  chosenRows,
  type DescribedList,
  isResponse,
  type ListFilter,
  type ListTable,
} from "../debug/list_page.ts";
import type { HttpRequest } from "../http/message.ts";
import { type Html, type HtmlValue, markup } from "./html.ts";
import { cellBox, type FilterChoice, filterForm, type Heading, listPart, pageLinks, searched, table } from "./list.ts";
import { sortedRows, sortHeadings } from "./sorting.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { breakable, stateHtml, timeHtml } from "./words.ts";

/** The most values offered in the form of a filter. Any other value can be given in the address. */
const MAX_OPTIONS = 500;

/** Makes the page of a list. */
export function listPage<Row, Look>(page: DescribedList<Row, Look>): WebPageMaker {
  return async (request, view): Promise<WebPage> => {
    await page.ready?.(view, request.signal);
    const rows = page.rows(view, request.query);
    if (isResponse(rows)) {
      return { status: rows.status, title: "Not connected here", body: markup`<p>${String(rows.body)}</p>` };
    }
    const shown = page.people?.(rows, view) ?? rows;
    const kept = Object.keys(page.query ?? {});
    const table = filteredTable(page, shown, page.look(view), request, kept);
    return { title: page.title, live: "push", body: markup`${besideHtml(page)}${table}` };
  };
}

/** Links to the pages about the same subject. */
function besideHtml({ beside = [] }: Pick<AnyDescribedList, "beside">): Html | undefined {
  if (beside.length === 0) return undefined;
  const links = beside.map(({ title, link }, at) => markup`${at > 0 && ", "}<a href="${link}">${title}</a>`);
  return markup`<p>See also: ${links}</p>`;
}

/** A part of a table's rows: the form of its filters, the matching rows, and links to the other parts. */
export function filteredTable<Row, Look>(
  described: ListTable<Row, Look>,
  rows: readonly Row[],
  look: Look,
  request: HttpRequest,
  keep: readonly string[] = [],
): Html {
  const { filters = [], noun, none } = described;
  const hasText = searched(request);
  const isSearched = (row: Row) => hasText(described.searched?.(row, look) ?? "");
  const found = chosenRows(request.query.get("q") ? rows.filter(isSearched) : rows, filters, request.query, look);
  const part = listPart(sortedRows(found, described.columns, look, request), request);
  const choices = filters.map((filter) => choiceOf(filter, rows, look));
  const kept = [...keep, "sort"].filter((name) => request.query.has(name));
  const empty = rows.length === 0 ? none : `No ${noun} matches the filters.`;
  return markup`${described.searched !== undefined && filterForm(request, choices, kept)}${
    tableOf(described, part.items, look, empty, sortHeadings(described.columns, request))
  }${pageLinks(part, request)}`;
}

function choiceOf<Row, Look>(filter: ListFilter<Row, Look>, rows: readonly Row[], look: Look): FilterChoice {
  const { name, options = [...new Set(rows.map((row) => filter.of(row, look)))].sort().slice(0, MAX_OPTIONS) } = filter;
  return { name, label: `any ${name}`, options };
}

/**
 * A table of all given rows.
 *
 * @param empty The sentence for no rows; default: `none` of the table.
 * @param headings Default: the titles of the columns.
 */
export function tableOf<Row, Look>(
  { columns, rowId, none }: ListTable<Row, Look>,
  rows: readonly Row[],
  look: Look,
  empty = none,
  headings: readonly Heading[] = columns.map(({ title, isNumber }) => ({ title, isNumber })),
): Html {
  const shown = rows.map((row): Html => {
    const cells = columns.map(({ title, isNumber, cell }) => {
      return cellBox(title, cellHtml(cell(row, look)), isNumber);
    });
    return rowId === undefined ? markup`<tr>${cells}</tr>` : markup`<tr id="${rowId(row)}">${cells}</tr>`;
  });
  return table(headings, shown, empty, true);
}

/** The HTML of a cell. */
export function cellHtml(cell: Cell): HtmlValue {
  return isList(cell) ? cell.map((part) => markup`${partHtml(part)}<br>`) : partHtml(cell);
}

function isList(cell: Cell): cell is readonly CellPart[] {
  return Array.isArray(cell);
}

function partHtml(part: CellPart): HtmlValue {
  if (typeof part === "number") return part;
  if (typeof part === "string") return part === "" ? part : breakable(part);
  if ("text" in part) return linkHtml(breakable(part.text), part.link, part.title);
  if ("mono" in part) return markup`<span class="mono">${part.mono === "" ? "" : breakable(part.mono)}</span>`;
  if ("code" in part) return codeHtml(part.code, part.link, part.title);
  if ("dim" in part) return markup`<span class="dim">${breakable(part.dim)}</span>`;
  if ("time" in part) return timeHtml(part.time);
  return stateHtml(part);
}

function linkHtml(text: HtmlValue, link: string, title: string | undefined): Html {
  return title === undefined
    ? markup`<a href="${link}">${text}</a>`
    : markup`<a href="${link}" title="${title}">${text}</a>`;
}

function codeHtml(code: string, link: string | undefined, title: string | undefined): Html {
  const text = markup`<code class="whole">${code}</code>`;
  return link === undefined ? text : linkHtml(text, link, title);
}
