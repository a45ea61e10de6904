/**
 * Findings of translation: user settings that are not in force. A finding belongs to a build result, and disappears
 * when the result is rebuilt without the finding.
 *
 * @module
 */
import { type Finding, findingIdentity, lossOf } from "../../finding/finding.ts";
import type { FindingName } from "../../finding/codes.ts";
import type { Built } from "./built.ts";

/** Takes findings while a result is built. */
export type ReportFinding = (finding: Finding) => void;

/** Hands on a builder's findings about a message, and returns the message. */
export function reported(
  code: FindingName,
  report: ReportFinding,
): <B extends Pick<Built<unknown>, "causes" | "warnings">>(b: B) => B {
  return (built) => {
    for (const { cause, text } of built.warnings ?? []) {
      report(lossOf(code, [cause, ...built.causes.filter((other) => other !== cause)], text));
    }
    return built;
  };
}

/** Each finding once, sorted: many classes of proxies find the same. */
export function distinctFindings(findings: Iterable<Finding>): Finding[] {
  return [...byIdentity(findings)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, finding]) => finding);
}

/** Each finding once, at its first position. */
export function findingsOnce(findings: Iterable<Finding>): Finding[] {
  return [...byIdentity(findings).values()];
}

function byIdentity(findings: Iterable<Finding>): Map<string, Finding> {
  const found = new Map<string, Finding>();
  for (const finding of findings) found.set(findingIdentity(finding), finding);
  return found;
}
