/**
 * Go programs that tests build and run.
 *
 * Permissions: env (GO), read and write (temp folder), run (go).
 *
 * @module
 */
import assert from "node:assert/strict";
import { findGo } from "../../../scripts/go.ts";

/** The Go toolchain; undefined where there is none. */
export const go: string | undefined = await findGo();

/**
 * Builds a program; Go itself keeps what it has built.
 *
 * @param module folder of `tests/wire_conformance` with its `go.mod`
 * @returns path of the program
 */
export async function buildGo(module: string, what: string): Promise<string> {
  const out = `${await Deno.makeTempDir()}/program`;
  const { success, stderr } = await new Deno.Command(go!, {
    args: ["build", "-o", out, what],
    cwd: new URL(`../${module}/`, import.meta.url).pathname,
    // Without cgo no C compiler is needed.
    env: { CGO_ENABLED: "0" },
    stderr: "piped",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return out;
}
