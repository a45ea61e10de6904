/**
 * Regular expressions in the proxy's syntax, RE2. Checking an expression means compiling it, so the cost is bounded
 * first.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { RE2JS } from "re2js";
import type { Findings } from "../../finding/findings.ts";
import { isSimple, readingSteps } from "./regex_work.ts";

/** Longest regular expression, in characters. */
const MAX_REGEX_LENGTH = 1024;
/** Largest expression with its repetitions written out, in steps of work; about 30 ms here. */
const MAX_REGEX_STEPS = 10_000;

/** Checks that a regular expression compiles as RE2. An expression from the object's last version costs nothing. */
export function checkRegex(regex: string, at: string, report: Findings): void {
  if (regex.length > MAX_REGEX_LENGTH) {
    report.error(
      at,
      regex,
      `a regular expression of at most ${MAX_REGEX_LENGTH} characters (this one has ${regex.length})`,
    );
    return;
  }
  if (isSimple(regex)) return;
  const steps = compilationSteps(regex);
  const problem = steps > MAX_REGEX_STEPS
    ? `a smaller regular expression (repetitions written out it has ${steps} steps, at most ${MAX_REGEX_STEPS})`
    : report.regexProblem(regex, steps, () => compileProblem(regex));
  if (problem !== undefined) report.error(at, regex, problem);
}

/**
 * Compiles an unchecked expression, for example from a patch.
 *
 * @throws if the expression does not compile, or is larger than {@linkcode checkRegex} allows.
 */
export function compileBounded(regex: string): RE2JS {
  const known = compiled.get(regex);
  if (known !== undefined) return known;
  if (regex.length > MAX_REGEX_LENGTH || compilationSteps(regex) > MAX_REGEX_STEPS) {
    throw new Error(`it is larger than the ${MAX_REGEX_LENGTH} characters or ${MAX_REGEX_STEPS} steps that are judged`);
  }
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  const made = RE2JS.compile(regex);
  compiled.set(regex, made);
  return made;
}

/** Results of {@linkcode compileBounded}: successive requests use the same expressions. */
const compiled = new Map<string, RE2JS>();
const MOST_COMPILED = 1000;

/** Steps of work: steps of the program, and steps of reading the expression. */
export function compilationSteps(regex: string): number {
  return programSteps(regex) + readingSteps(regex);
}

function compileProblem(regex: string): string | undefined {
  try {
    RE2JS.compile(regex);
    return undefined;
  } catch (error) {
    return `an RE2 regular expression (${errorMessage(error)})`;
  }
}

/**
 * Approximate steps of the compiled program: a character or class counts one, a repetition counts its content
 * repeatedly. For an expression with wrong syntax the number has no meaning; the compiler reports the error.
 */
export function programSteps(regex: string): number {
  const groups: number[] = [];
  let total = 0;
  let last = 0;
  const token =
    /\\(?:[pP](?:\{[^}]*\}|.)|Q.*?(?:\\E|$)|x\{[^}]*\}|.)|\[(?:\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]|\{(\d+)(?:,(\d*))?\}|[()]|[^]/gsy;
  for (const match of regex.matchAll(token)) {
    const [text, least, most] = match;
    if (text === "(") groups.push(total);
    else if (text === ")") last = total - (groups.pop() ?? 0);
    else if (least !== undefined) {
      const times = Math.max(1, Number(most || least));
      total += last * (times - 1);
      last *= times;
    } else {
      last = text.startsWith("\\Q") ? text.length : 1;
      total += last;
    }
  }
  return total;
}
