/**
 * Which mutations fit the tree, and which tests can notice each mutation.
 *
 * Permissions: read of the repository.
 *
 * @module
 */
import { type ImportArrow, importsOf } from "../imports.ts";
import type { Mutation } from "./list.ts";

/**
 * The text of a file with the mistake.
 *
 * @throws {RangeError} When the text to replace is not in the file exactly once, or equals its replacement.
 */
export function mutated(text: string, { file, find, replace }: Mutation): string {
  const times = text.split(find).length - 1;
  if (times !== 1) throw new RangeError(`${file}: ${JSON.stringify(find)} stands there ${times} times, not once`);
  if (find === replace) throw new RangeError(`${file}: ${JSON.stringify(find)} is replaced by itself`);
  return text.replace(find, () => replace);
}

/** The import graph of test files, read once. */
export class TestGraph {
  readonly #root: string;
  readonly #tests: readonly string[];
  readonly #imports = new Map<string, readonly ImportArrow[]>();

  /** @param tests Paths of the test files, from the root of the tree. */
  constructor(root: string, tests: readonly string[]) {
    this.#root = root;
    this.#tests = tests;
  }

  /** The test files that load a file, directly or indirectly. */
  testsOf(file: string): string[] {
    return this.#tests.filter((test) => this.#reaches(test, file));
  }

  #reaches(test: string, file: string): boolean {
    const seen = new Set([test]);
    for (const path of seen) {
      if (path === file) return true;
      if (!path.endsWith(".ts")) continue;
      for (const { to, typeOnly } of this.#importsOf(path)) if (!typeOnly) seen.add(to);
    }
    return false;
  }

  #importsOf(path: string): readonly ImportArrow[] {
    let found = this.#imports.get(path);
    if (found === undefined) {
      found = importsOf(this.#root, path);
      this.#imports.set(path, found);
    }
    return found;
  }
}
