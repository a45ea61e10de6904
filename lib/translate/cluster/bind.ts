/**
 * The source address of connections from the proxy to its own workload.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { Reader } from "../reader/reader.ts";

const IPV4 = "127.0.0.6";
const IPV6 = "::6";

/**
 * `127.0.0.6` or `::6`. The redirection rules let packets from this address pass, so traffic from the proxy to the
 * workload does not return to the proxy.
 *
 * @param both Whether a proxy with both IP versions gets both addresses.
 */
export function loopbackBind(read: Reader, both: boolean): envoy.config.core.v3.BindConfig {
  const ipv4 = read.property("ipv4");
  const second = both && ipv4 && read.property("ipv6");
  return {
    source_address: address(ipv4 ? IPV4 : IPV6),
    ...(second && { extra_source_addresses: [{ address: address(IPV6) }] }),
  };
}

function address(ip: string): envoy.config.core.v3.SocketAddress {
  return { address: ip, port_value: 0 };
}
