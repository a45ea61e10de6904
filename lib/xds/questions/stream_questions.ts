/**
 * The questions on one stream. A tool's stream may carry only questions; without a proxy, nothing is made for such a
 * stream. On a proxy's stream questions do no harm: a refusal is in the text of an answer, because a status would end
 * the stream.
 *
 * @module
 */
import { Code } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";
import type { AdsRequest } from "../ads/request.ts";
import type { DebugAnswers, DebugResource } from "../protocol/questions.ts";
import type { ConnectRequest } from "../protocol/source.ts";
import { answerRuns } from "./answer.ts";
import type { QuestionPlaces } from "./places.ts";

/** State shared by the streams of one server. */
export interface QuestionDesk {
  /** Undefined: nothing is answered. */
  readonly answers: DebugAnswers | undefined;
  readonly places: QuestionPlaces;
  /** Identifier of this server in answers. Default: none. */
  readonly server?: string | undefined;
}

/** The stream's side. */
export interface QuestionStream {
  readonly delta: boolean;
  /** The client's description of itself. */
  client(): ConnectRequest;
  /** The proven identity of the client, if the stream carries configuration. Undefined: the stream carries none. */
  proxy(): { readonly identity: string | undefined } | undefined;
  send(parts: readonly Uint8Array[], taken: () => void): void;
  /** Ends the stream with the status of an error. */
  fail(error: unknown): void;
  /** An error that the client did not cause. */
  onError(error: unknown): void;
}

/** Start of the nonces of answers. */
const NONCE = "question-";

/** A question without an answer. */
interface OpenQuestion {
  readonly typeUrl: string;
  readonly names: readonly string[];
}

export class StreamQuestions {
  readonly #stream: QuestionStream;
  readonly #desk: QuestionDesk;
  readonly #gone = new AbortController();
  /** True until the client has taken the answer, so that a client that does not read gets no further answers. */
  #asking = false;
  /** True until the client has taken the refusal of a question that came too early. */
  #refusing = false;
  #answered = 0;
  #identity: Promise<string | undefined> | undefined;
  #onIdle: (() => void) | undefined;
  #release: (() => void) | undefined;

  constructor(stream: QuestionStream, desk: QuestionDesk) {
    this.#stream = stream;
    this.#desk = desk;
  }

  /**
   * Takes a request. An answer to a response, or an unsubscription, asks for nothing. A nonce of a foreign form does
   * not answer a response: `istioctl` puts the time there.
   */
  ask({ typeUrl, names, nonce, unsubscribe }: AdsRequest): void {
    if (nonce.startsWith(NONCE) || (names.size === 0 && unsubscribe.size > 0)) return;
    const question: OpenQuestion = { typeUrl, names: [...names] };
    if (this.#asking) return this.#refuseEarly(question);
    this.#asking = true;
    this.#answer(question).catch((error) => this.#refuse(question, error, () => this.#done()));
  }

  /** Calls back when no answer is due. */
  whenIdle(then: () => void): void {
    if (this.#asking) this.#onIdle = then;
    else then();
  }

  /** The stream is over. */
  close(): void {
    this.#gone.abort();
    this.#done();
  }

  async #answer(question: OpenQuestion): Promise<void> {
    const { answers, places } = this.#desk;
    if (answers === undefined) {
      throw new RpcError(Code.UNIMPLEMENTED, "this server answers no questions (ENABLE_DEBUG_ON_HTTP is false)");
    }
    const proxy = this.#stream.proxy();
    const identity = proxy === undefined ? await this.#identify(answers) : proxy.identity;
    if (this.#gone.signal.aborted) return;
    if (identity === undefined) {
      throw new RpcError(Code.UNAUTHENTICATED, "questions are for clients that prove an identity, over TLS");
    }
    this.#release = places.take(identity, !answers.sees(identity, undefined));
    if (this.#release === undefined) {
      throw new RpcError(Code.RESOURCE_EXHAUSTED, "too many questions are being answered, try again later");
    }
    const resources = await answers.answer({ ...question, identity }, this.#gone.signal);
    this.#send(question, resources, () => this.#done());
  }

  /** The identity is proven once for a stream. As on a stream with configuration, a refusal ends the stream. */
  #identify(answers: DebugAnswers): Promise<string | undefined> {
    return this.#identity ??= answers.identify(this.#stream.client());
  }

  #send({ typeUrl }: OpenQuestion, resources: readonly DebugResource[], taken: () => void): void {
    if (this.#gone.signal.aborted) return;
    const nonce = `${NONCE}${++this.#answered}`;
    const head = { delta: this.#stream.delta, typeUrl, nonce, controlPlane: this.#desk.server ?? "" };
    this.#stream.send(answerRuns(head, resources), taken);
  }

  #refuseEarly(question: OpenQuestion): void {
    if (this.#refusing) return;
    this.#refusing = true;
    const error = new RpcError(Code.RESOURCE_EXHAUSTED, "this stream has a question already");
    this.#refuse(question, error, () => this.#refusing = false);
  }

  #refuse(question: OpenQuestion, error: unknown, taken: () => void): void {
    if (this.#gone.signal.aborted) return;
    if (this.#stream.proxy() === undefined) return this.#stream.fail(error);
    if (!(error instanceof RpcError)) this.#stream.onError(error);
    const reason = error instanceof RpcError ? error.message : "internal error";
    const [name = ""] = question.names;
    const runs = [new TextEncoder().encode(`${reason}\n`)];
    this.#send(question, [{ name, typeUrl: question.typeUrl, runs }], taken);
  }

  #done(): void {
    this.#release?.();
    this.#release = undefined;
    this.#asking = false;
    this.#onIdle?.();
    this.#onIdle = undefined;
  }
}
