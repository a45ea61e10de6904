/**
 * Reads `resolv.conf` (resolv.conf(5)): the servers to ask, and the domains that the resolver appends to names.
 *
 * @module
 */
import ipaddr from "ipaddr.js";

/** The fields of the file that are read. */
export interface ResolvConf {
  /** Addresses of name servers, in order, each once. All are used, also beyond the three that C libraries take. */
  readonly servers: readonly string[];
  /** Search domains, in order. */
  readonly search: readonly string[];
  /** The lines that could not be used, for people. */
  readonly findings: readonly string[];
}

/** Reads the text. Of several `search` and `domain` lines the last holds, as C libraries have it. */
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
 * The address in the one spelling that sockets report too (RFC 5952): answers are believed by their sender. An IPv4
 * address in IPv6 spelling is an IPv4 address. Undefined when it is none.
 */
function serverAddress(text: string): string | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return text;
  if (!text.includes(":") || text.includes("%") || !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toRFC5952String();
}
