/**
 * Go programs that tests build and run.
 *
 * Permissions: env (GO), read and write (temp folder), run (go).
 *
 * @module
 */
import assert from "node:assert/strict";

/** The Go toolchain; undefined where there is none. */
export const go: string | undefined = await findGo();

/** Path of the Go toolchain: the variable `GO`, else `go` on the path. */
async function findGo(): Promise<string | undefined> {
  for (const path of [Deno.env.get("GO"), "go", "/usr/local/go/bin/go"]) {
    if (path === undefined) continue;
    try {
      if ((await new Deno.Command(path, { args: ["version"], stdout: "null", stderr: "null" }).output()).success) {
        return path;
      }
    } catch { /* not there */ }
  }
  return undefined;
}

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
