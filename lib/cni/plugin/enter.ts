/**
 * Starts `nsenter` for a call of the plugin.
 *
 * Permissions: run (nsenter).
 *
 * @module
 */

/** Where the system's tools are, for a process without the variables of the plugin. */
const SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Starts `nsenter`. containerd sets LD_LIBRARY_PATH for its plugins, and a permission for one program does not allow a
 * start with such a variable: then the process gets none of the plugin's variables.
 *
 * @throws {Error} When there is no such program.
 */
export function spawnNsenter(options: Deno.CommandOptions): Deno.ChildProcess {
  try {
    return new Deno.Command("nsenter", options).spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
    const env = { PATH: SEARCH_PATH, ...options.env };
    return new Deno.Command("nsenter", { ...options, clearEnv: true, env }).spawn();
  }
}
