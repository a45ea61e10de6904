/**
 * The program `pilot-agent` as a folder for images: JavaScript without types, and a launcher with exactly its permission set
 * of deno.json.
 *
 * `deno task bundle` makes it, in `dist/bundle/pilot-agent`. The folder needs the runtime and a shell beside it, nothing of
 * the tree.
 *
 * Permissions: read (the tree), write (dist), run (deno).
 *
 * @module
 */
import { type BundleSpec, currentBundle, makeBundle } from "../cmd/program_bundle.ts";
import { permissionFlags, permissionSets } from "./compile.ts";
import { engineFlags } from "./program_args.ts";

/** The agent. As deep as the module that looks for the tree's commit, so that it finds it. */
export const AGENT_BUNDLE: BundleSpec = {
  folder: "dist/bundle/pilot-agent",
  entry: "cmd/pilot-agent/main.ts",
  beside: ["deno.json"],
};

/** The launcher's path in the tree. */
export const AGENT_LAUNCHER = `${AGENT_BUNDLE.folder}/pilot-agent`;

/**
 * Makes it; the JavaScript only when it is not there, or of other sources.
 *
 * @param root Folder of the tree, with a slash at its end.
 * @throws {Error} when it cannot be made, for instance because the bundler is not there and cannot be fetched.
 */
export async function bundleAgent(root: string): Promise<void> {
  if (currentBundle(root, AGENT_BUNDLE) === undefined) await makeBundle(root, AGENT_BUNDLE);
  const flags = [
    ...["--quiet", "--no-config", "--no-lock", "--no-check", "--cached-only", "--unstable-net"],
    ...[...engineFlags("pilot-agent"), ...permissionFlags(permissionSets()["pilot-agent"]!)],
  ];
  // Relaying takes and frees buffers in several threads: with a heap for each, and large blocks in them, glibc gives
  // little of that back.
  const script = `#!/bin/sh
export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX:-1}" MALLOC_MMAP_THRESHOLD_="\${MALLOC_MMAP_THRESHOLD_:-131072}"
folder=$(dirname "$(readlink -f "$0")")
exec deno run ${flags.map((flag) => `'${flag}'`).join(" ")} "$folder/main.js" "$@"
`;
  await Deno.writeTextFile(`${root}${AGENT_LAUNCHER}`, script, { mode: 0o755 });
}

if (import.meta.main) {
  await bundleAgent(new URL("../", import.meta.url).pathname);
  console.log(AGENT_LAUNCHER);
}
