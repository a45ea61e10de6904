/**
 * What is wrong with an object: findings inside it, and problems that name the file and the object as well.
 * @module
 * Permissions: none.
 */

/** An `error` refuses the object; a `warning` lets it in. */
export type Severity = "error" | "warning";

/** One thing that is wrong with one field. */
export interface Finding {
  readonly severity: Severity;
  /** Path from the object: `spec.http[0].route[1].destination.host`, `metadata.name`. */
  readonly field: string;
  /** The offending value as JSON, shortened to 80 characters; empty when the field is missing. */
  readonly value: string;
  /** What would be right: "a host name", "1..65535". */
  readonly expected: string;
  /** The whole in one sentence, field, value and expectation included. */
  readonly message: string;
}

/** A finding with the place where it was written. */
export interface Problem extends Finding {
  /** File path relative to the folder, or `orch`. */
  readonly source: string;
  /** 1-based line of the document; of the error itself when the text does not parse. */
  readonly line: number;
  /** Empty when the text does not tell. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Longest value quoted in a finding, in characters. */
const SHOWN_LENGTH = 80;

/** A value as findings show it: JSON, shortened to 80 characters; empty for undefined. */
export function shownValue(value: unknown): string {
  if (value === undefined) return "";
  // A replacer keeps the text bounded for huge values: only the first entries matter.
  let budget = 40;
  const text = JSON.stringify(value, (_key, part) => {
    budget -= 1;
    if (budget < 0) return undefined;
    return typeof part === "string" && part.length > 2 * SHOWN_LENGTH ? part.slice(0, 2 * SHOWN_LENGTH) : part;
  }) ?? String(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH - 1)}…` : text;
}

/** A finding with the usual sentence: "FIELD: VALUE, expected EXPECTED". */
export function finding(severity: Severity, field: string, value: unknown, expected: string): Finding {
  const shown = shownValue(value);
  const message = shown === ""
    ? `${field} is missing, expected ${expected}`
    : `${field}: ${shown}, expected ${expected}`;
  return { severity, field, value: shown, expected, message };
}

/** Collects the findings of one object. At most 100 are kept, then one more says so, so that a hostile object stays cheap. */
export class Findings {
  readonly list: Finding[] = [];

  /** Adds an error about a field. `value` undefined means that the field is missing. */
  error(field: string, value: unknown, expected: string): void {
    this.#add("error", field, value, expected);
  }

  /** Adds a warning about a field. */
  warning(field: string, value: unknown, expected: string): void {
    this.#add("warning", field, value, expected);
  }

  /** Whether any finding refuses the object. */
  get failed(): boolean {
    return this.list.some((one) => one.severity === "error");
  }

  #add(severity: Severity, field: string, value: unknown, expected: string): void {
    if (this.list.length < MAX_FINDINGS) this.list.push(finding(severity, field, value, expected));
    else if (this.list.length === MAX_FINDINGS) {
      this.list.push(finding(severity, "spec", undefined, `fewer problems: only the first ${MAX_FINDINGS} are shown`));
    } else if (severity === "error" && this.list[MAX_FINDINGS]?.severity === "warning") {
      this.list[MAX_FINDINGS] = { ...this.list[MAX_FINDINGS], severity };
    }
  }
}

const MAX_FINDINGS = 100;

/** One line for people: `file:line kind namespace/name: message`. */
export function formatProblem(problem: Problem): string {
  const where = problem.line > 0 ? `${problem.source}:${problem.line}` : problem.source;
  const object = problem.kind === "" ? "" : ` ${problem.kind} ${problem.namespace}/${problem.name}`;
  return `${where}${object}: ${problem.severity}: ${problem.message}`;
}
