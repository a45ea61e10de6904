/**
 * The machine on which figures were measured.
 *
 * Permissions: sys (cpus, osRelease, systemMemoryInfo, loadavg).
 *
 * @module
 */
import os from "node:os";

/** Facts by name, in written form. */
export type MachineFacts = Readonly<Record<string, string>>;

/** Facts of this machine, with its present load. Read before the first benchmark. */
export function machineFacts(): MachineFacts {
  const cpus = os.cpus();
  return {
    date: new Date().toISOString().slice(0, 16).replace("T", " ") + " UTC",
    processor: `${cpus[0]?.model.trim() ?? "unknown"}, ${cpus.length} cores`,
    memory: `${Math.round(Deno.systemMemoryInfo().total / 2 ** 30)} GiB`,
    system: `${Deno.build.os} ${Deno.osRelease()}, ${Deno.build.arch}`,
    runtime: `Deno ${Deno.version.deno}, V8 ${Deno.version.v8}`,
    "load average at the start": Deno.loadavg().map((load) => load.toFixed(2)).join(", "),
  };
}
