/**
 * Sources of configuration that the mesh configuration names, by their addresses.
 *
 * @module
 */
import type { Findings } from "../finding/findings.ts";
import type { ConfigSource } from "./types.ts";

/** The meaning of an address. */
export type SourceAddress =
  /** A folder of this machine: `fs:///path`. */
  | { readonly kind: "folder"; readonly path: string }
  /** Another control plane (`xds://host:port`) or an orchestrator (`orch://`, `k8s://`). */
  | { readonly kind: "remote" }
  | { readonly kind: "wrong"; readonly expected: string };

/** Reads an address. */
export function parseSourceAddress(address: string): SourceAddress {
  const [, scheme, rest = ""] = /^([a-z0-9]+):\/\/(.*)$/.exec(address) ?? [];
  if (scheme === "fs") {
    if (rest.startsWith("/") && rest !== "/") return { kind: "folder", path: rest };
    return { kind: "wrong", expected: "an absolute path after fs://, such as fs:///etc/mesh/routes" };
  }
  if (scheme === "orch" || scheme === "k8s" || (scheme === "xds" && rest !== "")) return { kind: "remote" };
  return { kind: "wrong", expected: "an address such as fs:///path, xds://host:port or orch://" };
}

/** Checks the addresses. */
export function checkConfigSources(sources: readonly ConfigSource[] | undefined, report: Findings): void {
  sources?.forEach(({ address }, index) => {
    const parsed = parseSourceAddress(address);
    if (parsed.kind === "wrong") report.error(`configSources[${index}].address`, address, parsed.expected);
  });
}
