/**
 * The Go toolchain, which builds test programs.
 *
 * Permissions: env (GO), run (go).
 *
 * @module
 */

/**
 * Path of the Go toolchain: the variable `GO`, else `go` on the path, else Go's usual place. Undefined: not installed.
 */
export async function findGo(): Promise<string | undefined> {
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
