/**
 * Ports for programs that cannot be asked which port they got: listeners of a mesh, whose ports are configuration.
 *
 * A port is chosen first and bound later by another program, so between the two another program may take it. Two things
 * keep that from doing harm: all programs of this repository lease the ports that they choose, so they never choose the
 * same one; and work that finds a port taken all the same throws {@linkcode PortTaken} and is run again with others.
 *
 * Permissions: net (0.0.0.0 and 127.255.255.254).
 *
 * @module
 */

/** Below the range from which the system takes ports for outgoing connections (32768 and up on Linux). */
const LOWEST = 12_000, HIGHEST = 32_000;

/** How many ports are tried for one that is free, and how often work is run again. */
const TRIES = 500, RUNS = 5;

/** The leases lie on UDP ports of this address: they are no port of any TCP server, and nothing else uses them. */
const LEASES = "127.255.255.254";

/** A program could not bind a port that was free when it was chosen. */
export class PortTaken extends Error {
  override readonly name = "PortTaken";
}

/** The words of programs that cannot bind: of Envoy, of its rejection of a listener, of this runtime. */
const SAYINGS = /cannot bind|address already in use|AddrInUse|EADDRINUSE/i;

/** Whether a text (the output of a program, a rejection) says that an address is taken. */
export function saysTaken(text: string): boolean {
  return SAYINGS.test(text);
}

/** The ports that this process has leased, also earlier: a program may end after the lease. */
const leased = new Set<number>();

/** Whether a program that this process starts may bind a port: it was leased here, or the system chooses one (0). */
export function mayBind(port: number): boolean {
  return port === 0 || leased.has(port);
}

/** Ports that are free on all addresses, leased until they are disposed of. */
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

/** The result of a function; undefined when the address that it binds is taken. */
function taken<T>(bind: () => T): T | undefined {
  try {
    return bind();
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return undefined;
    throw error;
  }
}

/**
 * Runs work with ports that are free; with others, from the start, when it throws {@linkcode PortTaken}.
 *
 * @throws what the work throws, and {@linkcode PortTaken} when that happens every time
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
