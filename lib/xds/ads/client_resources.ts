/**
 * The resources of one type that a client has and should have, and the responses that bring it from one to the other.
 *
 *               the set changes                      response
 *     settled ──────────────────> due ──────────────────────────────> in flight
 *        ^                        ^ ^                                  │  │  │
 *        │                        │ └── NACK: other resources, or halves │  │
 *        └──────── ACK ───────────┼───────────────────────────────────────┘  │
 *                                 │                                          │
 *             the set changes, or │         NACK: nothing is left to try     │
 *             an offer is due     └───────────── held <──────────────────────┘
 *
 * The state is level-triggered: `sent` (the resources that the client has) and `want` (the resources that the client
 * should have) are stacks of shared immutable sets. The difference is sent when no response of the type is in flight,
 * so changes during a response merge by themselves.
 *
 * Invariants, which tests hold after every event:
 *
 * - `acknowledged` is `sent`, unless a response is in flight.
 * - Settled: `sent` holds every resource of `want`, and nothing is sent.
 * - Held: the client has rejected a response that led to this very `want`. Nothing is sent until `want` is another one.
 * - A finite `portion` means that a rejected resource is searched for (see `division.ts`).
 * - A version that the client rejected and that is not searched for any more is not part of `sent`, unless the client
 *   asked for the resource again, the version is offered again, or nothing can be left out (`hasUnknown`).
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { NameSet } from "../../resource/name_set.ts";
import type { ResourceSet } from "../../resource/set.ts";
import { Division } from "./division.ts";
import type { InFlight, ResponseAnswer, SentResponse } from "./in_flight.ts";
import { Lack, type LackedObjects } from "./lacking.ts";
import { LateRejection } from "./late_rejection.ts";
import type { EarlierVersion } from "../protocol/source.ts";
import { rejectedResources, RejectedVersions } from "./rejected.ts";
import type { AdsRequest, ClientError } from "./request.ts";
import { EMPTY_STACK, excludeFromStack, findInStack, sameStack, type SetStack } from "./set_stack.ts";

/** The states of one type on one stream, as in the picture above. */
export type ExchangeState = "settled" | "due" | "in flight" | "held";

const NONE: ReadonlySet<string> = new Set();

export class ClientResources {
  /** The client's resources, as far as they were sent. */
  sent: SetStack = EMPTY_STACK;
  /** The resources that the client should have. */
  want: SetStack = EMPTY_STACK;
  /** The response that the client has not answered. */
  inFlight: InFlight | undefined;
  /** Whether the client has answered a response. */
  established = false;
  nonceSent = "";
  nonceAcked = "";
  /** Milliseconds since the epoch; 0 = never. */
  sentAt = 0;
  ackedAt = 0;
  lastError = "";
  /** Resources that the last rejection named; none after the next answer. */
  blamed: readonly EncodedResource[] = [];
  /** Names of resources of which the client has other versions from an earlier stream. */
  older: ReadonlySet<string> = NONE;
  /** Whether the client has resources from an earlier stream, and nobody knows which. */
  hasUnknown = false;
  /** The response that was rejected last, while nothing else was answered. */
  #refused: InFlight | undefined;
  /** The `want` at which nothing was left to send. */
  #settledAt: SetStack | undefined;
  /** The `want` that a rejected response led to. */
  #heldAt: SetStack | undefined;
  /** The inputs from which `want` was made. */
  #wantOf: { selected: SetStack; rejections: number } | undefined;
  readonly #division = new Division();
  readonly #late = new LateRejection();
  readonly #rejected = new RejectedVersions();
  readonly #lack = new Lack();
  readonly #whole: boolean;
  readonly #divisible: boolean;

  /**
   * @param whole each response says that resources that it lacks do not exist
   * @param single each response has one resource, so that no halves are sent after a rejection
   */
  constructor(whole: boolean, single: boolean) {
    this.#whole = whole;
    this.#divisible = !whole && !single;
  }

  get state(): ExchangeState {
    if (this.inFlight !== undefined) return "in flight";
    if (this.want === this.#settledAt) return "settled";
    return this.#isHeld ? "held" : "due";
  }

  /** The client's selection, with the resources that the client has rejected. */
  get selected(): SetStack {
    return this.#wantOf?.selected ?? this.want;
  }

  /** Whether a difference may have to be sent, now or after the answer to the response in flight. */
  get differ(): boolean {
    // Not by `state`: every stream asks this in each push.
    return this.want !== this.#settledAt && this.want !== this.#heldAt;
  }

  get #isHeld(): boolean {
    return this.#heldAt !== undefined && this.#heldAt === this.want;
  }

  /** Most bytes of resources in a response. */
  get portion(): number {
    return this.#division.portion;
  }

  /** Whether the client has rejected a version that has not changed since, or a response that it had acknowledged. */
  get rejecting(): boolean {
    return this.#late.stands || this.#rejected.size > 0 || this.#isHeld;
  }

  /** Whether the last rejection names the resource that was searched for: that is news, in the same words. */
  get hasFound(): boolean {
    return this.blamed.length > 0 && this.#division.isOn;
  }

  /** The resources that the client has acknowledged. */
  get acknowledged(): SetStack {
    return this.inFlight?.before ?? this.sent;
  }

  /** The resources of the response that was rejected last. */
  get refusedWhole(): readonly EncodedResource[] {
    return this.#refused?.changed.flat() ?? [];
  }

  /**
   * The objects whose resources the client lacks. To be asked after a rejection: until then the resources that are not
   * acknowledged are on their way.
   */
  lacked(): LackedObjects {
    const { state } = this;
    const rest = state === "settled" || state === "held" ? this.lastError : "";
    // A late rejection that names nothing counts against all that the client took with that response.
    const late = this.#late.stands ? (this.blamed.length > 0 ? this.blamed : this.#late.taken) : undefined;
    return this.#lack.find(
      { has: this.acknowledged, wants: this.selected, late, lateWords: this.lastError },
      this.#rejected.revision + rest,
      ({ name }) => this.#rejected.words(name) ?? rest,
    );
  }

  /** The client's words about a rejected resource. Undefined: the client has not rejected the resource. */
  rejectionOf(name: string): string | undefined {
    const words = this.#rejected.words(name);
    if (words !== undefined) return words;
    const isNamed = this.#isHeld
      ? findInStack(this.want, name)?.version !== findInStack(this.acknowledged, name)?.version
      : this.#late.stands && this.blamed.some((one) => one.name === name);
    return isNamed ? this.lastError : undefined;
  }

  /** The version of a resource that the client has. */
  earlier(name: string): EarlierVersion {
    return findInStack(this.sent, name) ?? (this.hasUnknown || this.older.has(name) ? "unknown" : undefined);
  }

  /**
   * Takes the present selection of the client's subscription; compared by identity.
   *
   * @returns false when the selection is the same as before
   */
  select(selected: SetStack): boolean {
    const rejections = this.#rejected.revision;
    if (this.#wantOf?.selected === selected && this.#wantOf.rejections === rejections) return false;
    this.#wantOf = { selected, rejections };
    let want = selected;
    if (this.#rejected.size > 0) want = this.#rejected.leaveOut(want);
    if (!sameStack(want, this.want)) this.want = want;
    return true;
  }

  /** due -> settled: nothing is left to send. */
  settle(): void {
    this.#division.end();
    this.sent = this.want;
    this.#settledAt = this.want;
  }

  /** due -> in flight: records a response. @param next the client's resources after the response */
  dispatched(inFlight: SentResponse, next: SetStack): void {
    this.inFlight = { ...inFlight, before: this.sent, want: this.want };
    this.sent = next;
    this.#heldAt = undefined;
    if (next === this.want) this.#settledAt = next;
    this.nonceSent = inFlight.nonce;
    this.sentAt = Date.now();
  }

  /** The client has these resources, and no response is in flight. @param hasUnknown see the field */
  begin(sent: SetStack, hasUnknown = false): void {
    this.inFlight = undefined;
    this.sent = sent;
    this.hasUnknown = hasUnknown;
  }

  /** The client lost or gave up a part of its resources without a response. */
  change(change: (stack: SetStack) => SetStack): void {
    const sent = change(this.sent);
    if (this.inFlight !== undefined) this.inFlight.before = change(this.inFlight.before);
    if (sent === this.sent) return;
    this.sent = sent;
    this.#settledAt = undefined;
    this.#heldAt = undefined;
  }

  /**
   * The names of the resources that the client has, has until it takes the response in flight, or takes with this
   * response: the response may have been on its way when the client subscribed.
   *
   * @param names Names or further names of the resources. Default: all resources.
   */
  names(names?: NameSet): string[] {
    const select = (set: ResourceSet) => names === undefined ? set : names.select(set);
    const stacks = this.inFlight === undefined ? [this.sent] : [this.sent, this.inFlight.before];
    const held = stacks.flatMap((stack) => stack.flatMap(({ set }) => [...select(set)]));
    const coming = (this.inFlight?.changed.flat() ?? []).filter(({ name, aliases }) =>
      names === undefined || names.has(name) || aliases.some((alias) => names.has(alias))
    );
    return [...held, ...coming].map(({ name }) => name);
  }

  /** The names of the resources of groups of sets, of the same resources as {@linkcode ClientResources.names}. */
  namesOfGroups(isOf: (group: string) => boolean): string[] {
    const stacks = this.inFlight === undefined ? [this.sent] : [this.sent, this.inFlight.before, this.inFlight.want];
    const ofGroups = stacks.flatMap((stack) => stack.filter(({ group }) => isOf(group)));
    return ofGroups.flatMap(({ set }) => [...set].map(({ name }) => name));
  }

  /**
   * The client has lost these resources, or never took them: they are sent again though nothing changed. A late
   * rejection of these resources alone is over.
   */
  forget(names: NameSet): void {
    this.#rejected.askedAgain(names);
    if (this.blamed.length > 0 && this.blamed.every(({ name }) => names.has(name))) this.#endLate();
    this.change((stack) => excludeFromStack(stack, names));
  }

  /** Forgets groups of sets whole, without telling the client that their resources are gone. */
  forgetGroups(drop: (group: string) => boolean): void {
    this.change((stack) => stack.some(({ group }) => drop(group)) ? stack.filter(({ group }) => !drop(group)) : stack);
  }

  /** Takes the part of a request that answers a response. */
  answered({ nonce, error }: AdsRequest): ResponseAnswer {
    const response = this.inFlight;
    if (response === undefined || response.nonce !== nonce) return this.#answeredAgain(nonce, error);
    this.inFlight = undefined;
    this.established = true;
    this.blamed = [];
    if (error === undefined) this.#accept(response);
    else this.#reject(response, error);
    return error === undefined ? "ack" : "nack";
  }

  /** in flight -> due or settled. */
  #accept(response: InFlight): void {
    this.#refused = undefined;
    if (this.#whole) this.hasUnknown = false;
    this.nonceAcked = response.nonce;
    this.ackedAt = Date.now();
    this.#division.acknowledged(!this.differ);
    this.#late.acknowledged(response);
    if (!this.rejecting && !this.#division.isOn) this.lastError = "";
  }

  /**
   * in flight -> due or held. A rejected response counts as not sent. A resource that the client names as bad is not
   * sent again before it changes; the rest of the response goes out again without it. A bad resource that is not named
   * (virtual hosts, for example, never are) is searched for by halves; where halves are impossible, the type is held.
   */
  #reject(response: InFlight, { message, whole }: ClientError): void {
    this.lastError = message;
    this.sent = response.before;
    this.#refused = response;
    this.#settledAt = undefined;
    const changed = response.changed.flat();
    this.blamed = rejectedResources(whole, changed);
    const { mayGoOn } = this.#division;
    const divides = mayGoOn && this.blamed.length === 0 && this.#divisible && changed.length > 1;
    this.#division.rejected(divides ? changed.reduce((sum, { size }) => sum + size, 0) : undefined);
    if (mayGoOn) this.leaveOut(this.blamed, message);
    // A change since the response is another state, which the client has not seen.
    if (!divides) this.#heldAt = response.want;
  }

  #answeredAgain(nonce: string, error: AdsRequest["error"]): ResponseAnswer {
    if (error === undefined || nonce !== this.nonceAcked || this.#late.isRepeated(nonce)) {
      return nonce === this.nonceSent ? "none" : "stale";
    }
    this.lastError = error.message;
    this.blamed = this.#late.take(nonce, this.inFlight, error.whole);
    return "late nack";
  }

  /**
   * Takes the answer of a request that changes no subscription. Such a request that repeats an acknowledgement accepts
   * the response that was rejected late; beside a change, the nonce says nothing about the response.
   */
  answeredAlone(answer: ResponseAnswer | "first", { error }: AdsRequest): void {
    if (answer === "none" && error === undefined) this.#endLate();
  }

  #endLate(): void {
    if (!this.#late.stands) return;
    this.#late.end();
    this.blamed = [];
    if (!this.rejecting) this.lastError = "";
  }

  /**
   * Leaves resources out of responses, or keeps their earlier versions there, until they change. A whole response takes
   * away every resource that it lacks. A version from an earlier stream therefore stays with the client, and so does
   * everything else until something changes.
   */
  leaveOut(resources: readonly EncodedResource[], message: string): void {
    const isLost = ({ name }: EncodedResource) => findInStack(this.sent, name) === undefined;
    if (!this.#whole || !this.hasUnknown || !resources.some(isLost)) this.#rejected.add(resources, message, this.sent);
  }

  /** due -> held: other resources will take the place of those in the response that was rejected last. */
  hold(): void {
    this.#division.end();
    this.#heldAt = this.#refused?.want;
  }

  /**
   * held -> due: rejected versions are offered again, because the client may take them now.
   *
   * @returns whether there is anything to offer
   */
  offerAgain(): boolean {
    if (this.inFlight !== undefined) return false;
    const wasHeld = this.#isHeld;
    this.#heldAt = undefined;
    this.#division.end();
    return this.#rejected.clear() || wasHeld;
  }
}
