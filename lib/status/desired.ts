/**
 * The wanted status of an object: its progress to the proxies, and the findings of the analysis.
 *
 * The two conditions have the names known to Istio's users: `Reconciled` (in force on the proxies) and
 * `PassedValidation` (no errors). A change of only numbers is not urgent, and may be written later.
 *
 * @module
 */
import { compareTexts } from "../kernel/text/compare.ts";
import { type Finding, isLoss, type Severity } from "../finding/finding.ts";
import type { ApiJson } from "../orch/client/answer.ts";
import { sameContent, type StatusCondition, withConditions } from "./conditions.ts";
import type { ProgressSum } from "./progress.ts";

/** The wanted status of a version of an object. */
export interface DesiredStatus {
  readonly generation: number;
  readonly conditions: readonly StatusCondition[];
  readonly messages: readonly ApiJson[];
  /** Two statuses of equal meaning differ only in numbers, if at all. */
  readonly meaning: string;
}

/** Most findings of an object in its status. Further findings are left out. */
const MOST_MESSAGES = 20;

/** Most characters of a message in the status. */
const MOST_TEXT = 1024;

const LEVELS: Readonly<Record<Severity, string>> = { error: "ERROR", warning: "WARNING", info: "INFO" };

/** Whether the present version of an object is refused, and which version is in force. */
export type StatusRefusal = "none" | "the earlier version is in force" | "no version is in force";

/**
 * The status of an object.
 *
 * @param refusal Other than `none`: the present version has errors, and no proxy gets that version.
 */
export function desiredStatus(
  generation: number,
  progress: ProgressSum,
  findings: readonly Finding[],
  refusal: StatusRefusal = "none",
): DesiredStatus {
  const loss = sorted(findings).find(isLoss);
  const conditions = [reconciled(progress, refusal, loss), passedValidation(findings)];
  const messages = sorted(findings).slice(0, MOST_MESSAGES).map(messageOf);
  const meaning = JSON.stringify([
    generation,
    refusal,
    progress.state,
    progress.state === "rejected" ? progress.reason : "",
    conditions[0]?.reason,
    conditions[1],
    messages,
  ]);
  return { generation, conditions, messages, meaning };
}

/**
 * The change of an object's status, for a merge; undefined: the status needs no change.
 *
 * @param present The status as it was read.
 * @param now RFC 3339.
 */
export function statusChange(desired: DesiredStatus, present: ApiJson, now: string): ApiJson | undefined {
  const { generation, conditions, messages } = desired;
  const next = {
    observedGeneration: generation,
    conditions: withConditions(present["conditions"], conditions, generation, now),
    validationMessages: messages,
  };
  const same = Number(present["observedGeneration"] ?? NaN) === generation &&
    sameContent(present["conditions"], next.conditions) && sameContent(present["validationMessages"] ?? [], messages);
  return same ? undefined : next;
}

/** True when the object is in force everywhere and as written, like on the page `/debug/live`. */
function reconciled(
  { state, live, total, rejected, reason }: ProgressSum,
  refusal: StatusRefusal,
  loss: Finding | undefined,
): StatusCondition {
  const type = "Reconciled";
  if (refusal !== "none") {
    return { type, status: "False", reason: "Refused", message: `The object has errors: ${refusal}.` };
  }
  const upToDate = `${live}/${total} proxies up to date.`;
  if (state === "rejected") {
    const message = shortened(`${upToDate} Rejected by ${rejected}: ${reason}`);
    return { type, status: "False", reason: "Rejected", message };
  }
  if (loss !== undefined) {
    const message = shortened(`${upToDate} Parts of the object have no effect: ${loss.code}: ${loss.message}`);
    return { type, status: "False", reason: "NoEffect", message };
  }
  if (state === "pending") return { type, status: "False", reason: "Pending", message: upToDate };
  if (state === "live") return { type, status: "True", reason: "Live", message: upToDate };
  return { type, status: "Unknown", reason: "NoProxy", message: "No connected proxy has a resource of the object." };
}

function passedValidation(findings: readonly Finding[]): StatusCondition {
  const type = "PassedValidation";
  const errors = sorted(findings).filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first === undefined) return { type, status: "True", reason: "NoErrors", message: "No errors found." };
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return { type, status: "False", reason: "ErrorsFound", message: shortened(`${first.code}: ${first.message}${more}`) };
}

/** Istio's form, and the message beside it. Definitions of other projects may drop the message. */
function messageOf({ code, name, severity, message }: Finding): ApiJson {
  return { type: { name, code }, level: LEVELS[severity], message: shortened(message) };
}

const ORDER: readonly Severity[] = ["error", "warning", "info"];

/** The worst first; the same order in every server. */
function sorted(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) =>
    ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity) || compareTexts(a.code, b.code) ||
    compareTexts(a.message, b.message)
  );
}

function shortened(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}…` : text;
}
