/**
 * Programs as folders for images: JavaScript without types, and a launcher with exactly the program's permission set of
 * deno.json.
 *
 * `deno task bundle [program...]` makes them, in `dist/bundle/PROGRAM`, and prints their launchers. A folder needs the
 * runtime and a shell beside it, nothing of the tree.
 *
 * Permissions: read (the tree), write (dist), run (deno).
 *
 * @module
 */
import { type BundleSpec, currentBundle, makeBundle } from "../cmd/program_bundle.ts";
import { lateModules, permissionFlags, permissionSets } from "./compile.ts";
import { engineFlags } from "./program_args.ts";

/** The programs that are packed so. (The node's installer starts its plugin in many ways, and once a node.) */
export const bundledPrograms = ["pilot-discovery", "pilot-agent"] as const;

/** One of them. */
export type BundledProgram = typeof bundledPrograms[number];

/** The bundle of a program. Its folder is as deep as that of the module that looks for the tree's commit. */
export function bundleSpec(program: BundledProgram): BundleSpec {
  return {
    folder: `dist/bundle/${program}`,
    entry: `cmd/${program}/main.ts`,
    ...{ late: lateModules[program] ?? [], beside: ["deno.json", "scripts/bundle.ts", "cmd/program_bundle.ts"] },
    // The runtime keeps the text of what it runs: beside every workload that is half a megabyte less.
    short: program === "pilot-agent",
  };
}

/** Path of a program's launcher in the tree. */
export function launcherPath(program: BundledProgram): string {
  return `${bundleSpec(program).folder}/${program}`;
}

/** The arguments of `deno` that run a program's bundle, before the path of its `main.js`. */
export function bundleFlags(program: BundledProgram): string[] {
  return [
    ...["--quiet", "--no-config", "--no-lock", "--no-check", "--cached-only", "--unstable-net"],
    ...[...engineFlags(program), ...permissionFlags(permissionSets()[program]!)],
  ];
}

/**
 * Relaying takes and frees buffers in several threads: with a heap for each, and large blocks in them, glibc gives little
 * of that back.
 */
const SMALL_HEAPS =
  'export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}" MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-131072}"\n';

/**
 * Makes a program's folder; the JavaScript only when it is not there, or of other sources.
 *
 * @param root Folder of the tree, with a slash at its end.
 * @throws {Error} when it cannot be made, for instance because the bundler is not there and cannot be fetched.
 */
export async function bundleProgram(root: string, program: BundledProgram): Promise<void> {
  const spec = bundleSpec(program);
  if (currentBundle(root, spec) === undefined) await makeBundle(root, spec);
  const script = `#!/bin/sh
${program === "pilot-agent" ? SMALL_HEAPS : ""}folder=$(dirname "$(readlink -f "$0")")
exec deno run ${bundleFlags(program).map((flag) => `'${flag}'`).join(" ")} "$folder/main.js" "$@"
`;
  await Deno.writeTextFile(`${root}${launcherPath(program)}`, script, { mode: 0o755 });
}

if (import.meta.main) {
  const unknown = Deno.args.filter((arg) => !(bundledPrograms as readonly string[]).includes(arg));
  if (unknown.length > 0) {
    console.error(`unknown program ${unknown.join(", ")}; expected ${bundledPrograms.join(", ")}`);
    Deno.exit(1);
  }
  const wanted = Deno.args.length > 0 ? Deno.args as BundledProgram[] : bundledPrograms;
  for (const program of wanted) {
    await bundleProgram(new URL("../", import.meta.url).pathname, program);
    console.log(launcherPath(program));
  }
}
