/**
 * Reads what the suite prints: the verbose output of a Go test in the form for `test2json`.
 *
 * @module
 */

/** How a test ended. A test that the suite did not come to has no outcome. */
export type Outcome = "passed" | "failed" | "skipped";

/** The end of one of the suite's tests. */
export interface TestEnd {
  readonly name: string;
  readonly outcome: Outcome;
  /** From the start of the test to its end, in seconds. Go does not count parts that run at the same time. */
  readonly seconds: number;
  /** The lines that the test and its parts have printed. */
  readonly lines: readonly string[];
}

/** The Go test that runs the suite. Its parts are the tests of the suite. */
const ROOT = "TestConformance";

/** Marks the lines that the test program itself prints. */
const MARK = "\x16";

const OUTCOMES: Readonly<Record<string, Outcome>> = { PASS: "passed", FAIL: "failed", SKIP: "skipped" };

/** Takes the output line by line. */
export class SuiteOutput {
  readonly #lines = new Map<string, string[]>();
  readonly #starts = new Map<string, number>();
  readonly #ends: TestEnd[] = [];
  #current = "";

  /** The tests that have ended, in this order. */
  get ends(): readonly TestEnd[] {
    return this.#ends;
  }

  /** Lines outside of the tests: the preparation of the suite, and its end. */
  get otherLines(): readonly string[] {
    return this.#lines.get("") ?? [];
  }

  /**
   * Takes a line.
   *
   * @param now In milliseconds.
   * @returns the test that has ended with the line
   */
  take(line: string, now: number): TestEnd | undefined {
    const [, mark, path] = new RegExp(`${MARK}=== (\\w+)\\s+(\\S+)$`).exec(line) ?? [];
    if (mark !== undefined) {
      this.#current = testOf(path!);
      if (!this.#starts.has(this.#current)) this.#starts.set(this.#current, now);
      return undefined;
    }
    const [, word, ended] = new RegExp(`${MARK}--- (\\w+): (\\S+) \\([\\d.]+s\\)$`).exec(line) ?? [];
    if (word === undefined) {
      this.#linesOf(this.#current).push(line.replaceAll(MARK, ""));
      return undefined;
    }
    const name = testOf(ended!);
    if (name === "" || ended !== `${ROOT}/${name}`) {
      if (word === "FAIL" && name !== "") this.#linesOf(name).push(`failed: ${ended!.slice(ROOT.length + 1)}`);
      return undefined;
    }
    const seconds = (now - (this.#starts.get(name) ?? now)) / 1000;
    const end = { name, outcome: OUTCOMES[word]!, seconds, lines: this.#linesOf(name) };
    this.#ends.push(end);
    return end;
  }

  #linesOf(test: string): string[] {
    const lines = this.#lines.get(test) ?? [];
    this.#lines.set(test, lines);
    return lines;
  }
}

/** The suite's test in a path of Go; empty: no test of the suite. */
function testOf(path: string): string {
  const [root, name = ""] = path.split("/");
  return root === ROOT ? name : "";
}
