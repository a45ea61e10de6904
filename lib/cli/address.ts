/**
 * Listen addresses as flags spell them: `:15010`, `127.0.0.1:8080`, `[::1]:8080`, `localhost:9876`.
 *
 * @module
 */

/** An address to listen on. An empty host is every address; port 0 is one that the system chooses. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Reads `host:port`; undefined when it is none. An IPv6 host stands in brackets. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^:\s[\]/]*)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  const host = match[1] ?? match[2] ?? "";
  return port > 65535 ? undefined : { host: host === "*" ? "" : host, port };
}

/** The address as text, an IPv6 host in brackets. */
export function showAddress(address: Address): string {
  return address.host.includes(":") ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/**
 * Where introspection pages are served by `--ctrlz_address` and `--ctrlz_port`: `*` is every address, and `localhost` is
 * one fixed address, not the first of two that the name resolves to.
 */
export function introspectionAddress(flags: { readonly ctrlz_address: string; readonly ctrlz_port: number }): Address {
  const host = { "*": "", localhost: "127.0.0.1" }[flags.ctrlz_address] ?? flags.ctrlz_address;
  return { host, port: flags.ctrlz_port };
}
