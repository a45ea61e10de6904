/**
 * Hosts in addresses and URLs, where an IPv6 address stands in brackets.
 *
 * @module
 */

/** A host before a port: an IPv6 address in brackets, any other host as it is. */
export function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** A host with its port: `[::1]:80`, `10.0.0.1:80`, `example.com:80`. */
export function hostAndPort(host: string, port: number | string): string {
  return `${bracketed(host)}:${port}`;
}
