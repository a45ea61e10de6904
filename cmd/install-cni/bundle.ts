/**
 * The network plugin as a single file of JavaScript, without types, for the launcher. Without the bundle a call spends
 * a fifth of its time on finding, checking and reading 45 modules and a package.
 *
 *     deno run --allow-read --allow-write=dist --allow-run=deno cmd/install-cni/bundle.ts
 *
 * makes the bundle in `dist/plugin`. The installer makes no bundle: it takes the file if the file matches the present
 * sources. Otherwise the launcher runs the sources.
 *
 * Permissions: read (the tree); to make the bundle, write (dist) and run (deno).
 *
 * @module
 */
import { type BundleSpec, makeBundle } from "../program_bundle.ts";

/** Name of the file. The program's bundle has a copy beside its modules. */
export const PLUGIN_FILE = "plugin_entry.js";

/** The installer copies the file to nodes, so nothing may be beside the file. */
export const PLUGIN_BUNDLE: BundleSpec = {
  folder: "dist/plugin",
  entry: "cmd/install-cni/plugin_entry.ts",
  whole: true,
  beside: ["cmd/install-cni/bundle.ts", "cmd/program_bundle.ts"],
};

if (import.meta.main) await makeBundle(new URL("../../", import.meta.url).pathname, PLUGIN_BUNDLE);
