/**
 * The events on one stream: of each type that the client asks for, in their order, as fast as it takes them. It sees the
 * clients that it may ask questions about.
 *
 *     event ──> waits ──the response before is taken──> response
 *
 * @module
 */
import { Code } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";
import type { AdsRequest } from "../ads/request.ts";
import { CONNECT_EVENTS, type EventType } from "../protocol/events.ts";
import type { DebugAnswers, DebugResource } from "../protocol/questions.ts";
import { answerRuns } from "../questions/answer.ts";
import type { QuestionPlaces } from "../questions/places.ts";
import type { QuestionStream } from "../questions/stream_questions.ts";
import type { ClientEvent, ClientEvents } from "./client_events.ts";
import { eventResource } from "./event_resource.ts";

/** State that the event streams of one server share. */
export interface EventDesk {
  /** Undefined: nobody gets events. */
  readonly answers: Pick<DebugAnswers, "identify" | "sees"> | undefined;
  /** Streams at a time. */
  readonly places: QuestionPlaces;
  readonly events: ClientEvents;
}

/** Begin of the nonces of responses. */
const NONCE = "event-";

/** Bytes of nodes and texts after which a response ends. */
const MAX_RESPONSE = 1024 * 1024;
/** Events that wait for a client that does not read; then its stream ends, and it gets the whole list when it returns. */
const MAX_WAITING = 4000;

/** See the module. */
export class StreamEvents {
  readonly #stream: Omit<QuestionStream, "onError">;
  readonly #desk: EventDesk;
  readonly #asked = new Set<EventType>();
  readonly #types = new Set<EventType>();
  #waiting: ClientEvent[] = [];
  /** Events of the first list that wait: as many as there are clients, so that they do not count. */
  #listed = 0;
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

  /** Takes a request. One that answers a response, or asks again, asks for nothing. */
  ask(type: EventType, { nonce, names, unsubscribe }: AdsRequest): void {
    // A nonce of the client's own answers nothing: `istioctl` and its kin put the time there.
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
  }

  async #begin(type: EventType): Promise<void> {
    const identity = await (this.#admitted ??= this.#admit());
    if (this.#closed) return;
    this.#types.add(type);
    if (type !== CONNECT_EVENTS) return;
    for (const client of this.#desk.events.connected()) {
      if (!this.#sees(identity, { type, client })) continue;
      this.#waiting.push({ type, client });
      this.#listed++;
    }
    this.#send();
  }

  /** @returns the identity of the client @throws {RpcError} when it gets no events */
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
    const release = places.take(identity);
    if (release === undefined) {
      throw new RpcError(Code.RESOURCE_EXHAUSTED, "too many clients get events, try again later");
    }
    this.#release = release;
    this.#unlisten = events.listen((event) => {
      if (this.#types.has(event.type) && this.#sees(identity, event)) this.#add(event);
    });
    return identity;
  }

  #sees(identity: string, { client: { stream } }: ClientEvent): boolean {
    return this.#desk.answers!.sees(identity, stream?.view.identity);
  }

  #add(event: ClientEvent): void {
    if (this.#waiting.length - this.#listed >= MAX_WAITING) {
      this.#stream.fail(new RpcError(Code.RESOURCE_EXHAUSTED, `the client has not taken ${MAX_WAITING} events`));
      return this.close();
    }
    this.#waiting.push(event);
    this.#send();
  }

  /** Sends what is of one type, up to the length of a response. */
  #send(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#isSending || this.#closed) return;
    const resources: DebugResource[] = [];
    let bytes = 0;
    for (const event of this.#waiting) {
      if (event.type !== first.type || bytes > MAX_RESPONSE) break;
      const resource = eventResource(event);
      resources.push(resource);
      bytes += resource.runs.reduce((sum, { length }) => sum + length, 0);
    }
    this.#waiting.splice(0, resources.length);
    this.#listed = Math.max(0, this.#listed - resources.length);
    this.#isSending = true;
    const nonce = `${NONCE}${++this.#sent}`;
    const { delta } = this.#stream;
    this.#stream.send(answerRuns({ delta, typeUrl: first.type, nonce }, resources), () => this.#taken());
  }

  /** Others have their turn before the next response is made. */
  #taken(): void {
    this.#isSending = false;
    if (this.#closed || this.#waiting.length === 0) return;
    this.#next = setTimeout(() => this.#send(), 0);
  }
}
