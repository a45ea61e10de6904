/**
 * How the program starts itself.
 *
 * Permissions: read (the path of the runtime).
 *
 * @module
 */

/**
 * The command line that starts the program again: the executable when compiled, otherwise the runtime with the same
 * permissions.
 */
export function ownCommandLine(): string[] {
  if (Deno.build.standalone) return [Deno.execPath()];
  // The launcher of an image's bundle is beside the modules.
  if (import.meta.url.endsWith(".js")) return [new URL("install-cni", import.meta.url).pathname];
  const root = new URL("../../", import.meta.url).pathname;
  const words = ["run", "--quiet", "--no-prompt", "--cached-only", "--no-check", `--config=${root}deno.json`];
  return [Deno.execPath(), ...words, "-P=install-cni", `${root}cmd/install-cni/main.ts`];
}
