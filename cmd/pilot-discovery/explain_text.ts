/**
 * The way of a request as text for people.
 *
 * @module
 */
import { columns, wrap } from "../../lib/cli/terminal/layout.ts";
import { safeText, type Style, styleOf } from "../../lib/cli/terminal/style.ts";
import type { Terminal } from "../../lib/cli/terminal/terminal.ts";
import type { ExplainedHop, Explanation } from "../../lib/offline/explain/explain.ts";
import type { ExplainedStep } from "../../lib/offline/explain/steps.ts";

/** Rules that did not match which are shown: those nearest to the one that did. */
const MAX_PASSED = 10;

/** The text; ends with a line break. */
export function explanationText(explanation: Explanation, terminal: Terminal): string {
  const style = styleOf(terminal);
  const rows = explanation.hops.flatMap((hop) => hop.steps.length === 0 ? [] : rowsOf(hop, style));
  const aligned = columns(rows);
  const lines: string[] = [];
  let at = 0;
  for (const hop of explanation.hops) {
    lines.push(
      style(
        "strong",
        `${hop.proxy.type === "router" ? "gateway" : "sidecar"} ${hop.proxy.namespace}/${hop.proxy.name}`,
      ),
    );
    const count = hop.steps.length === 0 ? 0 : rowsOf(hop, style).length;
    lines.push(...aligned.slice(at, at + count));
    at += count;
  }
  const { kind, text } = explanation.end;
  lines.push(`  => ${style(kind === "forwarded" ? "good" : kind === "unknown" ? "warning" : "error", text)}`);
  for (const note of explanation.notes) lines.push(style("faint", wrap(note, terminal.width, "note: ")));
  return safeText(lines.join("\n") + "\n");
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

/** What every inbound request passes, whatever is configured: the simulation in `-o json` has it. */
function isUsual({ what, matches, object }: ExplainedStep): boolean {
  return what === "host" || what === "rule" && matches === true && object === undefined || what === "cluster";
}

function verdict({ matches, text }: ExplainedStep, style: Style): string {
  if (matches === undefined) return text;
  return matches ? `${style("good", "yes")}: ${text}` : `${style("faint", "no")}: ${text}`;
}

/** Where its field is written; else which object it is of. */
function origin({ place, object, field }: ExplainedStep): string {
  if (place !== undefined && field !== undefined) return `${place.file}:${place.line}`;
  if (object === undefined) return "";
  const [kind, namespace, name] = object.split("/");
  return `${kind} ${namespace}/${name}`;
}
