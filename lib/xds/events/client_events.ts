/**
 * Events about the clients of a server, for listeners. Without a listener an event costs nothing; with any number of
 * them it is encoded once.
 *
 * @module
 */
import type { RejectInfo } from "../ads/stream_types.ts";
import type { EventType } from "../protocol/events.ts";
import { CONNECT_EVENTS, DISCONNECT_EVENTS, REJECT_EVENTS } from "../protocol/events.ts";
import type { DebugResource } from "../protocol/questions.ts";
import { type EventClient, type EventRejection, eventResource } from "./event_resource.ts";

/** One event. A listener that keeps the resource instead keeps nothing of the client, which may be gone by then. */
export interface ClientEvent {
  readonly type: EventType;
  readonly client: EventClient;
  /** Encodes it at the first call. */
  resource(): DebugResource;
}

/** Takes events. Must not throw. */
export type EventListener = (event: ClientEvent) => void;

export class ClientEvents {
  readonly #listeners = new Set<EventListener>();
  readonly #clients: () => Iterable<EventClient>;

  /** @param clients Those that are connected. */
  constructor(clients: () => Iterable<EventClient>) {
    this.#clients = clients;
  }

  /** The clients that are connected. */
  connected(): Iterable<EventClient> {
    return this.#clients();
  }

  /** Has events heard from now on; returns the way to stop that. */
  listen(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A client has come. */
  came(client: EventClient): void {
    this.#say(CONNECT_EVENTS, client);
  }

  /** A client has gone. */
  left(client: EventClient): void {
    this.#say(DISCONNECT_EVENTS, client);
  }

  /** A client has rejected a response; the same rejection again is no event. */
  rejected(client: EventClient, rejection: RejectInfo): void {
    if (!rejection.repeated) this.#say(REJECT_EVENTS, client, rejection);
  }

  #say(type: EventType, client: EventClient, rejection?: EventRejection): void {
    let resource: DebugResource | undefined;
    const event = { type, client, resource: () => resource ??= eventResource(client, rejection) };
    for (const listener of this.#listeners) listener(event);
  }
}
