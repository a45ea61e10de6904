/** File calls cut off at a change, like the calls of a process killed there. */
import type { FileCalls } from "../../../lib/cni/node/file_calls.ts";

/** Where a row of calls was cut off. */
export class Killed extends Error {}

/** Calls with a change, in the order of {@link FileCalls}. */
const changes = ["makeFolder", "write", "copy", "own", "rename", "remove", "removeFolder", "syncFolder"] as const;

/**
 * Calls that end at the change with a number.
 *
 * @param at Number of the first missing change; a `write` or `copy` leaves half of its file.
 * @param end Ends the process or throws. Default: throws {@link Killed}, and so does every later call.
 */
export function cutOff(
  calls: FileCalls,
  at: number,
  end: () => never = kill,
): FileCalls & { readonly made: () => number } {
  let made = 0;
  let dead = false;
  const wrapped = { ...calls } as Record<string, unknown>;
  for (const name of Object.keys(calls) as (keyof FileCalls)[]) {
    wrapped[name] = (...args: unknown[]) => {
      if (dead) throw new Killed();
      if ((changes as readonly string[]).includes(name) && made++ === at) {
        dead = true;
        if (name === "write") calls.write(args[0] as string, (args[1] as Uint8Array).subarray(0, 3));
        if (name === "copy") calls.write(args[1] as string, new Uint8Array([1, 2, 3]));
        end();
      }
      return (calls[name] as (...args: unknown[]) => unknown)(...args);
    };
  }
  return { ...(wrapped as unknown as FileCalls), made: () => made };
}

function kill(): never {
  throw new Killed();
}
