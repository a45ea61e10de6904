/**
 * The events on one stream: every event of the requested types, in order, as fast as the client takes responses. The
 * events are about the clients about which the receiver may ask questions.
 *
 *     event ──> waits ──the response before is taken──> response
 *
 * @module
 */
import { Code } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";
import type { AdsRequest } from "../ads/request.ts";
import { CONNECT_EVENTS, DISCONNECT_EVENTS, type EventType } from "../protocol/events.ts";
import type { DebugAnswers, DebugResource } from "../protocol/questions.ts";
import { answerRuns } from "../questions/answer.ts";
import type { QuestionPlaces } from "../questions/places.ts";
import type { QuestionStream } from "../questions/stream_questions.ts";
import type { ClientEvent, ClientEvents } from "./client_events.ts";
import { type EventClient, eventResource } from "./event_resource.ts";

/** State shared by the event streams of one server. */
export interface EventDesk {
  /** Undefined: nobody gets events. */
  readonly answers: Pick<DebugAnswers, "identify" | "sees"> | undefined;
  /** Streams at a time. */
  readonly places: QuestionPlaces;
  readonly events: ClientEvents;
}

/** Start of the nonces of responses. */
const NONCE = "event-";

/** Bytes of nodes and texts after which a response ends. */
const MAX_RESPONSE = 1024 * 1024;
/**
 * Most events waiting for a slow client. More events end the stream. After a reconnect the client gets the whole list.
 */
const MAX_WAITING = 4000;
/** Most bytes of waiting events. A node may have megabytes, and its event waits on after the client has left. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

interface WaitingEvent {
  readonly type: EventType;
  readonly resource: DebugResource;
}

/** The events on one stream, from the first request to the end of the stream. */
export class StreamEvents {
  readonly #stream: Omit<QuestionStream, "onError">;
  readonly #desk: EventDesk;
  readonly #asked = new Set<EventType>();
  readonly #types = new Set<EventType>();
  #waiting: WaitingEvent[] = [];
  #waitingBytes = 0;
  /**
   * Unsent clients of the first list. A connected client costs no memory here, and a disconnected client is removed.
   */
  readonly #listed = new Set<EventClient>();
  #admitted: Promise<string> | undefined;
  #unlisten = () => {};
  #release = () => {};
  #next: ReturnType<typeof setTimeout> | undefined;
  #isSending = false;
  #closed = false;
  #sent = 0;

  constructor(stream: Omit<QuestionStream, "onError">, desk: EventDesk) {
    this.#stream = stream;
    this.#desk = desk;
  }

  /** Takes a request. An answer to a response, or a repeated request, asks for nothing. */
  ask(type: EventType, { nonce, names, unsubscribe }: AdsRequest): void {
    // A nonce made up by the client answers no response: `istioctl` and related tools put the time there.
    if (nonce.startsWith(NONCE) || this.#asked.has(type) || (names.size === 0 && unsubscribe.size > 0)) return;
    this.#asked.add(type);
    this.#begin(type).catch((error) => this.#stream.fail(error));
  }

  /** The stream is over. */
  close(): void {
    this.#closed = true;
    this.#unlisten();
    this.#release();
    clearTimeout(this.#next);
    this.#waiting = [];
    this.#listed.clear();
  }

  async #begin(type: EventType): Promise<void> {
    const identity = await (this.#admitted ??= this.#admit());
    if (this.#closed) return;
    this.#types.add(type);
    if (type !== CONNECT_EVENTS) return;
    for (const client of this.#desk.events.connected()) if (this.#sees(identity, client)) this.#listed.add(client);
    this.#send();
  }

  /** @returns the identity of the client @throws {RpcError} when the client may not get events */
  async #admit(): Promise<string> {
    const { answers, places, events } = this.#desk;
    if (answers === undefined) {
      throw new RpcError(Code.UNIMPLEMENTED, "this server has no events (ENABLE_DEBUG_ON_HTTP is false)");
    }
    const identity = this.#stream.proxy()?.identity ?? await answers.identify(this.#stream.client());
    if (identity === undefined) {
      throw new RpcError(Code.UNAUTHENTICATED, "events are for clients that prove an identity, over TLS");
    }
    if (this.#closed) return identity;
    const release = places.take(identity, !answers.sees(identity, undefined));
    if (release === undefined) {
      throw new RpcError(Code.RESOURCE_EXHAUSTED, "too many clients get events, try again later");
    }
    this.#release = release;
    this.#unlisten = events.listen((event) => {
      if (event.type === DISCONNECT_EVENTS) this.#listed.delete(event.client);
      if (this.#types.has(event.type) && this.#sees(identity, event.client)) this.#add(event);
    });
    return identity;
  }

  #sees(identity: string, { stream }: EventClient): boolean {
    return this.#desk.answers!.sees(identity, stream?.view.identity);
  }

  #add({ type, resource }: ClientEvent): void {
    const event = { type, resource: resource() };
    if (this.#waiting.length >= MAX_WAITING) return this.#giveUp(`${MAX_WAITING} events`);
    this.#waitingBytes += lengthOf(event.resource);
    if (this.#waitingBytes > MAX_WAITING_BYTES) return this.#giveUp(`${MAX_WAITING_BYTES >> 20} MiB of events`);
    this.#waiting.push(event);
    this.#send();
  }

  #giveUp(what: string): void {
    this.#stream.fail(new RpcError(Code.RESOURCE_EXHAUSTED, `the client has not taken ${what}`));
    this.close();
  }

  #send(): void {
    if (this.#isSending || this.#closed) return;
    if (this.#listed.size > 0) return this.#respond(CONNECT_EVENTS, this.#nextOfList());
    const [first] = this.#waiting;
    if (first !== undefined) this.#respond(first.type, this.#nextOfType(first.type));
  }

  #nextOfList(): DebugResource[] {
    const resources: DebugResource[] = [];
    let bytes = 0;
    for (const client of this.#listed) {
      if (bytes > MAX_RESPONSE) break;
      const resource = eventResource(client);
      resources.push(resource);
      bytes += lengthOf(resource);
      this.#listed.delete(client);
    }
    return resources;
  }

  #nextOfType(type: EventType): DebugResource[] {
    const resources: DebugResource[] = [];
    let bytes = 0;
    for (const event of this.#waiting) {
      if (event.type !== type || bytes > MAX_RESPONSE) break;
      resources.push(event.resource);
      bytes += lengthOf(event.resource);
    }
    this.#waiting.splice(0, resources.length);
    this.#waitingBytes -= bytes;
    return resources;
  }

  #respond(typeUrl: EventType, resources: readonly DebugResource[]): void {
    this.#isSending = true;
    const nonce = `${NONCE}${++this.#sent}`;
    const { delta } = this.#stream;
    this.#stream.send(answerRuns({ delta, typeUrl, nonce }, resources), () => this.#taken());
  }

  /** Other work has its turn before the next response is made. */
  #taken(): void {
    this.#isSending = false;
    if (this.#closed || this.#waiting.length + this.#listed.size === 0) return;
    this.#next = setTimeout(() => this.#send(), 0);
  }
}

function lengthOf({ runs }: DebugResource): number {
  return runs.reduce((sum, { length }) => sum + length, 0);
}
