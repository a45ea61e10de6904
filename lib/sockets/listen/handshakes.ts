/**
 * TLS handshakes in progress: each takes a place of its server, and has a limit of time. The limit of `node:tls` is one of
 * silence, so that a client that sends a byte now and then is never at its end.
 *
 * When no place is free, the oldest handshake of the address that has most of them gives its place to the new one: an
 * honest handshake takes milliseconds, and many clients of one address cost each other places, and no other address.
 *
 * @module
 */
import type { Socket } from "node:net";
import { remoteDeadline } from "../patience.ts";
import { addressGroup } from "../transport/address_group.ts";
import { FairShares } from "./fair_shares.ts";
import type { ConnectionPlaces } from "./places.ts";

/** Callbacks for handshakes; each is called with the client's address. */
export interface HandshakeEvents {
  /** It was not done in time. */
  late(address: string): void;
  /** There was no place for it, or another one got its place. */
  refused(address: string): void;
}

/** One handshake in progress. */
interface Handshake {
  readonly socket: Socket;
  readonly group: string;
  readonly address: string;
  /** Ends its limit of time. */
  readonly inTime: () => void;
}

/** The handshakes of one listener. */
export class Handshakes {
  readonly #running = new Map<string, Handshake>();
  /** Their keys by the group of the client's address. */
  readonly #shares = new FairShares<string>();
  readonly #timeout: number;
  readonly #places: ConnectionPlaces | undefined;
  readonly #events: HandshakeEvents;

  /** @param timeout milliseconds in which a handshake must be done */
  constructor(timeout: number, places: ConnectionPlaces | undefined, events: HandshakeEvents) {
    this.#timeout = timeout;
    this.#places = places;
    this.#events = events;
  }

  /** A connection has come. When there is no place for it its socket is destroyed. */
  begin(socket: Socket): void {
    const key = keyOf(socket);
    if (key === undefined) return void socket.destroy();
    this.#end(key);
    const address = `${socket.remoteAddress}:${socket.remotePort}`;
    const group = addressGroup(address);
    if (!this.#takePlace()) {
      socket.destroy();
      return this.#events.refused(address);
    }
    const inTime = remoteDeadline(this.#timeout, () => {
      this.#events.late(address);
      this.#breakOff(key);
    });
    this.#running.set(key, { socket, group, address, inTime });
    this.#shares.add(group, key);
    socket.once("close", () => this.#end(key));
  }

  /** The handshake of a connection is done, or has failed; gives its place back. */
  end(socket: Socket): void {
    const key = keyOf(socket);
    if (key !== undefined) this.#end(key);
  }

  /** Breaks off handshakes in progress. */
  stop(): void {
    for (const key of [...this.#running.keys()]) this.#breakOff(key);
  }

  /** Takes a place, if need be that of another handshake. */
  #takePlace(): boolean {
    if (this.#places === undefined || this.#places.take()) return true;
    const loser = this.#shares.oldestOfLargest;
    const { address } = (loser === undefined ? undefined : this.#running.get(loser)) ?? {};
    if (loser === undefined || address === undefined) return false;
    this.#breakOff(loser);
    this.#events.refused(address);
    return this.#places.take();
  }

  #breakOff(key: string): void {
    this.#running.get(key)?.socket.destroy();
    this.#end(key);
  }

  #end(key: string): void {
    const handshake = this.#running.get(key);
    if (handshake === undefined) return;
    this.#running.delete(key);
    this.#shares.delete(handshake.group, key);
    handshake.inTime();
    this.#places?.leave();
  }
}

/** Names a connection among those that are open, whichever of its sockets is asked. Undefined: it is closed already. */
function keyOf({ remoteAddress, remotePort, localAddress }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort} ${localAddress}`;
}
