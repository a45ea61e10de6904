/**
 * What is wrong with an object: findings inside it, and problems that name the file and the object as well.
 *
 * @module
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
  /** 1-based line of the field, or of what it should stand in; of the error itself when the text does not parse; 0: no line. */
  readonly line: number;
  /** Empty when the text does not tell. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Longest value quoted in a finding, in characters. */
const SHOWN_LENGTH = 80;

/** Longest name and field path in a problem, in characters: the longest right name, and one more. */
const NAME_LENGTH = 254;

/** A name or field path as problems show it: of a hostile one the beginning. */
export function shownName(name: string): string {
  return name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH - 1)}…` : name;
}

/** A value as findings show it: JSON, shortened to 80 characters; empty for undefined. Costs no more than what is shown. */
export function shownValue(value: unknown): string {
  if (value === undefined) return "";
  const text = beginningOf(value, SHOWN_LENGTH + 1);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH - 1)}…` : text;
}

/** The JSON text of a value, of which only the first characters matter. */
function beginningOf(value: unknown, room: number): string {
  if (typeof value === "string") return JSON.stringify(value.length > room ? value.slice(0, room) : value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? String(value);
  const isList = Array.isArray(value);
  let text = isList ? "[" : "{";
  // Not Object.entries: a hostile object has a million.
  for (const key in value) {
    if (text.length > room) return text;
    if (text.length > 1) text += ",";
    if (!isList) text += `${JSON.stringify(key.slice(0, room))}:`;
    text += beginningOf((value as Readonly<Record<string, unknown>>)[key], room - text.length);
  }
  return text + (isList ? "]" : "}");
}

/** A finding with the usual sentence: "FIELD: VALUE, expected EXPECTED". */
export function finding(severity: Severity, path: string, value: unknown, expected: string): Finding {
  const field = shownName(path);
  const shown = shownValue(value);
  const message = shown === ""
    ? `${field} is missing, expected ${expected}`
    : `${field}: ${shown}, expected ${expected}`;
  return { severity, field, value: shown, expected, message };
}

/** Findings of each severity that are kept of one object; one more says that there are others, so that a hostile object stays cheap. */
const MAX_FINDINGS = 100;

/** Steps of compiled regular expressions that one object may ask for: about half a second of work. */
const REGEX_STEPS = 200_000;

/** Collects the findings of one object, at most 100 of each severity; and bounds the work that is done for it. */
export class Findings {
  readonly #list: Finding[] = [];
  readonly #counts = { error: 0, warning: 0 };
  readonly #regexes = new Map<string, string | undefined>();
  #regexSteps = REGEX_STEPS;

  /** What was found, in order. */
  get list(): readonly Finding[] {
    return this.#list;
  }

  /** Whether any finding refuses the object, also one that is not kept. */
  get failed(): boolean {
    return this.#counts.error > 0;
  }

  /** Whether another finding of this severity would be kept. */
  hasRoom(severity: Severity): boolean {
    return this.#counts[severity] < MAX_FINDINGS;
  }

  /** Adds an error about a field. `value` undefined means that the field is missing. */
  error(field: string, value: unknown, expected: string): void {
    if (this.#count("error")) this.#list.push(finding("error", field, value, expected));
  }

  /** Adds a warning about a field. */
  warning(field: string, value: unknown, expected: string): void {
    if (this.#count("warning")) this.#list.push(finding("warning", field, value, expected));
  }

  /**
   * What is wrong with a regular expression of so many steps, undefined when nothing. The same expression is compiled once per object, and
   * what an object may have compiled is bounded.
   */
  regexProblem(regex: string, steps: number, compile: () => string | undefined): string | undefined {
    if (this.#regexes.has(regex)) return this.#regexes.get(regex);
    if (this.#regexSteps < steps) return "fewer or smaller regular expressions in one object";
    this.#regexSteps -= steps;
    const problem = compile();
    this.#regexes.set(regex, problem);
    return problem;
  }

  /** Adds a finding made elsewhere. */
  add(one: Finding): void {
    if (this.#count(one.severity)) this.#list.push(one);
  }

  /** Counts a finding. @returns whether it is kept */
  #count(severity: Severity): boolean {
    this.#counts[severity] += 1;
    if (this.#counts[severity] === MAX_FINDINGS + 1) {
      this.#list.push(
        finding(severity, "spec", `more than ${MAX_FINDINGS} ${severity}s`, "fewer (the others are not shown)"),
      );
    }
    return this.#counts[severity] <= MAX_FINDINGS;
  }
}

/** One line for people: `file:line kind namespace/name: message`. */
export function formatProblem(problem: Problem): string {
  const where = problem.line > 0 ? `${problem.source}:${problem.line}` : problem.source;
  const object = problem.kind === "" ? "" : ` ${problem.kind} ${problem.namespace}/${problem.name}`;
  return `${where}${object}: ${problem.severity}: ${problem.message}`;
}
