/**
 * The listening sockets of a server, opened so that all addresses that cannot be used are reported at once.
 *
 * @module
 */
import type { Listener } from "../sockets/listen/tcp.ts";
import { listenFault, type PortOption, StartError, type StartFault } from "./settings/start_error.ts";

/** Opens sockets one after the other, and reports all addresses that cannot be used at once. */
export class Sockets {
  readonly #faults: StartFault[] = [];
  readonly #addresses = new Set<string>();
  #cause: unknown;

  /** The port; 0 of one that could not be had, until {@linkcode Sockets.check} says so. */
  async open(
    option: PortOption,
    address: string,
    listening: () => Promise<Listener>,
  ): Promise<number> {
    try {
      const { port } = await listening();
      this.#addresses.add(address);
      return port;
    } catch (error) {
      const fault = listenFault(option, address, error, this.#addresses.has(address));
      if (fault === undefined) throw error;
      this.#faults.push(fault);
      this.#cause ??= error;
      return 0;
    }
  }

  /** Faults of sockets that could not be opened. */
  get faults(): readonly StartFault[] {
    return this.#faults;
  }

  /** @throws {StartError} When a socket could not be opened. */
  check(): void {
    if (this.#faults.length > 0) throw new StartError(this.#faults, this.#cause);
  }
}
