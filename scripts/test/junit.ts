/**
 * Reads the report of `deno test --junit-path`.
 *
 * @module
 */

/** A test. Steps inside a test are not counted separately, unless skipped. */
export interface TestCase {
  readonly name: string;
  readonly file: string;
  readonly result: "passed" | "failed" | "skipped";
  readonly seconds: number;
}

const CASE = /<testcase name="([^"]*)" classname="([^"]*)"(?: time="([\d.]*)")?[^>]*>([\s\S]*?)<\/testcase>/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The tests of a report, in order. */
export function testCases(xml: string): TestCase[] {
  const cases = [...xml.matchAll(CASE)].map(([, name = "", file = "", time = "", body = ""]): TestCase => ({
    name: plain(name),
    file: plain(file).replace(/^\.\//, ""),
    result: /<(failure|error)\b/.test(body) ? "failed" : body.includes("<skipped") ? "skipped" : "passed",
    seconds: Number(time),
  }));
  const names = new Set(cases.map(({ file, name }) => `${file} ${name}`));
  // A step is reported next to its test, as "test > step".
  return cases.filter(({ file, name, result }) =>
    result === "skipped" || !parents(name).some((parent) => names.has(`${file} ${parent}`))
  );
}

/** The tests that took longest, the longest first, each as a line. Tests below a limit in seconds are left out. */
export function slowest(cases: readonly TestCase[], { atLeast, most }: { atLeast: number; most: number }): string[] {
  return cases.filter(({ seconds }) => seconds >= atLeast).toSorted((a, b) => b.seconds - a.seconds).slice(0, most)
    .map(({ seconds, file, name }) => `${seconds.toFixed(0)} s  ${file}: ${name}`);
}

function parents(name: string): string[] {
  const parts = name.split(" > ");
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join(" > "));
}

function plain(text: string): string {
  return text.replace(/&(\w+);/g, (whole, entity) => ENTITIES[entity] ?? whole)
    .replace(/&#(x?)([0-9a-f]+);/gi, (_, hex, digits) => String.fromCodePoint(parseInt(digits, hex ? 16 : 10)));
}
