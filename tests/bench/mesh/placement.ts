/**
 * Which processor cores processes run on, where two trees are compared.
 *
 * A server and a load generator that share two cores take them from each other, and what a thread finds in the caches
 * then differs from run to run: one connect of 400 proxies took 1.25 to 2.13 CPU s. With a core for the server alone it
 * took 1.30 to 1.59.
 *
 * Permissions: run (taskset, of util-linux).
 *
 * @module
 */

/** The core that belongs to the server. */
const SERVER_CORE = 0;

/**
 * Keeps this process, and those that it starts from now on, off one core.
 *
 * @param cores number of cores of the machine
 * @returns the core that is free now, for the server; undefined where there is one core alone, or no `taskset`
 */
export async function reserveCore(cores: number): Promise<number | undefined> {
  if (cores < 2) return undefined;
  try {
    return await place(Deno.pid, `${SERVER_CORE + 1}-${cores - 1}`) ? SERVER_CORE : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/**
 * Has all threads of a process run on one core.
 *
 * @throws Error when the system refuses
 */
export async function placeOn(core: number, pid: number): Promise<void> {
  if (!await place(pid, String(core))) throw new Error(`taskset: process ${pid} cannot be placed on core ${core}`);
}

/** @throws Error NotFound where there is no `taskset` */
async function place(pid: number, cores: string): Promise<boolean> {
  const args = ["--all-tasks", "--cpu-list", "--pid", cores, String(pid)];
  return (await new Deno.Command("taskset", { args, stdout: "null", stderr: "null" }).output()).success;
}
