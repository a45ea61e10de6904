/**
 * Flags of `install-cni` that are accepted and checked but steer nothing yet, because the part that they belong to is not
 * built. A test shows that every other flag is used, and that none of these is. The list shrinks to nothing.
 *
 * @module
 */
import type { InstallFlagValues } from "./flags.ts";
import type { InstallOptions } from "./options.ts";

/** Names of idle flags, with the option that each becomes. */
export const idleFlags = {
  ctrlz_address: "introspection",
  ctrlz_port: "introspection",
  "ztunnel-uds-address": "ztunnelSocket",
} as const satisfies { readonly [F in keyof InstallFlagValues]?: keyof InstallOptions };

/** Those of the given flags that are idle, sorted. */
export function idleAmong(given: ReadonlySet<string>): string[] {
  return Object.keys(idleFlags).filter((name) => given.has(name)).sort();
}
