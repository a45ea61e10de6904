/**
 * The HTML of the tables and list pages described by {@linkcode ListTable}.
 *
 * @module
 */
import {
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
import { type FilterChoice, filterForm, listPart, pageLinks, searched, table } from "./list.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { stateHtml, timeHtml } from "./words.ts";

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
    return { title: page.title, live: "push", body: filteredTable(page, shown, page.look(view), request, kept) };
  };
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
  const part = listPart(found, request);
  const choices = filters.map((filter) => choiceOf(filter, rows, look));
  const kept = keep.filter((name) => request.query.has(name));
  const empty = rows.length === 0 ? none : `No ${noun} matches the filters.`;
  return markup`${described.searched !== undefined && filterForm(request, choices, kept)}${
    tableOf(described, part.items, look, empty)
  }${pageLinks(part, request)}`;
}

function choiceOf<Row, Look>(filter: ListFilter<Row, Look>, rows: readonly Row[], look: Look): FilterChoice {
  const { name, options = [...new Set(rows.map((row) => filter.of(row, look)))].sort().slice(0, MAX_OPTIONS) } = filter;
  return { name, label: `any ${name}`, options };
}

/** A table of all given rows. @param empty The sentence for no rows; default: `none` of the table. */
export function tableOf<Row, Look>(
  { columns, rowId, none }: ListTable<Row, Look>,
  rows: readonly Row[],
  look: Look,
  empty = none,
): Html {
  const shown = rows.map((row): Html => {
    const cells = columns.map(({ isNumber, cell }) => {
      const content = cellHtml(cell(row, look));
      return isNumber ? markup`<td class="number">${content}</td>` : markup`<td>${content}</td>`;
    });
    return rowId === undefined ? markup`<tr>${cells}</tr>` : markup`<tr id="${rowId(row)}">${cells}</tr>`;
  });
  return table(columns.map(({ title }) => title), shown, empty);
}

/** The HTML of a cell. */
export function cellHtml(cell: Cell): HtmlValue {
  return isList(cell) ? cell.map((part) => markup`${partHtml(part)}<br>`) : partHtml(cell);
}

function isList(cell: Cell): cell is readonly CellPart[] {
  return Array.isArray(cell);
}

function partHtml(part: CellPart): HtmlValue {
  if (typeof part === "string" || typeof part === "number") return part;
  if ("link" in part) {
    return part.title === undefined
      ? markup`<a href="${part.link}">${part.text}</a>`
      : markup`<a href="${part.link}" title="${part.title}">${part.text}</a>`;
  }
  if ("mono" in part) return markup`<span class="mono">${part.mono}</span>`;
  if ("code" in part) return markup`<code>${part.code}</code>`;
  if ("dim" in part) return markup`<span class="dim">${part.dim}</span>`;
  if ("time" in part) return timeHtml(part.time);
  return stateHtml(part);
}
