/**
 * Go programs that tests build and run.
 *
 * Permissions: env (GO), read and write (temp folder), run (go).
 *
 * @module
 */
import assert from "node:assert/strict";
import { findGo } from "../../../scripts/orchestrator/go.ts";

/** The Go toolchain; undefined where there is none. */
export const go: string | undefined = await findGo();

/**
 * Builds a program; Go keeps built packages in a cache.
 *
 * @param module Folder with the program's `go.mod`.
 * @param what Package of the module, or of a requirement.
 * @returns path of the program
 */
export async function buildGo(module: URL, what = "."): Promise<string> {
  const folder = await Deno.makeTempDir();
  // The program is used until the last test of the process has ended.
  addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  const out = `${folder}/program`;
  const { success, stderr } = await new Deno.Command(go!, {
    args: ["build", "-o", out, what],
    cwd: module.pathname,
    // Without cgo no C compiler is needed.
    env: { CGO_ENABLED: "0" },
    stderr: "piped",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return out;
}
