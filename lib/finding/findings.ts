/**
 * The findings about an object, collected while the object is read and checked.
 *
 * @module
 */
import { fieldFinding, type Finding, type FindingPlace, NOWHERE, type Severity } from "./finding.ts";
import type { FindingName } from "./codes.ts";

/**
 * Kept findings of an object for each severity. A further finding says that there are others. The bound keeps hostile
 * objects cheap.
 */
const MAX_FINDINGS = 100;

/** Steps of compiled regular expressions for each object: about 100 ms of work. Simple expressions cost no steps. */
const REGEX_STEPS = 30_000;

/** Collects the findings about an object, at most 100 of each severity, and bounds the work for the object. */
export class Findings {
  readonly #place: FindingPlace;
  readonly #unreadable: readonly string[];
  readonly #list: Finding[] = [];
  readonly #counts = { error: 0, warning: 0, info: 0 };
  readonly #regexes = new Map<string, string | undefined>();
  #regexSteps = REGEX_STEPS;

  /**
   * @param place Of the object as a whole.
   * @param unreadable Fields whose values could not be read, with findings elsewhere.
   */
  constructor(place: FindingPlace = NOWHERE, unreadable: readonly string[] = []) {
    this.#place = place;
    this.#unreadable = unreadable;
  }

  /** The findings, in order. */
  get list(): readonly Finding[] {
    return this.#list;
  }

  /** Whether any finding refuses the object. Dropped findings count, too. */
  get failed(): boolean {
    return this.#counts.error > 0;
  }

  /** Whether the value of the field could not be read, so that a rule must not take the field for absent. */
  isUnreadable(field: string): boolean {
    return this.#unreadable.includes(field);
  }

  /** Whether another finding of this severity would be kept. */
  hasRoom(severity: Severity): boolean {
    return this.#counts[severity] < MAX_FINDINGS;
  }

  /** Adds an error about a field. `value` undefined means that the field is missing. */
  error(field: string, value: unknown, expected: string, code: FindingName = codeFor(value)): void {
    this.report("error", field, value, expected, code);
  }

  /** Adds a warning about a field. */
  warning(field: string, value: unknown, expected: string, code: FindingName = codeFor(value)): void {
    this.report("warning", field, value, expected, code);
  }

  /** Adds a finding about a field. */
  report(severity: Severity, field: string, value: unknown, expected: string, code: FindingName): void {
    if (this.#count(severity)) this.#list.push(this.#finding(severity, field, value, expected, code));
  }

  /** Adds a finding made elsewhere. */
  add(one: Finding): void {
    if (this.#count(one.severity)) this.#list.push(one);
  }

  /** An empty collection for the same object, some of whose fields could not be read. */
  fork(unreadable: readonly string[]): Findings {
    return new Findings(this.#place, unreadable);
  }

  /**
   * The problem of a regular expression with a number of steps; undefined: no problem. An expression is compiled once
   * per object, and the steps for each object are bounded.
   */
  regexProblem(regex: string, steps: number, compile: () => string | undefined): string | undefined {
    if (this.#regexes.has(regex)) return this.#regexes.get(regex);
    if (this.#regexSteps < steps) return "fewer or smaller regular expressions in one object";
    this.#regexSteps -= steps;
    const problem = compile();
    this.#regexes.set(regex, problem);
    return problem;
  }

  #finding(severity: Severity, field: string, value: unknown, expected: string, code: FindingName): Finding {
    return fieldFinding(code, severity, { ...this.#place, field }, value, expected);
  }

  /**
   * Counts a finding.
   * @returns whether the finding is kept
   */
  #count(severity: Severity): boolean {
    this.#counts[severity] += 1;
    if (this.#counts[severity] === MAX_FINDINGS + 1) {
      const many = `more than ${MAX_FINDINGS} ${severity}s`;
      this.#list.push(this.#finding(severity, "spec", many, "fewer (the others are not shown)", "too-many"));
    }
    return this.#counts[severity] <= MAX_FINDINGS;
  }
}

function codeFor(value: unknown): FindingName {
  return value === undefined ? "missing-field" : "wrong-value";
}
