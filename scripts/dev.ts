/**
 * The inner loop: runs the tests of files or folders, with a type check, and again whenever a related file changes.
 * Ends with Ctrl-C.
 *
 *     deno task dev tests/mesh
 *     deno task dev tests/mesh/scope_test.ts --filter 'two namespaces'
 *
 * All tests must be in one group, because a process has one set of permissions.
 *
 * Permissions: read of the repository, run (deno).
 *
 * @module
 */
import { existsSync } from "node:fs";
import { type TestGroup, testGroups } from "./test/groups.ts";
import { wantedTests } from "./test/wanted.ts";

/**
 * Arguments of the runtime.
 *
 * @throws {TypeError} Where the tests are of no group, or of several.
 */
export function watchArguments(groups: readonly TestGroup[], filter: string | undefined): string[] {
  const [group, ...others] = groups;
  if (group === undefined || others.length > 0) {
    const names = groups.map(({ name }) => name).join(", ") || "none";
    throw new TypeError(`tests: got those of ${names}, expected files and folders of one folder of tests/`);
  }
  const filters = filter === undefined ? [] : [`--filter=${filter}`];
  return ["test", "--watch", "--no-clear-screen", "--quiet", "--no-prompt", "--parallel", ...filters].concat(
    group.permissions,
    group.paths,
  );
}

if (import.meta.main) {
  const root = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
  try {
    const { paths, filter } = wantedTests(Deno.args, (path) => existsSync(`${root}/${path}`));
    const args = watchArguments(paths.length === 0 ? [] : testGroups(root, paths), filter);
    const { code } = await new Deno.Command(Deno.execPath(), { args, cwd: root }).spawn().status;
    Deno.exit(code);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.log(error.message);
    Deno.exit(1);
  }
}
