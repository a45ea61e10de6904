/**
 * Sources of configuration in the mesh configuration, by their addresses.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import type { ConfigSource } from "./types.ts";

/** The meaning of an address. */
export type SourceAddress =
  /** A folder of the server's machine: `fs:///path`. */
  | { readonly kind: "folder"; readonly path: string }
  /** The orchestrator of the server: `k8s://`, `orch://`. */
  | { readonly kind: "orchestrator" }
  /** Another control plane: `xds://host:port`. */
  | { readonly kind: "control plane"; readonly host: string; readonly port: number }
  /** Another orchestrator: `k8s://cluster`. */
  | { readonly kind: "other orchestrator" }
  | { readonly kind: "wrong"; readonly expected: string };

/** Reads an address. */
export function parseSourceAddress(address: string): SourceAddress {
  const [, scheme, rest = ""] = /^([a-z0-9]+):\/\/(.*)$/.exec(address) ?? [];
  if (scheme === "fs") {
    if (rest.startsWith("/") && rest !== "/") return { kind: "folder", path: rest };
    return { kind: "wrong", expected: "an absolute path after fs://, such as fs:///etc/mesh/routes" };
  }
  if (scheme === "orch" || scheme === "k8s") {
    return { kind: rest === "" || rest === "/" ? "orchestrator" : "other orchestrator" };
  }
  if (scheme === "xds") return controlPlane(rest);
  return { kind: "wrong", expected: "an address such as fs:///path, xds://host:port or orch://" };
}

function controlPlane(address: string): SourceAddress {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:/[\]@?#%\s\\]+)):(\d{1,5})\/?$/.exec(address) ??
    [];
  const [name, port] = [bracketed ?? plain ?? "", Number(digits)];
  if (name !== "" && port > 0 && port <= 65535) return { kind: "control plane", host: name, port };
  return { kind: "wrong", expected: "an address xds://HOST:PORT" };
}

/** Checks the addresses. */
export function checkConfigSources(sources: readonly ConfigSource[] | undefined, report: Findings): void {
  const named = new Set<string>();
  sources?.forEach(({ address }, index) => {
    const parsed = parseSourceAddress(address);
    const at = `configSources[${index}].address`;
    if (parsed.kind === "wrong") return report.error(at, address, parsed.expected);
    const key = JSON.stringify(parsed.kind === "other orchestrator" ? address : parsed);
    if (named.has(key)) report.warning(at, address, "each source once: the first one counts");
    named.add(key);
  });
}
