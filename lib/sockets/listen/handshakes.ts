/**
 * TLS handshakes in progress. Each takes a place of the server and has a time limit. `node:tls` limits only silence, so
 * that a client that sends a byte now and then would never reach the limit.
 *
 * When no place is free, the address with the most handshakes loses the oldest handshake to the new one. An honest
 * handshake takes milliseconds. Many clients of one address cost each other places, but no other address.
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
  /** The handshake took too long. */
  late(address: string): void;
  /** The handshake had no place, or lost the place to another handshake. */
  refused(address: string): void;
}

interface Handshake {
  readonly socket: Socket;
  readonly group: string;
  readonly address: string;
  /** Cancels the time limit. */
  readonly inTime: () => void;
}

/** The handshakes of one listener. */
export class Handshakes {
  readonly #running = new Map<string, Handshake>();
  /** The keys of running handshakes by the group of the client's address. */
  readonly #shares = new FairShares<string>();
  readonly #timeout: number;
  readonly #places: ConnectionPlaces | undefined;
  readonly #events: HandshakeEvents;

  /** @param timeout longest time of a handshake, in milliseconds */
  constructor(timeout: number, places: ConnectionPlaces | undefined, events: HandshakeEvents) {
    this.#timeout = timeout;
    this.#places = places;
    this.#events = events;
  }

  /** A connection has come. Without a free place the socket is destroyed. */
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

  /** The handshake of a connection is done, or has failed. The place is free again. */
  end(socket: Socket): void {
    const key = keyOf(socket);
    if (key !== undefined) this.#end(key);
  }

  /** Breaks off handshakes in progress. */
  stop(): void {
    for (const key of [...this.#running.keys()]) this.#breakOff(key);
  }

  /** Takes a place, if necessary from another handshake. */
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

/**
 * The name of an open connection, the same for each of the connection's sockets. Undefined: the connection is already
 * closed.
 */
function keyOf({ remoteAddress, remotePort, localAddress }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort} ${localAddress}`;
}
