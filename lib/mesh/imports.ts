/**
 * The imports of Sidecars: the hosts that their egress listeners name.
 *
 * @module
 */
import type { Service } from "../registry/types.ts";
import { covers, overlaps } from "./host_match.ts";

/** One imported pattern: `namespace/host`. */
export interface HostImport {
  /** `*`, or a namespace. */
  readonly namespace: string;
  readonly host: string;
}

/**
 * Reads `./x`, `ns/x`, `*\/x` and `x` (any namespace); `~/x` imports nothing.
 *
 * @param own Namespace of the workloads, for which `.` stands.
 */
export function parseImports(hosts: readonly string[], own: string): HostImport[] {
  return hosts.flatMap((text) => {
    const slash = text.indexOf("/");
    const namespace = slash < 0 ? "*" : text.slice(0, slash);
    const host = text.slice(slash + 1).toLowerCase();
    return namespace === "~" ? [] : [{ namespace: namespace === "." ? own : namespace, host }];
  });
}

/** Whether any of them imports a service. */
export function importsService(
  imports: readonly HostImport[],
  { namespace, hostname }: Pick<Service, "namespace" | "hostname">,
): boolean {
  return imports.some((one) => isOf(one, namespace) && covers(one.host, hostname));
}

/** Whether any of them imports a host of a virtual service of a namespace. */
export function importsHost(imports: readonly HostImport[], namespace: string, host: string): boolean {
  return imports.some((one) => isOf(one, namespace) && overlaps(one.host, host));
}

function isOf(one: HostImport, namespace: string): boolean {
  return one.namespace === "*" || one.namespace === namespace;
}
