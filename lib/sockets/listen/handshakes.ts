/**
 * TLS handshakes in progress: each takes a place of its server, and has a limit of time. The limit of `node:tls` is one of
 * silence, so that a client that sends a byte now and then is never at its end.
 *
 * @module
 */
import type { Socket } from "node:net";
import { remoteDeadline } from "../patience.ts";
import type { ConnectionPlaces } from "./places.ts";

/** The handshakes of one listener. */
export class Handshakes {
  readonly #running = new Map<string, { readonly socket: Socket; readonly end: () => void }>();
  readonly #timeout: number;
  readonly #places: ConnectionPlaces | undefined;
  readonly #onLate: (address: string) => void;

  /**
   * @param timeout milliseconds in which a handshake must be done
   * @param onLate called with the client's address when it is not
   */
  constructor(timeout: number, places: ConnectionPlaces | undefined, onLate: (address: string) => void) {
    this.#timeout = timeout;
    this.#places = places;
    this.#onLate = onLate;
  }

  /** A connection has come. Returns false when there is no place for it; its socket is then destroyed. */
  begin(socket: Socket): boolean {
    const key = keyOf(socket);
    if (key === undefined || this.#places?.take() === false) {
      socket.destroy();
      return key === undefined;
    }
    const inTime = remoteDeadline(this.#timeout, () => {
      this.#onLate(`${socket.remoteAddress ?? "?"}:${socket.remotePort ?? "?"}`);
      socket.destroy();
      this.#end(key);
    });
    const end = () => {
      inTime();
      this.#places?.leave();
    };
    this.#end(key);
    this.#running.set(key, { socket, end });
    socket.once("close", () => this.#end(key));
    return true;
  }

  /** The handshake of a connection is done, or has failed; gives its place back. */
  end(socket: Socket): void {
    const key = keyOf(socket);
    if (key !== undefined) this.#end(key);
  }

  /** Breaks off what is in progress. */
  stop(): void {
    for (const [key, { socket }] of [...this.#running]) {
      socket.destroy();
      this.#end(key);
    }
  }

  #end(key: string): void {
    const running = this.#running.get(key);
    this.#running.delete(key);
    running?.end();
  }
}

/** Names a connection among those that are open, whichever of its sockets is asked. Undefined: it is closed already. */
function keyOf({ remoteAddress, remotePort, localAddress }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort} ${localAddress}`;
}
