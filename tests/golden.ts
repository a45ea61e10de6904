/**
 * Goldens: expected outputs in files. Missing files, files without a case and differing files fail a test. `deno task
 * goldens` accepts the present outputs, but refuses where `CI` is set.
 *
 * Permissions: read, env (UPDATE_GOLDENS, CI); to accept a change also write of `tests/testdata`.
 * @module
 */
import assert from "node:assert/strict";

/** A folder of expected outputs. */
export interface Goldens {
  /** URL of the folder, with a slash at the end. */
  readonly folder: URL;
  /** Ending of the files' names: `.json`. */
  readonly suffix: string;
  /** Makers of the files' texts, by the file's name without the ending. */
  readonly cases: ReadonlyMap<string, () => string>;
}

/** The treatment of goldens. */
export type Mode = "compare" | "update" | "refuse";

/** The mode by the environment. */
export function modeOf(update: string | undefined, ci: string | undefined): Mode {
  return update === undefined || update === "" ? "compare" : ci === undefined ? "update" : "refuse";
}

/** Names of the cases with inputs in a folder: the files without their endings. */
export function inputNames(folder: URL, suffix = ".yaml"): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name.slice(0, -suffix.length)).sort();
}

/** Registers a test for each case, and a test for files without a case. */
export function testGoldens(goldens: Goldens): void {
  const mode = modeOf(Deno.env.get("UPDATE_GOLDENS"), Deno.env.get("CI"));
  for (const name of goldens.cases.keys()) Deno.test(`golden ${name}`, () => checkGolden(goldens, name, mode));
  const last = goldens.folder.pathname.split("/").slice(-3, -1).join("/");
  Deno.test(`golden files of ${last}: each is made by a case`, () => checkStale(goldens, mode));
}

/** Compares a case with its file, or writes the file. */
export function checkGolden({ folder, suffix, cases }: Goldens, name: string, mode: Mode): void {
  if (mode === "refuse") assert.fail("UPDATE_GOLDENS: goldens are not changed where CI is set");
  const file = new URL(`${name}${suffix}`, folder);
  const actual = cases.get(name)!();
  if (mode === "update") return Deno.writeTextFileSync(file, actual);
  let expected: string;
  try {
    expected = Deno.readTextFileSync(file);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    assert.fail(`${file.pathname} is missing: look at what the case makes, then run \`deno task goldens\``);
  }
  if (actual === expected) return;
  // A difference of objects is easier to read than a difference of long texts.
  if (suffix === ".json") assert.deepEqual(JSON.parse(actual), JSON.parse(expected));
  assert.equal(actual, expected);
}

/** Finds files without a case; removes them when goldens are updated. */
export function checkStale({ folder, suffix, cases }: Goldens, mode: Mode): void {
  const stale = [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => !name.endsWith(suffix) || !cases.has(name.slice(0, -suffix.length)));
  if (mode === "update") { for (const name of stale) Deno.removeSync(new URL(name, folder)); }
  else assert.deepEqual(stale, [], "no case makes these files; `deno task goldens` removes them");
}
