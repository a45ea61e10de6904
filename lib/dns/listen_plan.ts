/**
 * Decides the server's listening addresses and upstream servers, from DNS_PROXY_ADDR and `resolv.conf`.
 *
 * @module
 */

/** A host and a port. */
export interface ListenEndpoint {
  readonly hostname: string;
  readonly port: number;
}

/** The address of the server when DNS_PROXY_ADDR is empty or cannot be used. */
const DEFAULT_ADDRESS = "localhost:15053";

/** Where the server listens. On port 53 there is no redirection: `resolv.conf` names the server. */
export interface ListenPlan {
  readonly address: ListenEndpoint;
  /**
   * Whether clients ask the server without redirection. Before the first name table, such a server asks upstream
   * instead of answering SERVFAIL, because the machine has no other name server.
   */
  readonly direct: boolean;
  /** Why the address differs from the setting. */
  readonly warning?: string;
}

/**
 * Reads DNS_PROXY_ADDR. Port 53 needs root: without root the default address is used.
 * @throws {Error} When the text is not `host:port`.
 */
export function listenPlan(text: string, root: boolean): ListenPlan {
  const address = parseEndpoint(text === "" ? DEFAULT_ADDRESS : text);
  if (address.port !== 53) return { address, direct: false };
  if (root) return { address, direct: true };
  const warning = `DNS_PROXY_ADDR: port 53 needs root; listening on ${DEFAULT_ADDRESS} instead`;
  return { address: parseEndpoint(DEFAULT_ADDRESS), direct: false, warning };
}

function parseEndpoint(text: string): ListenEndpoint {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3] ?? NaN);
  if (match === null || port > 65535) {
    throw new Error(
      `DNS_PROXY_ADDR: got ${JSON.stringify(text)}, expected host:port, such as localhost:15053 or [::1]:53`,
    );
  }
  return { hostname: match[1] ?? (match[2] || "0.0.0.0"), port };
}

/**
 * The listening addresses. `localhost` means the loopback address of each family of the name servers, because
 * redirection sends each family's questions to the family's own loopback address. Without name servers `localhost`
 * means IPv4.
 */
export function listenAddresses(address: ListenEndpoint, servers: readonly string[]): ListenEndpoint[] {
  if (address.hostname !== "localhost") return [address];
  const v6 = servers.some((server) => server.includes(":"));
  const v4 = servers.some((server) => !server.includes(":")) || !v6;
  return [...(v4 ? ["127.0.0.1"] : []), ...(v6 ? ["::1"] : [])].map((hostname) => ({ hostname, port: address.port }));
}
