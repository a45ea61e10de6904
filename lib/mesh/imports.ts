/**
 * The imports of Sidecars: hosts in egress listeners.
 *
 * @module
 */
import type { Service } from "../registry/types.ts";
import { covers, overlaps } from "./host_match.ts";

/** An imported pattern: `namespace/host`. */
export interface HostImport {
  /** `*`, or a namespace. */
  readonly namespace: string;
  readonly host: string;
}

/**
 * Reads `./x`, `ns/x`, `*\/x` and `x` (any namespace); `~/x` imports nothing.
 *
 * @param own Namespace of the workloads, in place of `.`.
 */
export function parseImports(hosts: readonly string[], own: string): HostImport[] {
  return hosts.flatMap((text) => {
    const slash = text.indexOf("/");
    const namespace = slash < 0 ? "*" : text.slice(0, slash);
    const host = text.slice(slash + 1).toLowerCase();
    return namespace === "~" ? [] : [{ namespace: namespace === "." ? own : namespace, host }];
  });
}

/** Whether an import is for a service. */
export function importsService(
  imports: readonly HostImport[],
  { namespace, hostname }: Pick<Service, "namespace" | "hostname">,
): boolean {
  return imports.some((one) => isOf(one, namespace) && covers(one.host, hostname));
}

/** Whether an import is for a host of a virtual service, by namespace. */
export function importsHost(imports: readonly HostImport[], namespace: string, host: string): boolean {
  return imports.some((one) => isOf(one, namespace) && overlaps(one.host, host));
}

function isOf(one: HostImport, namespace: string): boolean {
  return one.namespace === "*" || one.namespace === namespace;
}
