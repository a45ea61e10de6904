/**
 * Events about the clients of a server, for listeners. Without a listener an event costs nothing. For any number of
 * listeners an event is encoded once.
 *
 * @module
 */
import type { RejectInfo } from "../ads/stream_types.ts";
import type { EventType } from "../protocol/events.ts";
import { CONNECT_EVENTS, DISCONNECT_EVENTS, REJECT_EVENTS } from "../protocol/events.ts";
import type { DebugResource } from "../protocol/questions.ts";
import { type EventClient, type EventRejection, eventResource } from "./event_resource.ts";

/**
 * An event. To keep an event, a listener keeps the resource: the event itself holds on to the client, even after the
 * client has gone.
 */
export interface ClientEvent {
  readonly type: EventType;
  readonly client: EventClient;
  /** Encodes the event at the first call. */
  resource(): DebugResource;
}

/** Takes events. Must not throw. */
export type EventListener = (event: ClientEvent) => void;

export class ClientEvents {
  readonly #listeners = new Set<EventListener>();
  readonly #clients: () => Iterable<EventClient>;

  /** @param clients The connected clients. */
  constructor(clients: () => Iterable<EventClient>) {
    this.#clients = clients;
  }

  connected(): Iterable<EventClient> {
    return this.#clients();
  }

  /** Calls the listener with every event from now on; returns a function that ends the calls. */
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

  /** A client has rejected a response. A repeated rejection is not announced again. */
  rejected(client: EventClient, rejection: RejectInfo): void {
    if (!rejection.repeated) this.#say(REJECT_EVENTS, client, rejection);
  }

  #say(type: EventType, client: EventClient, rejection?: EventRejection): void {
    let resource: DebugResource | undefined;
    const event = { type, client, resource: () => resource ??= eventResource(client, rejection) };
    for (const listener of this.#listeners) listener(event);
  }
}
