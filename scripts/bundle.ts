/**
 * Programs as folders for images: JavaScript without types, and a launcher with exactly the program's permission set of
 * deno.json.
 *
 * `deno task bundle [program...]` makes the folders in `dist/bundle/PROGRAM`, and prints the launchers. Beside a folder
 * only the runtime and a shell are needed, nothing of the tree.
 *
 * Permissions: read (the tree), write (dist), run (deno).
 *
 * @module
 */
import { PLUGIN_BUNDLE, PLUGIN_FILE } from "../cmd/install-cni/bundle.ts";
import { type BundleSpec, currentBundle, makeBundle } from "../cmd/program_bundle.ts";
import { lateModules, permissionFlags, permissionSets } from "./compile.ts";
import { engineFlags } from "./program_args.ts";

/** The bundled programs. */
const bundledPrograms = ["pilot-discovery", "pilot-agent", "install-cni"] as const;

/** A bundled program. */
export type BundledProgram = typeof bundledPrograms[number];

/** The bundle of a program. Its folder is as deep as the folder of the module that looks for the tree's commit. */
export function bundleSpec(program: BundledProgram): BundleSpec {
  return {
    folder: `dist/bundle/${program}`,
    entry: `cmd/${program}/main.ts`,
    late: lateModules[program] ?? [],
    beside: [
      ...["deno.json", "scripts/bundle.ts", "cmd/program_bundle.ts"],
      ...program === "install-cni" ? [PLUGIN_BUNDLE.entry] : [],
    ],
    // The runtime keeps the text of loaded modules in memory. Short text saves half a megabyte beside every workload.
    minified: program === "pilot-agent",
  };
}

/** Folder of compiled code in an image, beside the bundle's modules. */
export const COMPILED = "compiled";

/** Path of a program's launcher in the tree. */
export function launcherPath(program: BundledProgram): string {
  return `${bundleSpec(program).folder}/${program}`;
}

/** The arguments of `deno` for a program's bundle, before the path of `main.js`. */
export function bundleFlags(program: BundledProgram): string[] {
  return [
    ...["--quiet", "--no-config", "--no-lock", "--no-check", "--cached-only", "--unstable-net"],
    ...[...engineFlags(program), ...permissionFlags(permissionSets()[program]!)],
  ];
}

/**
 * Relaying allocates and frees buffers in several threads. With a heap per thread, and large blocks inside the heaps,
 * glibc returns little memory.
 */
const SMALL_HEAPS =
  'export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}" MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-131072}"\n';

/** Where a program's container may write, in order of preference: the proxy has no other folder of its own. */
const WRITABLE: Partial<Record<BundledProgram, readonly string[]>> = {
  "pilot-discovery": ['"${TMPDIR:-/tmp}"'],
  "pilot-agent": ["/var/lib/mesh/data", '"${TMPDIR:-/tmp}"'],
};

/**
 * Images have compiled code beside the bundle. The runtime reads compiled code only from a folder that it may write to,
 * so a start copies the code to such a folder. Without compiled code a start takes three times the CPU time, and keeps
 * twice the memory.
 */
function compiledCode(program: BundledProgram): string {
  const places = WRITABLE[program];
  if (places === undefined) return "";
  return `if [ -z "\${DENO_DIR:-}" ] && [ -d "$folder/${COMPILED}" ]; then
  for place in ${places.join(" ")}; do
    [ -w "$place" ] || continue
    DENO_DIR="$place/${program}.${COMPILED}"
    if [ ! -d "$DENO_DIR" ]; then
      new=$(mktemp -d "$DENO_DIR.XXXXXX") && cp -r "$folder/${COMPILED}/." "$new" && mv -T "$new" "$DENO_DIR"
    fi
    if [ -O "$DENO_DIR" ]; then export DENO_DIR; break; fi
    unset DENO_DIR
  done
fi
`;
}

/**
 * Makes a program's folder. The JavaScript is made only if missing or outdated.
 *
 * @param root Folder of the tree, with a final slash.
 * @throws {Error} When the folder cannot be made, for instance because the bundler is missing and cannot be fetched.
 */
export async function bundleProgram(root: string, program: BundledProgram): Promise<void> {
  const spec = bundleSpec(program);
  if (currentBundle(root, spec) === undefined) await makeBundle(root, spec);
  if (program === "install-cni") await addPlugin(root, spec.folder);
  const script = `#!/bin/sh
${program === "pilot-discovery" ? "" : SMALL_HEAPS}folder=$(dirname "$(readlink -f "$0")")
${compiledCode(program)}exec deno run ${
    bundleFlags(program).map((flag) => `'${flag}'`).join(" ")
  } "$folder/main.js" "$@"
`;
  await put(root, launcherPath(program), (path) => Deno.writeTextFile(path, script, { mode: 0o755 }));
}

/** Puts a file in place in one step: another process may read the folder. */
async function put(root: string, path: string, write: (path: string) => Promise<void>): Promise<void> {
  const beside = `${root}dist/${crypto.randomUUID()}`;
  await write(beside);
  await Deno.rename(beside, `${root}${path}`);
}

/** Puts the node's plugin beside the installer: one file, which the installer copies to the node. */
async function addPlugin(root: string, folder: string): Promise<void> {
  if (currentBundle(root, PLUGIN_BUNDLE) === undefined) await makeBundle(root, PLUGIN_BUNDLE);
  const made = `${root}${PLUGIN_BUNDLE.folder}/${PLUGIN_FILE}`;
  await put(root, `${folder}/${PLUGIN_FILE}`, (path) => Deno.copyFile(made, path));
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
