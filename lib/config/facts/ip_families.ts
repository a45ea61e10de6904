/**
 * The families of addresses that a Service asks an orchestrator for.
 *
 * @module
 */
import type { IpFamily } from "./service_data.ts";

export const IP_FAMILIES = ["IPv4", "IPv6"] as const satisfies readonly IpFamily[];

export const FAMILY_POLICIES = ["SingleStack", "PreferDualStack", "RequireDualStack"] as const;

export type FamilyPolicy = (typeof FAMILY_POLICIES)[number];

/**
 * The families, the main family first; undefined: one address of the cluster's default family, which manifests do not
 * name.
 *
 * @param policy Absent: an API server assumes `RequireDualStack` for two families, else `SingleStack`.
 */
export function wantedFamilies(
  families: readonly IpFamily[],
  policy: FamilyPolicy | undefined,
): readonly IpFamily[] | undefined {
  const [main] = families;
  const isDual = policy === undefined
    ? families.includes("IPv4") && families.includes("IPv6")
    : policy !== "SingleStack";
  if (isDual) return main === "IPv6" ? ["IPv6", "IPv4"] : ["IPv4", "IPv6"];
  return main === undefined ? undefined : [main];
}

/**
 * The families of a Service whose addresses do not tell them: none is written, or the Service is headless.
 *
 * @param clusterIPs the written addresses
 */
export function untoldFamilies(
  clusterIPs: readonly string[],
  families: readonly IpFamily[],
  policy: FamilyPolicy | undefined,
): readonly IpFamily[] | undefined {
  return clusterIPs.some((one) => one !== "None") ? undefined : wantedFamilies(families, policy);
}
