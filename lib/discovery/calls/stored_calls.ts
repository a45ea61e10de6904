/**
 * The stored form of what workloads have called.
 *
 * @module
 */
import * as z from "zod";
import type { CallingWorkload, LastCalls } from "./call_memory.ts";

/** A workload and its last calls. */
export interface StoredWorkload {
  readonly workload: CallingWorkload;
  readonly calls: LastCalls;
}

/** Times are stored in whole minutes. */
const MINUTE = 60_000;

const text = z.string().max(512);
const storedSchema = z.object({
  workloads: z.array(z.object({
    namespace: text,
    account: text,
    name: text,
    calls: z.record(text, z.number().int().nonnegative()),
  })),
});

/**
 * The text of workloads.
 *
 * @param most Most characters. When not all workloads fit, those with the fewest calls are stored.
 */
export function callsText(workloads: readonly StoredWorkload[], most: number): string {
  const parts: string[] = [];
  let length = 100;
  for (const { workload, calls } of workloads.toSorted((a, b) => a.calls.size - b.calls.size)) {
    const minutes = [...calls].map(([name, at]) => [name, Math.floor(at / MINUTE)] as const);
    const part = JSON.stringify({ ...workload, calls: Object.fromEntries(minutes) });
    length += part.length + 1;
    if (length > most) break;
    parts.push(part);
  }
  return `{"workloads":[${parts.sort().join(",\n")}]}`;
}

/** Reads the text of workloads. Undefined: the text has another form, or more characters. */
export function readCalls(stored: string, most: number): StoredWorkload[] | undefined {
  if (stored.length > most) return undefined;
  try {
    const read = storedSchema.safeParse(JSON.parse(stored));
    return read.data?.workloads.map(({ calls, ...workload }) => ({
      workload,
      calls: new Map(Object.entries(calls).map(([name, minutes]) => [name, minutes * MINUTE])),
    }));
  } catch {
    return undefined;
  }
}

/**
 * Whether calls have to be stored: a name is missing, or its stored call is much older.
 *
 * @param lifetime For how long a name is remembered, in milliseconds.
 */
export function isStale(stored: readonly StoredWorkload[], now: readonly StoredWorkload[], lifetime: number): boolean {
  const key = ({ namespace, account, name }: CallingWorkload) => `${namespace}/${account}/${name}`;
  const before = new Map(stored.map(({ workload, calls }) => [key(workload), calls]));
  return now.some(({ workload, calls }) => {
    const known = before.get(key(workload));
    return [...calls].some(([name, at]) => at - (known?.get(name) ?? -Infinity) > Math.max(lifetime / 8, MINUTE));
  });
}
