/**
 * Free ports on this machine.
 *
 * Permissions: net (loopback).
 *
 * @module
 */

/** Below the range from which the system takes ports for outgoing connections (32768 and up on Linux). */
const LOWEST = 12_000;
const HIGHEST = 32_000;

/**
 * Ports that were free a moment ago; all different. They are none that an outgoing connection may take meanwhile.
 *
 * @throws when hundreds of attempts in a row find none.
 */
export function freePorts(count: number, hostname = "127.0.0.1"): number[] {
  const listeners: Deno.Listener[] = [];
  for (let attempt = 0; listeners.length < count; attempt++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    try {
      listeners.push(Deno.listen({ hostname, port }));
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse) || attempt > 500) throw error;
    }
  }
  const ports = listeners.map((listener) => (listener.addr as Deno.NetAddr).port);
  for (const listener of listeners) listener.close();
  return ports;
}
