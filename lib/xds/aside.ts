/**
 * Requests on a stream that ask for no resources: questions, and subscriptions to events about clients. A tool's stream
 * may carry only such requests. Other streams carry them beside a client's configuration.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { structText } from "../pb/wellknown.ts";
import type { AdsRequest } from "./ads/request.ts";
import { type EventDesk, StreamEvents } from "./events/stream_events.ts";
import { EVENT_GENERATORS, isEventType } from "./protocol/events.ts";
import { readNode } from "./protocol/node.ts";
import { isDebugType } from "./protocol/questions.ts";
import type { ConnectRequest } from "./protocol/source.ts";
import { type QuestionDesk, type QuestionStream, StreamQuestions } from "./questions/stream_questions.ts";

type Node = envoy.config.core.v3.Node;

/** Whether requests of a type may ask for something other than resources. */
export function isAside(typeUrl: string): boolean {
  return isDebugType(typeUrl) || isEventType(typeUrl);
}

/** State shared by the streams of one server. */
export interface AsideDesks {
  readonly questions: QuestionDesk;
  readonly events: EventDesk;
}

/** The stream's side. */
export interface AsideStream extends Omit<QuestionStream, "client"> {
  /** The node of a stream that carries configuration. Undefined: the stream carries none. */
  node(): Node | undefined;
  /** The client's `connect` request with a node. */
  client(node: Node): ConnectRequest;
  /** A client with configuration on its stream gets no events. */
  onRefusedEvents(error: unknown): void;
}

/** Most bytes of a node that are kept for a later request. */
const MAX_KEPT_NODE = 64 * 1024;

export class AsideRequests {
  readonly #stream: AsideStream;
  readonly #desks: AsideDesks;
  /** The node of the stream's first request, if the first request was a question or a subscription to events. */
  #node: Uint8Array | undefined;
  #questions: StreamQuestions | undefined;
  #events: StreamEvents | undefined;

  constructor(stream: AsideStream, desks: AsideDesks) {
    this.#stream = stream;
    this.#desks = desks;
  }

  /** Takes a question or a subscription to events; false: the request asks for resources. */
  take(request: AdsRequest): boolean {
    const { typeUrl } = request;
    if (isDebugType(typeUrl)) {
      this.#keepNode(request);
      this.#questions ??= new StreamQuestions(this.#asking(request), this.#desks.questions);
      this.#questions.ask(request);
      return true;
    }
    if (!isEventType(typeUrl)) return false;
    const events = this.#events ??= this.#startEvents(request);
    events?.ask(typeUrl, request);
    return events !== undefined;
  }

  /** The node of the first request, once. */
  takeNode(): Uint8Array | undefined {
    const node = this.#node;
    this.#node = undefined;
    return node;
  }

  /** Calls back when no answer is due any more. False: the stream has asked no question. */
  whenIdle(then: () => void): boolean {
    this.#questions?.whenIdle(then);
    return this.#questions !== undefined;
  }

  /** The stream is over. */
  close(): void {
    this.#questions?.close();
    this.#events?.close();
  }

  /** Undefined: the client is not a known reader of events. For other clients the types of events are unknown types. */
  #startEvents(request: AdsRequest): StreamEvents | undefined {
    this.#keepNode(request);
    const asking = this.#asking(request);
    if (!EVENT_GENERATORS.has(structText(asking.client().node.metadata, "GENERATOR"))) return undefined;
    // A stream that carries configuration does not end because of events.
    const fail = (error: unknown) =>
      asking.proxy() === undefined ? asking.fail(error) : this.#stream.onRefusedEvents(error);
    return new StreamEvents({ ...asking, fail }, this.#desks.events);
  }

  /** The first request of a stream has the node. */
  #keepNode({ node }: AdsRequest): void {
    const isFirst = this.#stream.node() === undefined && node.length > 0;
    if (isFirst && node.length <= MAX_KEPT_NODE) this.#node = node.slice();
  }

  #asking({ node }: AdsRequest): QuestionStream {
    const stream = this.#stream;
    return {
      delta: stream.delta,
      client: () => stream.client(stream.node() ?? readNode(this.#node ?? node)),
      proxy: () => stream.proxy(),
      send: (parts, taken) => stream.send(parts, taken),
      fail: (error) => stream.fail(error),
      onError: (error) => stream.onError(error),
    };
  }
}
