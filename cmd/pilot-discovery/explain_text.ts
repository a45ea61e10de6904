/**
 * The way of a request as text for people.
 *
 * @module
 */
import { keyText } from "../../lib/finding/object_name.ts";
import { columns, wrap } from "../../lib/cli/terminal/layout.ts";
import { safeText, type Style, styleOf } from "../../lib/cli/terminal/style.ts";
import type { Terminal } from "../../lib/cli/terminal/terminal.ts";
import {
  type ExplainedEnd,
  type ExplainedHop,
  type ExplainedStep,
  type Explanation,
  mainShare,
} from "../../lib/debug/explanation.ts";
import { profileOf } from "../../lib/translate/reader/proxy_profile.ts";

/** Limit of shown rules that did not match: the rules nearest to the matching rule. */
const MAX_PASSED = 10;

/** How much is shown. */
export interface ExplanationTextOptions {
  /** The steps of every share, not of the largest alone. */
  readonly all: boolean;
}

/** A heading with its steps, or a single line. */
type TextPart = { readonly head: string; readonly rows: readonly string[][] } | string;

/** The text; ends with a line break. */
export function explanationText(explanation: Explanation, terminal: Terminal, options: ExplanationTextOptions): string {
  const style = styleOf(terminal);
  const parts = partsOf(explanation, style, options);
  // A single table for all proxies: columns stand below each other.
  const rows = parts.flatMap((part) => typeof part === "string" ? [] : part.rows);
  const aligned = columns(rows, terminal.width);
  let at = 0;
  const lines = parts.flatMap((part) => {
    if (typeof part === "string") return [wrap(part, terminal.width, "", "     ")];
    const from = at;
    at += part.rows.length;
    return [part.head, ...aligned.slice(from, at)];
  });
  for (const note of explanation.notes) lines.push(style("faint", wrap(note, terminal.width, "note: ")));
  return safeText(lines.join("\n") + "\n");
}

function partsOf(explanation: Explanation, style: Style, options: ExplanationTextOptions): TextPart[] {
  const mirrors = explanation.mirrors.flatMap((one) => {
    const head = style("strong", `mirror ${one.cluster}`);
    const hop = options.all && one.hop !== undefined ? [hopPart(one.hop, style)] : [];
    return [head, ...hop, `${endLine(one.end, style, one.share)}; the answer is thrown away`];
  });
  return [...waysOf(explanation, style, options), ...mirrors];
}

function waysOf({ hops, end, shares }: Explanation, style: Style, { all }: ExplanationTextOptions): TextPart[] {
  const [first, second] = hops;
  const parts: TextPart[] = first === undefined ? [] : [hopPart(first, style)];
  if (shares.length === 0) {
    if (second !== undefined) parts.push(hopPart(second, style));
    return [...parts, endLine(end, style)];
  }
  const main = mainShare(shares);
  for (const one of shares) {
    const { share, cluster, hop, end } = one;
    if (hop === undefined) parts.push(style("strong", `cluster ${cluster}`));
    else parts.push(all || one === main ? hopPart(hop, style) : headOf(hop, style));
    parts.push(endLine(end, style, share));
  }
  return parts;
}

function hopPart(hop: ExplainedHop, style: Style): TextPart {
  return { head: headOf(hop, style), rows: rowsOf(hop, style) };
}

function headOf({ proxy }: ExplainedHop, style: Style): string {
  return style("strong", `${profileOf(proxy.type).noun} ${proxy.namespace}/${proxy.name}`);
}

function endLine({ kind, text }: ExplainedEnd, style: Style, share?: number): string {
  const tone = kind === "forwarded" ? "good" : kind === "unknown" ? "warning" : "error";
  return `  => ${share === undefined ? "" : `${Number((share * 100).toFixed(2))} % `}${style(tone, text)}`;
}

function rowsOf(hop: ExplainedHop, style: Style): string[][] {
  const passed = hop.steps.filter(({ matches }) => matches === false);
  const hidden = new Set(passed.slice(0, Math.max(0, passed.length - MAX_PASSED)));
  const rows: string[][] = [];
  for (const step of hop.steps) {
    if (hop.direction === "inbound" && isUsual(step)) continue;
    if (hidden.has(step)) {
      if (step === passed[0]) rows.push([`  rules before`, `${hidden.size} that do not match`, ""]);
      continue;
    }
    rows.push([
      `  ${[step.what, step.name].filter(Boolean).join(" ")}`,
      verdict(step, style),
      style("faint", origin(step)),
    ]);
  }
  return rows;
}

/** Whether every inbound request passes the step, under any configuration. Only `-o json` shows such steps. */
function isUsual({ what, matches, object }: ExplainedStep): boolean {
  return what === "host" || what === "rule" && matches === true && object === undefined || what === "cluster";
}

function verdict({ matches, text }: ExplainedStep, style: Style): string {
  if (matches === undefined) return text;
  return matches ? `${style("good", "yes")}: ${text}` : `${style("faint", "no")}: ${text}`;
}

/** The place where the step's field is written. Without a place, the step's object. */
function origin({ place, object, field }: ExplainedStep): string {
  if (place !== undefined && field !== undefined) return `${place.file}:${place.line}`;
  if (object === undefined) return "";
  return keyText(object);
}
