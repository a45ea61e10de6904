/**
 * Address families of a workload, and the addresses of the proxy's own listeners in these families.
 *
 * @module
 */

/** Addresses by family. */
export interface BootstrapFamilies {
  /** Loopback address of the first family. */
  readonly localhost: string;
  /** All addresses of the first family. */
  readonly wildcard: string;
  /** All addresses of the other family, where both are served. */
  readonly otherWildcard: string | undefined;
  readonly dnsLookupFamily: "V4_ONLY" | "V6_ONLY" | "ALL";
}

const V4 = { localhost: "127.0.0.1", wildcard: "0.0.0.0" };
const V6 = { localhost: "::1", wildcard: "::" };

/**
 * The families of a workload.
 * @param addresses The workload's addresses, the main address first.
 * @param dualStack Serves both families where the workload has both. Otherwise only IPv4 is served.
 */
export function familiesOf(addresses: readonly string[], dualStack: boolean): BootstrapFamilies {
  const isV6 = addresses.map((address) => address.includes(":"));
  const both = isV6.includes(true) && isV6.includes(false);
  if (both && dualStack) {
    const [first, other] = isV6[0] ? [V6, V4] : [V4, V6];
    return { ...first, otherWildcard: other.wildcard, dnsLookupFamily: "ALL" };
  }
  return isV6[0] && !both
    ? { ...V6, otherWildcard: undefined, dnsLookupFamily: "V6_ONLY" }
    : { ...V4, otherWildcard: undefined, dnsLookupFamily: "V4_ONLY" };
}
