/**
 * Free ports on this machine.
 *
 * Permissions: net (loopback).
 *
 * @module
 */

/** Ports that were free a moment ago; all different. */
export function freePorts(count: number, hostname = "127.0.0.1"): number[] {
  const listeners = Array.from({ length: count }, () => Deno.listen({ hostname, port: 0 }));
  const ports = listeners.map((listener) => (listener.addr as Deno.NetAddr).port);
  for (const listener of listeners) listener.close();
  return ports;
}
