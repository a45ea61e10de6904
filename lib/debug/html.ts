/**
 * Plain HTML of introspection pages: values as tables, no script but the page's own, nothing loaded from elsewhere.
 *
 * @module
 */

/** Text with HTML's special characters escaped. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** A link of the navigation. */
export interface Link {
  readonly href: string;
  readonly title: string;
}

/** The style sheet, inline in each page. */
export const PAGE_STYLE = `body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em}
nav a{margin-right:1em}table{border-collapse:collapse;margin-top:1em}
td,th{border:1px solid #ccc;padding:.3em .7em;text-align:left;vertical-align:top}
td{font-family:ui-monospace,monospace;overflow-wrap:anywhere}`;

/** A whole page; `body` is HTML, the rest is text. */
export function htmlPage(program: string, title: string, links: readonly Link[], body: string): string {
  const nav = links.map(({ href, title }) => `<a href="${escapeHtml(href)}">${escapeHtml(title)}</a>`).join("");
  return `<!doctype html><html lang="en"><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width"><title>${escapeHtml(`${title} - ${program}`)}</title>` +
    `<style>${PAGE_STYLE}</style><nav>${nav}</nav><h1>${escapeHtml(title)}</h1>${body}</html>\n`;
}

/** A value as a table: an object's fields, a list's elements, or the columns of a list of objects. */
export function htmlTable(value: unknown): string {
  if (Array.isArray(value)) {
    const columns = isRecord(value[0]) ? Object.keys(value[0]) : undefined;
    if (columns === undefined) return table(value.map((one) => [one]));
    return table(value.map((row: Record<string, unknown>) => columns.map((column) => row[column])), columns);
  }
  return table(isRecord(value) ? Object.entries(value) : [[value]]);
}

function table(rows: readonly (readonly unknown[])[], columns?: readonly string[]): string {
  const cell = (tag: "td" | "th") => (value: unknown) => `<${tag}>${escapeHtml(shown(value))}</${tag}>`;
  const head = columns === undefined ? "" : `<tr>${columns.map(cell("th")).join("")}</tr>`;
  return `<table>${head}${rows.map((row) => `<tr>${row.map(cell("td")).join("")}</tr>`).join("")}</table>`;
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
