/**
 * Flags of `discovery` that are accepted and checked but steer nothing yet, because the part that they belong to is not
 * built. A test shows that every other flag is used, and that none of these is. The list shrinks to nothing.
 *
 * @module
 */
import type { DiscoveryFlagValues } from "./discovery_flags.ts";
import type { DiscoveryOptions } from "./discovery_options.ts";

/** Names of idle flags, with the option that each becomes. */
export const idleFlags = {
  caCertFile: "tls",
  clusterRegistriesNamespace: "clusterRegistriesNamespace",
  cniNamespace: "cniNamespace",
  httpsAddr: "httpsAddr",
  orchApiBurst: "orchApiBurst",
  orchApiQPS: "orchApiQps",
  orchconfig: "orchconfig",
  profile: "profile",
  secureGRPCAddr: "secureGrpcAddr",
  "tls-cipher-suites": "tls",
  tlsCertFile: "tls",
  tlsKeyFile: "tls",
} as const satisfies { readonly [F in keyof DiscoveryFlagValues]?: keyof DiscoveryOptions };

/** Those of the given flags that are idle, sorted. */
export function idleAmong(given: ReadonlySet<string>): string[] {
  return Object.keys(idleFlags).filter((name) => given.has(name)).sort();
}
