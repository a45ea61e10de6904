/**
 * The installation's objects as YAML with comments.
 *
 * YAML libraries either drop comments, or need a separate document tree with the comments in it. The objects use few
 * forms of YAML, so a writer of these forms is short: a list of plain values stands in one line, a text of several
 * lines in a block.
 *
 * @module
 */
import { Commented, type Resolved } from "./resolved.ts";

/** Longest line of a comment. Lists in one line end 20 columns earlier. */
const COLUMNS = 120;

/** Words that YAML 1.1 or 1.2 reads as something other than a text. */
const NOT_TEXT = /^(?:true|false|yes|no|on|off|y|n|null|~)$/i;

/** Texts that need no quotes, also inside a list in one line. */
const PLAIN = /^(?:[A-Za-z_/][\w./-]*(?::[\w./-]+)*|[0-9]+(?:m|Mi|Gi|s|%))$/;

/** Printable ASCII without the single quote: such texts need no escapes in single quotes. */
const SINGLE = /^[ -&(-~]*$/;

/**
 * Objects as documents of a YAML stream, each with its comment.
 *
 * @param head Comment at the top.
 */
export function yamlDocuments(objects: readonly Resolved[], head = ""): string {
  return commentLines(head, 0).map((line) => `${line}\n`).join("") + objects.map(yamlText).join("---\n");
}

/** Data as a YAML document. */
export function yamlText(data: Resolved): string {
  const [comment, plain] = uncommented(data);
  const lines = linesOf(plain, 0);
  return [...commentLines(comment, 0), ...(typeof lines === "string" ? [lines] : lines)].map((line) => `${line}\n`)
    .join("");
}

/** A value: the text behind its key, or the lines below the key. */
function linesOf(data: Resolved, indent: number): string | readonly string[] {
  if (Array.isArray(data)) return listLines(data, indent);
  if (typeof data !== "object" || data === null) return scalar(data as string | number | boolean | null);
  const fields = Object.entries(data);
  if (fields.length === 0) return "{}";
  return fields.flatMap(([key, value]) => fieldLines(key, value, indent));
}

function fieldLines(key: string, value: Resolved, indent: number): readonly string[] {
  const pad = " ".repeat(indent);
  const [comment, data] = uncommented(value);
  const head = [...commentLines(comment, indent), `${pad}${scalar(key)}:`];
  const withText = (text: string) => [...head.slice(0, -1), `${head.at(-1)} ${text}`];
  if (typeof data === "string" && data.includes("\n")) {
    const block = data.replace(/\n$/, "").split("\n").map((line) => line === "" ? "" : `${pad}  ${line}`);
    return [...withText(data.endsWith("\n") ? "|" : "|-"), ...block];
  }
  const lines = linesOf(data, indent + 2);
  return typeof lines === "string" ? withText(lines) : [...head, ...lines];
}

function listLines(items: readonly Resolved[], indent: number): string | readonly string[] {
  const flow = `[${items.map((item) => typeof item === "object" ? "\n" : scalar(item)).join(", ")}]`;
  if (!/\n/.test(flow) && indent + flow.length < COLUMNS - 20) return flow;
  const pad = " ".repeat(indent);
  return items.flatMap((item) => {
    const [comment, data] = uncommented(item);
    const lines = linesOf(data, indent + 2);
    const [first = "", ...rest] = typeof lines === "string" ? [lines] : lines;
    return [...commentLines(comment, indent), `${pad}- ${first.trimStart()}`, ...rest];
  });
}

function uncommented(data: Resolved): [comment: string, data: Resolved] {
  return data instanceof Commented ? [data.text, data.data] : ["", data];
}

/** The lines of a comment; no lines for an empty comment. */
export function commentLines(comment: string, indent: number): readonly string[] {
  if (comment === "") return [];
  const lead = `${" ".repeat(indent)}# `;
  return comment.split("\n").flatMap((line) => wrapped(line, COLUMNS - lead.length)).map((line) => `${lead}${line}`);
}

function wrapped(line: string, columns: number): readonly string[] {
  const lines = [""];
  for (const word of line.split(" ")) {
    const last = lines.at(-1)!;
    if (last !== "" && last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

/** A plain value in one line. */
export function scalar(value: string | number | boolean | null): string {
  if (typeof value !== "string") return String(value);
  if (PLAIN.test(value) && !NOT_TEXT.test(value)) return value;
  // JSON's texts are YAML's texts in double quotes. Single quotes keep expressions with double quotes readable.
  return value.includes('"') && SINGLE.test(value) ? `'${value}'` : JSON.stringify(value);
}
