/**
 * A process's use of the machine.
 *
 * Permissions: run (cat).
 *
 * @module
 */

/** Resources that a process has used, and memory that it holds. */
export interface Usage {
  /** CPU seconds of all threads since the start, in user and system mode. The kernel counts in units of 10 ms. */
  readonly cpu: number;
  /** Resident memory at present and at its peak, MiB. */
  readonly resident: number;
  readonly peak: number;
}

/** A process's use of resources so far, from `/proc`. */
export async function usage(pid: number): Promise<Usage> {
  // The runtime lets a program read /proc only with every permission there is; `cat` may.
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/stat`, `/proc/${pid}/status`] }).output();
  return parseUsage(new TextDecoder().decode(stdout));
}

/** Clock ticks a second in `/proc/PID/stat` (`getconf CLK_TCK`; fixed on Linux). */
const TICKS = 100;

/** Reads the concatenation of `/proc/PID/stat` and `/proc/PID/status`. */
export function parseUsage(text: string): Usage {
  // The program's name, in parentheses, may hold spaces and parentheses. Fields are counted after the name.
  const stat = text.slice(0, text.indexOf("\n"));
  const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]);
  const used = {
    cpu: (Number(fields[11]) + Number(fields[12])) / TICKS,
    resident: kilobytes("VmRSS") / 1024,
    peak: kilobytes("VmHWM") / 1024,
  };
  for (const [name, value] of Object.entries(used)) {
    if (!Number.isFinite(value)) throw new Error(`/proc/PID/stat and status: no ${name} in ${JSON.stringify(text)}`);
  }
  return used;
}

/** Waits until a process is idle: 10 ms of CPU or less in half a second, twice in turn. */
export async function untilIdle(pid: number): Promise<void> {
  let { cpu } = await usage(pid);
  for (let calm = 0; calm < 2;) {
    await delay(500);
    const now = (await usage(pid)).cpu;
    calm = now - cpu <= 0.011 ? calm + 1 : 0;
    cpu = now;
  }
}

/** Waits. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Waits until a condition holds.
 *
 * @throws When the condition does not hold in time.
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>, patience = 60_000): Promise<void> {
  for (const end = performance.now() + patience; !await holds(); await delay(5)) {
    if (performance.now() > end) throw new Error(`${what} was not so within ${patience / 1000} s`);
  }
}
