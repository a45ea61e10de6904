/**
 * The full form of short names from users.
 *
 * @module
 */
import { isIp } from "../registry/address.ts";
import { MESH_GATEWAY } from "./sidecar_rules.ts";

/**
 * A host as a fully qualified, lower-case name: `reviews` written in namespace `default` is
 * `reviews.default.svc.<domainSuffix>`. Names with a dot, IP addresses and `*` are full already.
 *
 * @param domainSuffix DNS suffix of the mesh; empty leaves out `.svc.<suffix>`.
 */
export function fullHost(host: string, namespace: string, domainSuffix: string): string {
  const lowered = host.toLowerCase();
  // The engine makes another string, though equal; many thousand are kept.
  const lower = lowered === host ? host : lowered;
  if (lower === "" || lower === "*" || lower.includes(".") || isIp(lower)) return lower;
  const inNamespace = namespace === "" ? lower : `${lower}.${namespace}`;
  return domainSuffix === "" ? inNamespace : `${inNamespace}.svc.${domainSuffix}`;
}

/**
 * A gateway reference as `namespace/name`; `mesh` stays. Accepted: `name`, `./name`, `namespace/name`, and the old
 * DNS forms `name.namespace` and `name.namespace.svc.cluster.local`.
 */
export function fullGateway(gateway: string, namespace: string): string {
  if (gateway === MESH_GATEWAY) return gateway;
  const slash = gateway.indexOf("/");
  if (slash >= 0) return gateway.slice(0, slash) === "." ? `${namespace}/${gateway.slice(slash + 1)}` : gateway;
  const [name = "", inNamespace] = gateway.split(".");
  return inNamespace === undefined ? `${namespace}/${gateway}` : `${inNamespace}/${name}`;
}

/** Nearly all results of {@linkcode effectiveExportTo}. */
const ALL_OR_NOBODY: readonly (readonly string[])[] = [Object.freeze(["*"]), Object.freeze(["~"])];

/**
 * The namespaces of an object's `exportTo`, in normal form: `["*"]`, `["~"]` (none), or names, sorted. `.` means the
 * object's own namespace; `*` wins over all else, then `~`.
 *
 * @param exportTo As written; absent or empty means `defaults`.
 */
export function effectiveExportTo(
  exportTo: readonly string[] | undefined,
  namespace: string,
  defaults: readonly string[],
): readonly string[] {
  const written = exportTo?.length ? exportTo : defaults;
  const whole = ALL_OR_NOBODY.find(([to = ""]) => written.includes(to));
  if (whole !== undefined) return whole;
  return [...new Set(written.map((to) => to === "." ? namespace : to))].sort();
}
