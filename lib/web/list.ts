/**
 * Lists: a part at a time with links to the other parts, and filters as a form with a stable address.
 *
 * @module
 */
import type { HttpRequest } from "../http/message.ts";
import { Html, type HtmlValue, markup } from "./html.ts";
import { changedQuery } from "../debug/links.ts";

/** Entries of each page of a list. */
const PAGE_LENGTH = 50;

/** A page of a list. */
export interface ListPart<T> {
  readonly items: readonly T[];
  /** 1-based. */
  readonly page: number;
  readonly pages: number;
  readonly total: number;
}

/** The part of a list named by the query `page`. A number out of range means the last part. */
export function listPart<T>(all: readonly T[], { query }: HttpRequest, name = "page"): ListPart<T> {
  const pages = Math.max(1, Math.ceil(all.length / PAGE_LENGTH));
  const asked = Math.floor(Number(query.get(name) ?? 1));
  const page = asked >= 1 ? Math.min(asked, pages) : 1;
  return { items: all.slice((page - 1) * PAGE_LENGTH, page * PAGE_LENGTH), page, pages, total: all.length };
}

/** Links to the pages before and after. */
export function pageLinks<T>({ page, pages, total }: ListPart<T>, request: HttpRequest, name = "page"): Html {
  if (pages === 1) {
    return markup`
      <p class="dim">${total} in all</p>
    `;
  }
  const link = (to: number, rel: string, text: string) =>
    to >= 1 && to <= pages && markup`
      <a rel="${rel}" href="${changedQuery(request, { [name]: to })}">${text}</a>
    `;
  return markup`
    <nav class="pages" aria-label="Parts of the list">
      ${link(page - 1, "prev", "previous")}
      <span>page ${page} of ${pages}, ${total} in all</span>${link(page + 1, "next", "next")}
    </nav>
  `;
}

/** The heading of a column. */
export interface Heading {
  readonly title: string;
  /** The cells are numbers, aligned on the right. */
  readonly isNumber?: true | undefined;
  /** Sorts the rows by the column; absent: the rows of the table are not sorted. */
  readonly sorts?: { readonly link: string; readonly order: "ascending" | "descending" | "none" };
}

/**
 * A table. In a narrow window the cells of a row stand below each other, each with the title of its column, so that
 * nothing is cut. A row may be HTML, which is inserted unchanged.
 *
 * @param empty The text in place of a table without rows.
 * @param words Whether lines in cells break only between words. Default: lines break anywhere, if a cell has little room.
 */
export function table(
  columns: readonly (string | Heading)[],
  rows: readonly (Html | readonly HtmlValue[])[],
  empty: string,
  words = false,
): Html {
  if (rows.length === 0) return markup`<p class="dim">${empty}</p>`;
  const titles = columns.map((column) => typeof column === "string" ? column : column.title);
  const cells = (row: Html | readonly HtmlValue[]) =>
    row instanceof Html ? row : markup`<tr>${row.map((cell, at) => cellBox(titles[at] ?? "", cell))}</tr>`;
  return markup`<table class="list${words && " words"}"><thead><tr>${columns.map(headingHtml)}</tr></thead>
<tbody>${rows.map(cells)}</tbody></table>`;
}

/** A cell. In a narrow window an empty cell is left out, with the title of its column. */
export function cellBox(title: string, cell: HtmlValue, isNumber = false): Html {
  const content = markup`${cell}`;
  const box = content.text !== "" && markup`<div>${content}</div>`;
  return isNumber
    ? markup`<td class="number" data-title="${title}">${box}</td>`
    : markup`<td data-title="${title}">${box}</td>`;
}

const ORDER_MARKS = { ascending: " ▲", descending: " ▼", none: "" } as const;

function headingHtml(heading: string | Heading): Html {
  const { title, isNumber, sorts }: Heading = typeof heading === "string" ? { title: heading } : heading;
  const classes = [...isNumber ? ["number"] : [], ...sorts === undefined ? [] : ["sorts"]].join(" ");
  if (sorts === undefined) return markup`<th scope="col" class="${classes}">${title}</th>`;
  const mark = ORDER_MARKS[sorts.order];
  return markup`<th scope="col" class="${classes}" aria-sort="${sorts.order}"><a href="${sorts.link}" title="Sort by ${title}">${title}${mark}</a></th>`;
}

/** A table of named facts. */
export function factTable(rows: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  return markup`<table class="facts">${
    rows.map(([name, value]) => markup`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)
  }</table>`;
}

/** A choice of a filter. */
export interface FilterChoice {
  readonly name: string;
  readonly label: string;
  readonly options: readonly string[];
}

/** The form of a list: a text to search for, and choices. Fields named in `keep` keep their values. */
export function filterForm(
  { path, query }: HttpRequest,
  choices: readonly FilterChoice[],
  keep: readonly string[] = [],
): Html {
  const kept = keep.map((name) =>
    markup`
      <input type="hidden" name="${name}" value="${query.get(name) ?? ""}">
    `
  );
  return markup`
    <form class="filter" action="${path}">
      ${kept}
      <input type="search" name="q" value="${
    query.get("q") ??
      ""
  }" maxlength="200" placeholder="contains" aria-label="contains">
      ${choices.map((choice) => select(choice, query.get(choice.name) ?? ""))}<button>Filter</button>
    </form>
  `;
}

function select({ name, label, options }: FilterChoice, chosen: string): Html {
  const option = (value: string, text: string) =>
    value === chosen
      ? markup`
        <option value="${value}" selected>${text}</option>
      `
      : markup`
        <option value="${value}">${text}</option>
      `;
  const known = chosen === "" || options.includes(chosen) ? options : [chosen, ...options];
  return markup`
    <select name="${name}" aria-label="${label}">${option("", label)}${known.map((one) => option(one, one))}</select>
  `;
}

/** Whether a text holds the query `q`, in any case of letters. */
export function searched({ query }: HttpRequest): (text: string) => boolean {
  const wanted = (query.get("q") ?? "").trim().toLowerCase();
  return (text) => wanted === "" || text.toLowerCase().includes(wanted);
}
