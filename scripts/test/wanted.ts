/**
 * The command line of the test command.
 *
 * @module
 */

/** The requested tests. */
export interface WantedTests {
  /** Files and folders; none: everything. */
  readonly paths: readonly string[];
  /** Text in the names of tests, or an expression between slashes. Undefined: all tests. */
  readonly filter: string | undefined;
}

/**
 * @param exists Whether the tree has a file or folder at a path.
 * @throws {TypeError} For an unknown option, for a filter without a text, and for missing paths.
 */
export function wantedTests(args: readonly string[], exists: (path: string) => boolean): WantedTests {
  const paths: string[] = [];
  let filter: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    const [name, value = name === "--filter" ? args[++at] ?? "" : ""] = split(word);
    if (!word.startsWith("-")) paths.push(word);
    else if (name !== "--filter") throw new TypeError(`option ${word}: expected --filter TEXT, or only paths`);
    else if (value === "") throw new TypeError("option --filter: expected a text of the tests' names, got none");
    else filter = value;
  }
  const missing = paths.filter((path) => !exists(path));
  if (missing.length > 0) throw new TypeError(`no file or folder of this tree: ${missing.join(", ")}`);
  return { paths, filter };
}

/** Whether a filter lets a test run: the runtime's reports name the others, too, as skipped. */
export function isWanted(name: string, filter: string | undefined): boolean {
  const [, expression] = /^\/(.*)\/$/s.exec(filter ?? "") ?? [];
  return expression === undefined ? name.includes(filter ?? "") : new RegExp(expression).test(name);
}

/** `--name=value` as a pair; a word without a value alone. */
function split(word: string): [name: string, value?: string] {
  const at = word.startsWith("-") ? word.indexOf("=") : -1;
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}
