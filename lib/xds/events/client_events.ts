/**
 * What happens to the clients of a server, for whoever listens. Without a listener an event costs nothing.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { RejectInfo } from "../ads/stream_types.ts";
import type { EventType } from "../protocol/events.ts";
import { CONNECT_EVENTS, DISCONNECT_EVENTS, REJECT_EVENTS } from "../protocol/events.ts";

/** A client as events show it. */
export interface EventClient {
  readonly node: envoy.config.core.v3.Node | undefined;
  readonly stream: { readonly view: { readonly identity?: string } } | undefined;
}

/** One event; a rejection has its text. */
export interface ClientEvent {
  readonly type: EventType;
  readonly client: EventClient;
  readonly rejection?: Pick<RejectInfo, "typeUrl" | "code" | "message">;
}

/** Takes events. Must not throw. */
export type EventListener = (event: ClientEvent) => void;

/** See the module. */
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
    this.#say({ type: CONNECT_EVENTS, client });
  }

  /** A client has gone. */
  left(client: EventClient): void {
    this.#say({ type: DISCONNECT_EVENTS, client });
  }

  /** A client has rejected a response; the same rejection again is no event. */
  rejected(client: EventClient, rejection: RejectInfo): void {
    if (!rejection.repeated) this.#say({ type: REJECT_EVENTS, client, rejection });
  }

  #say(event: ClientEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
