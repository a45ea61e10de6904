/**
 * Listen addresses in the form of flags: `:15010`, `127.0.0.1:8080`, `[::1]:8080`, `localhost:9876`.
 *
 * @module
 */
import { hostAndPort } from "../kernel/text/host.ts";

/** An address to listen on. An empty host means every address. With port 0 the system chooses a port. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Reads `host:port`, with an IPv6 host in brackets. Undefined for another text. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^:\s[\]/]*)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  const host = match[1] ?? match[2] ?? "";
  return port > 65535 ? undefined : { host: host === "*" ? "" : host, port };
}

/** The address as text, an IPv6 host in brackets. */
export function showAddress({ host, port }: Address): string {
  return hostAndPort(host, port);
}

/**
 * The address of introspection pages by `--ctrlz_address` and `--ctrlz_port`. `*` means every address. `localhost`
 * means one fixed address, not the first of the two addresses of the name.
 */
export function introspectionAddress(flags: { readonly ctrlz_address: string; readonly ctrlz_port: number }): Address {
  const host = { "*": "", localhost: "127.0.0.1" }[flags.ctrlz_address] ?? flags.ctrlz_address;
  return { host, port: flags.ctrlz_port };
}
