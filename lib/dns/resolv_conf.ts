/**
 * Reads `resolv.conf` (resolv.conf(5)): name servers, and the domains that the resolver appends to names.
 *
 * @module
 */
import ipaddr from "ipaddr.js";

/** The fields that are read. */
export interface ResolvConf {
  /** Addresses of name servers, in order, each once. All are used, even after the third, where C libraries stop. */
  readonly servers: readonly string[];
  /** Search domains, in order. */
  readonly search: readonly string[];
  /** The unusable lines, for people. */
  readonly findings: readonly string[];
}

/** Reads the text. Of several `search` and `domain` lines the last line counts, as in C libraries. */
export function parseResolvConf(text: string): ResolvConf {
  const servers = new Set<string>();
  const findings: string[] = [];
  let search: string[] = [];
  text.split("\n").forEach((line, number) => {
    const [keyword, ...values] = line.split(/[#;]/, 1)[0]!.trim().split(/\s+/);
    if (keyword === "search") search = values;
    else if (keyword === "domain") search = values.slice(0, 1);
    else if (keyword === "nameserver") {
      const address = serverAddress(values[0] ?? "");
      if (address !== undefined) servers.add(address);
      else {findings.push(
          `line ${number + 1}: nameserver: got ${JSON.stringify(values[0] ?? "")}, expected an address without zone`,
        );}
    }
  });
  return { servers: [...servers], search, findings };
}

/**
 * The address in the spelling of sockets (RFC 5952): answers are accepted by their sender. An IPv4 address in IPv6
 * spelling is an IPv4 address. Undefined for another text.
 */
function serverAddress(text: string): string | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return text;
  if (!text.includes(":") || text.includes("%") || !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toRFC5952String();
}
