/**
 * Types of requests for events about clients, with Istio's names. Clients with `GENERATOR: event` in the metadata of
 * their node may ask for events. So may control planes that ask for configuration (`GENERATOR: api`).
 *
 * @module
 */

/** Nodes of clients: first of all connected clients, then of each new client. */
export const CONNECT_EVENTS = "istio.io/connect";
/** Nodes of disconnected clients. */
export const DISCONNECT_EVENTS = "istio.io/disconnect";
/** Rejections, as discovery requests with the node's id, the type and the error. */
export const REJECT_EVENTS = "istio.io/nack";

const TYPES = [CONNECT_EVENTS, DISCONNECT_EVENTS, REJECT_EVENTS] as const;

/** Name of a type of events. */
export type EventType = (typeof TYPES)[number];

/** Whether requests of a type ask for events. */
export function isEventType(typeUrl: string): typeUrl is EventType {
  return (TYPES as readonly string[]).includes(typeUrl);
}

/** Generators that take events. */
export const EVENT_GENERATORS: ReadonlySet<unknown> = new Set(["event", "api"]);
