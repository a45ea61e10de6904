/**
 * Findings as text for people.
 *
 * @module
 */
import { wrap } from "../../lib/cli/terminal/layout.ts";
import { safeText, type Style, styleOf } from "../../lib/cli/terminal/style.ts";
import type { Terminal } from "../../lib/cli/terminal/terminal.ts";
import { fieldCode, titleOf } from "../../lib/finding/codes.ts";
import { type Finding, findingKind, findingObject } from "../../lib/finding/finding.ts";
import { type ObjectName, objectText } from "../../lib/finding/object_name.ts";
import { describeOrigin, type Origin, writtenKind } from "../../lib/finding/origin.ts";
import type { SourceExcerpt } from "../../lib/finding/excerpt.ts";

/** The inputs of the text beside the finding. */
export interface FindingSurroundings {
  readonly excerpt: SourceExcerpt | undefined;
  /** The origin of another object of the finding. */
  readonly originOf: (object: ObjectName) => Origin | undefined;
}

/** A finding: title, place, the line, the expectation, its effect and the fix. Ends with a line break. */
export function findingText(found: Finding, around: FindingSurroundings, terminal: Terminal): string {
  const style = styleOf(terminal);
  const also = fieldCode(found.code);
  const code = `${found.code}${also === undefined ? "" : ` (${also})`}`;
  const head = `${style(found.severity, `${found.severity} ${code}`)}  ${
    style("strong", titleOf(found.name, found.severity === "error"))
  }`;
  const block = (label: string, text: string) =>
    text === "" ? [] : [wrap(text, terminal.width, style("faint", label.padEnd(9)))];
  const lines = [
    head,
    `  ${
      [placeText(found, around.excerpt), objectText({ ...findingObject(found), kind: findingKind(found) })].filter(
        Boolean,
      ).join("  ")
    }`,
    ...excerptLines(around.excerpt, style, found),
    ...sentence(found, around.excerpt),
    ...block("expected", isShown(found, around.excerpt) ? expectedText(found, around.originOf) : ""),
    ...block("effect", found.effect),
    ...block("fix", found.fix),
  ];
  return safeText(lines.filter((line) => line.trim() !== "").join("\n") + "\n");
}

function placeText({ place: { origin, line } }: Finding, excerpt: SourceExcerpt | undefined): string {
  if (origin === undefined) return "";
  if (origin.from !== "file") return describeOrigin(origin);
  const column = excerpt === undefined ? "" : `:${excerpt.column}`;
  return `${describeOrigin({ ...origin, line: 0, within: "" })}${line > 0 ? `:${line}${column}` : ""}`;
}

function excerptLines(excerpt: SourceExcerpt | undefined, style: Style, { severity }: Finding): string[] {
  if (excerpt === undefined) return [];
  const number = String(excerpt.line);
  const bar = style("faint", "|");
  const blanks = excerpt.text.slice(0, excerpt.column - 1).replace(/[^\t]/g, " ");
  return [
    `${style("faint", number)} ${bar} ${excerpt.text}`,
    `${" ".repeat(number.length)} ${bar} ${blanks}${style(severity, "^".repeat(excerpt.length))}`,
  ];
}

/** The finding's own sentence, unless the marked line and the expectation say the same. */
function sentence(found: Finding, excerpt: SourceExcerpt | undefined): string[] {
  return isShown(found, excerpt) ? [] : [found.message];
}

/**
 * Whether the marked line and the expectation say the same as the sentence. The sentence of a syntax error also has a
 * reason.
 */
function isShown({ expected, message, place: { field } }: Finding, excerpt: SourceExcerpt | undefined): boolean {
  return expected !== "" && message.includes(`expected ${expected}`) && (excerpt !== undefined || field === "");
}

/** The finding's expectation. The other objects of the finding are named with their places. */
function expectedText(found: Finding, originOf: FindingSurroundings["originOf"]): string {
  let text = found.expected;
  if (text === "") return "";
  for (const object of found.place.objects.slice(1)) {
    const origin = originOf(object);
    const name = objectText(object);
    const full = origin === undefined
      ? name
      : `${objectText({ ...object, kind: writtenKind(origin, object.kind) })}, ${describeOrigin(origin)}`;
    text = text.includes(name) ? text.replace(name, () => full) : `${text} (${full})`;
  }
  return text;
}
