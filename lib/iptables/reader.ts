/**
 * Reads inputs one by one, and notes problems, each with the input's name, the value and the expectation.
 *
 * @module
 */
import type { TrafficSelection } from "./model/config.ts";
import type { PortRange } from "./model/rule.ts";
import { commaList } from "../kernel/text/comma_list.ts";

/** An input's name and text. */
export interface Input {
  readonly name: string;
  readonly value: string;
}

/** An unreadable input. */
export interface InputFinding extends Input {
  readonly expected: string;
}

/** A value as quoted text. Of a long value only the beginning. */
function shown(value: string): string {
  return JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}...` : value);
}

/** All unreadable inputs in a single error. */
export class InputError extends Error {
  override readonly name = "InputError";
  /** @param problems Every input at fault. */
  constructor(readonly problems: readonly InputFinding[]) {
    super(problems.map((p) => `${p.name}: got ${shown(p.value)}, expected ${p.expected}`).join("\n"));
  }
}

/** Limit of reported elements of a list. */
const MOST_SHOWN = 10;

/** Collects problems while inputs are read. */
export class RuleReader {
  readonly problems: InputFinding[] = [];
  readonly warnings: string[] = [];

  /** Notes a problem; `part` is the element of a list at fault. */
  refuse(input: Input, expected: string, part = input.value): void {
    this.problems.push({ name: input.name, value: part, expected });
  }

  /**
   * Notes a problem for each part. Beyond the limit parts are counted, so that a list of the wrong kind does not flood
   * the output.
   */
  refuseParts(input: Input, expected: string, bad: readonly string[]): void {
    const shown = bad.length > MOST_SHOWN ? MOST_SHOWN - 1 : bad.length;
    for (const part of bad.slice(0, shown)) this.refuse(input, expected, part);
    if (bad.length > shown) this.refuse(input, expected, `${bad[shown]}, and ${bad.length - shown - 1} more`);
  }

  /** Elements of a list, trimmed. Empty and repeated elements are left out. */
  list<T>(input: Input, read: (part: string) => T | undefined, expected: string): T[] {
    const parts = new Set(commaList(input.value));
    const values = new Map<string, T>();
    const bad: string[] = [];
    for (const part of parts) {
      const value = read(part);
      if (value === undefined) bad.push(part);
      else values.set(JSON.stringify(value), value);
    }
    this.refuseParts(input, expected, bad);
    return [...values.values()];
  }

  number(input: Input, min: number, max: number, expected: string): number {
    const value = parseNumber(input.value.trim());
    if (value !== undefined && value >= min && value <= max) return value;
    this.refuse(input, expected);
    return min;
  }

  port(input: Input): number {
    return this.number(input, 1, 65535, "a port from 1 to 65535");
  }

  ports(input: Input, star = ""): PortRange[] {
    return this.list(input, parsePorts, `a port from 1 to 65535, or a range such as 8000:8010${star}`);
  }

  interfaces(input: Input): string[] {
    const expected =
      "the name of a network device: at most 15 characters, no space, quote or /; + at its end for any rest";
    return this.list(
      input,
      (part) => (/^[A-Za-z0-9_.:@~=][A-Za-z0-9_.:@~=-]{0,13}[A-Za-z0-9_.:@~=+-]?$/.test(part) ? part : undefined),
      expected,
    );
  }

  /**
   * A list, or `*` with exceptions. Exceptions of a list that are elements of the list are not mistakes, and have no
   * effect.
   * @param read Reads a list. The text is added to the expectation where `*` is allowed.
   */
  selection<T>(include: Input, exclude: Input, read: (input: Input, star?: string) => T[]): TrafficSelection<T> {
    const except = read(exclude);
    if (include.value.trim() === "*") return { all: true, except };
    const only = read(include, STAR);
    const named = except.map((value) => JSON.stringify(value));
    const both = only.map((value) => JSON.stringify(value)).filter((value) => named.includes(value));
    if (both.length > 0) {
      this.warnings.push(`${exclude.name} holds only where ${include.name} is *, and excludes nothing of its list`);
    }
    return { all: false, only };
  }
}

/** The end of an expectation, where `*` may stand alone. */
export const STAR = ", or * alone for all";

/** A whole number, decimal or hexadecimal with 0x. */
export function parseNumber(text: string): number | undefined {
  return /^(\d{1,10}|0x[0-9a-f]{1,8})$/i.test(text) ? Number(text) : undefined;
}

function parsePorts(text: string): PortRange | undefined {
  const match = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const first = Number(match[1]);
  const last = Number(match[2] ?? match[1]);
  return first >= 1 && first <= last && last <= 65535 ? { first, last } : undefined;
}
