/**
 * Ports for programs that cannot report a chosen port: listeners of a mesh, whose ports are configuration.
 *
 * A port is chosen first and bound later by another program, so in between a third program may take the port. Two
 * measures help. All programs of this repository lease chosen ports, so they never choose the same port. Work that
 * still finds a port taken throws {@linkcode PortTaken} and is run again with other ports.
 *
 * Permissions: net (0.0.0.0 and 127.255.255.254).
 *
 * @module
 */

/** Below the range from which the system takes ports for outgoing connections (32768 and up on Linux). */
const LOWEST = 12_000, HIGHEST = 32_000;

/** Number of tries per free port, and number of runs of the work. */
const TRIES = 500, RUNS = 5;

/** Leases are UDP ports of this address, which no TCP server and no other program uses. */
const LEASES = "127.255.255.254";

/** A program could not bind a port that was free when chosen. */
export class PortTaken extends Error {
  override readonly name = "PortTaken";
}

/** Messages of programs that cannot bind: of Envoy, of Envoy's rejection of a listener, of this runtime. */
const SAYINGS = /cannot bind|address already in use|AddrInUse|EADDRINUSE/i;

/** Whether a text (a program's output, a rejection) reports a taken address. */
export function saysTaken(text: string): boolean {
  return SAYINGS.test(text);
}

/** All ports leased by this process, including past leases: a program may end after the lease. */
const leased = new Set<number>();

/** Whether a program started by this process may bind a port: a leased port, or a port chosen by the system (0). */
export function mayBind(port: number): boolean {
  return port === 0 || leased.has(port);
}

/** Ports that are free on all addresses, leased until disposal. */
export class PortLease implements Disposable {
  readonly ports: readonly number[];
  readonly #leases: Deno.DatagramConn[] = [];

  /** @throws Error when hundreds of tries found too few */
  constructor(count: number) {
    const ports: number[] = [];
    for (let tries = 0; ports.length < count; tries++) {
      if (tries === TRIES) {
        this[Symbol.dispose]();
        throw new Error(`ports: ${ports.length} of ${count} were free in ${TRIES} tries`);
      }
      const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
      const lease = taken(() => Deno.listenDatagram({ transport: "udp", hostname: LEASES, port }));
      if (lease === undefined) continue;
      const probe = taken(() => Deno.listen({ hostname: "0.0.0.0", port }));
      probe?.close();
      if (probe === undefined) {
        lease.close();
        continue;
      }
      this.#leases.push(lease);
      leased.add(port);
      ports.push(port);
    }
    this.ports = ports;
  }

  [Symbol.dispose](): void {
    for (const lease of this.#leases.splice(0)) lease.close();
  }
}

/** The result of a function, or undefined if the address to bind is taken. */
function taken<T>(bind: () => T): T | undefined {
  try {
    return bind();
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return undefined;
    throw error;
  }
}

/**
 * Runs work with free ports, and again from the start with other ports if the work throws {@linkcode PortTaken}.
 *
 * @throws Errors of the work, and {@linkcode PortTaken} if every run finds a port taken.
 */
export async function withPorts<T>(count: number, work: (ports: readonly number[]) => Promise<T>): Promise<T> {
  for (let run = 1;; run++) {
    using lease = new PortLease(count);
    try {
      return await work(lease.ports);
    } catch (error) {
      if (!(error instanceof PortTaken) || run === RUNS) throw error;
    }
  }
}
