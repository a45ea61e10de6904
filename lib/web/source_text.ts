/**
 * The present text of an object in its file, line by line, with its findings.
 *
 * Permissions: read (the folders of configuration).
 *
 * @module
 */
import { factsOf, readRegularText } from "../kernel/files/regular.ts";
import { excerptOf, type SourceExcerpt, SourceLines } from "../finding/excerpt.ts";
import type { Finding } from "../finding/finding.ts";
import type { Origin } from "../finding/origin.ts";
import { lineOf, places } from "../config/yaml/locate.ts";
import { type Html, markup } from "./html.ts";
import { stateHtml } from "./words.ts";
import { withoutEnd } from "../kernel/text/edges.ts";

/** Longest readable file, bytes. */
const MAX_FILE = 4 * 1024 * 1024;

/** Shown lines of each document. */
const MAX_LINES = 1500;

/** A document in a file. */
export interface SourceText {
  /** 1-based number of the first line. */
  readonly start: number;
  readonly lines: readonly string[];
  /** Number of lines left out. */
  readonly more: number;
}

/** The document of an object; or a sentence that says why the document cannot be shown. */
export async function sourceText(origin: Origin): Promise<SourceText | string> {
  if (origin.from === "derived") return await sourceText(origin.parent);
  if (origin.from === "api") return "It comes from an API, so there is no file.";
  const path = origin.source === "" ? origin.file : `${withoutEnd(origin.source, "/")}/${origin.file}`;
  try {
    const { size } = await factsOf(path);
    if (size > MAX_FILE) return `The file has ${size} bytes, too many for a page.`;
    return documentAt(await readRegularText(path), origin.line);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "The file is gone.";
    if (error instanceof Deno.errors.PermissionDenied) return "The file cannot be read.";
    throw error;
  }
}

/** The document of a YAML text from a line to the next separator. */
function documentAt(text: string, line: number): SourceText {
  const all = text.split(/\r?\n/);
  const start = Math.min(Math.max(line, 1), all.length);
  const isSeparator = (one: string) => /^(?:---|\.\.\.)(?:\s|$)/.test(one);
  const length = all.slice(start).findIndex(isSeparator);
  const end = length < 0 ? all.length : start + length;
  const lines = all.slice(start - 1, end);
  while (lines.at(-1)?.trim() === "") lines.pop();
  return { start, lines: lines.slice(0, MAX_LINES), more: Math.max(0, lines.length - MAX_LINES) };
}

/** The text with the findings of each line below it. */
export function sourceHtml({ start, lines, more }: SourceText, findings: readonly Finding[]): Html {
  const whole = lines.join("\n");
  const source = new SourceLines(whole);
  const root = places(whole);
  // A finding of the analysis of the whole mesh names a field, and not yet a line.
  const lineAt = ({ line, field }: Finding["place"]) =>
    line > 0 || field === "" || root === undefined ? line : start + lineOf(root, field);
  const byLine = Map.groupBy(findings, ({ place }) => lineAt(place));
  const shown = lines.map((text, i) => {
    const number = start + i;
    const notes = byLine.get(number) ?? [];
    const mark = notes.length > 0 ? "line marked" : "line";
    const places = notes.flatMap((one) => excerptOf({ ...one, place: { ...one.place, line: i + 1 } }, source) ?? []);
    // Whitespace is significant here, so elements follow each other directly.
    const line = markup`<span class="${mark}" id="L${number}"><span class="nr">${number}</span>${
      markedText(text, places)
    }</span>`;
    return [line, ...notes.map(note)];
  });
  return markup`<pre class="source">${shown.flat()}</pre>${
    more > 0 && markup`<p>${more} lines more are in the file.</p>`
  }`;
}

/** A line with its findings' values marked. Of overlapping values only the first is marked. */
function markedText(text: string, places: readonly SourceExcerpt[]): Html {
  const characters = [...text];
  const found: Html[] = [];
  let at = 0;
  for (const { column, length } of places.toSorted((a, b) => a.column - b.column)) {
    const from = column - 1;
    if (from < at) continue;
    const value = characters.slice(from, from + length).join("");
    found.push(markup`${characters.slice(at, from).join("")}<mark>${value}</mark>`);
    at = from + length;
  }
  return markup`${found}${characters.slice(at).join("")}`;
}

function note({ severity, message, effect, fix }: Finding): Html {
  const tone = severity === "error" ? "bad" : severity === "warning" ? "warn" : "dim";
  const rest = [effect, fix].filter((text) => text !== "").join(" ");
  return markup`<span class="note">${stateHtml({ tone, word: message })} <span class="dim">${rest}</span></span>`;
}
