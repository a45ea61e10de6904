/**
 * The resources of one type that a client has and should have, and the responses that bring it from one to the other.
 *
 * The state is level-triggered: the resources that the client has (`sent`) and those that it should have (`want`) are
 * both stacks of shared immutable sets; the difference is sent when nothing of the type is in flight. So changes that
 * come while a response is in flight merge by themselves.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { NameSet } from "../../resource/name_set.ts";
import type { InFlight, ResponseAnswer } from "./in_flight.ts";
import { Lack, type LackedObjects } from "./lacking.ts";
import type { EarlierVersion } from "../protocol/source.ts";
import { rejectedResources, RejectedVersions } from "./rejected.ts";
import type { AdsRequest, ClientError } from "./request.ts";
import { EMPTY_STACK, excludeFromStack, findInStack, sameStack, type SetStack } from "./set_stack.ts";

/** Most rejections while the bad resources are looked for: a client that rejects everything is not asked for ever. */
const MAX_DIVISIONS = 200;

/** Resources of an acknowledged response that are kept for a late rejection, which may name them. */
const MAX_SEARCHED = 100;

const NONE: ReadonlySet<string> = new Set();

export class ClientResources {
  /** The client's resources, as far as they were sent. */
  sent: SetStack = EMPTY_STACK;
  /** The resources that it should have. */
  want: SetStack = EMPTY_STACK;
  inFlight: InFlight | undefined;
  /** It has answered. */
  established = false;
  nonceSent = "";
  nonceAcked = "";
  /** Milliseconds since the epoch; 0 = never. */
  sentAt = 0;
  ackedAt = 0;
  lastError = "";
  /** Most bytes of resources in a response; finite while one is looked for that was rejected and not named. */
  portion = Infinity;
  #divisions = 0;
  /** Resources that the last rejection named; none after the next answer. */
  blamed: readonly EncodedResource[] = [];
  /** The resources that the last acknowledged response changed, if they are few. */
  #taken: InFlight["changed"] = [];
  /** Nonce of the last response that was rejected late: one late rejection of each counts. */
  #rejectedLate = "";
  /** A late rejection that no later answer has ended. */
  #late: { readonly during: InFlight | undefined } | undefined;
  /** The response that was rejected last, while nothing else was answered. */
  #refused: InFlight | undefined;
  /** Names of resources of which the client has other versions from an earlier stream. */
  older: ReadonlySet<string> = NONE;
  #settled: SetStack | undefined;
  #heldAt: SetStack | undefined;
  readonly #rejected = new RejectedVersions();
  readonly #lack = new Lack();
  /** The inputs from which `want` was made. */
  #wantOf: { selected: SetStack; rejections: number } | undefined;
  readonly #whole: boolean;
  readonly #divisible: boolean;
  /** The client has resources from an earlier stream, and nobody knows which. */
  hasUnknown = false;

  /**
   * @param whole each response says that resources that it lacks do not exist
   * @param single each response has one resource, so that no halves are sent after a rejection
   */
  constructor(whole: boolean, single: boolean) {
    this.#whole = whole;
    this.#divisible = !whole && !single;
  }

  /** What was rejected is to be offered again: it may be taken now. @returns whether there is anything */
  offerAgain(): boolean {
    if (this.inFlight !== undefined) return false;
    const wasHeld = this.#isHeld;
    this.#heldAt = undefined;
    this.#endDivision();
    return this.#rejected.clear() || wasHeld;
  }

  /** The client has rejected something that has not changed since, or a response that it had acknowledged. */
  get rejecting(): boolean {
    return this.#late !== undefined || this.#rejected.size > 0 || this.#isHeld;
  }

  get #isHeld(): boolean {
    return this.#heldAt !== undefined && this.#heldAt === this.want;
  }

  /** The last rejection names the bad resource that was looked for: that is news, in the same words. */
  get hasFound(): boolean {
    return this.blamed.length > 0 && this.portion !== Infinity;
  }

  /** The resources that the client has acknowledged. */
  get acknowledged(): SetStack {
    return this.inFlight?.before ?? this.sent;
  }

  /**
   * The objects of which the client does not have what it should have. To be asked after a rejection: until then what is
   * not acknowledged is on its way.
   */
  lacked(): LackedObjects {
    const isHeld = this.inFlight === undefined && !this.differ;
    const rest = isHeld ? this.lastError : "";
    // A late rejection that names nothing counts against all that the client took with that response.
    const late = this.#late && (this.blamed.length > 0 ? this.blamed : this.#taken.flat());
    return this.#lack.find(
      { has: this.acknowledged, wants: this.#wantOf?.selected ?? this.want, late, lateWords: this.lastError },
      this.#rejected.revision + rest,
      ({ name }) => this.#rejected.words(name) ?? rest,
    );
  }

  /** The resources of the response that was rejected last. */
  get refusedWhole(): readonly EncodedResource[] {
    return this.#refused?.changed.flat() ?? [];
  }

  /** What the client has of a resource. */
  earlier(name: string): EarlierVersion {
    return findInStack(this.sent, name) ?? (this.hasUnknown || this.older.has(name) ? "unknown" : undefined);
  }

  /** Others will take the place of resources in the response that was rejected last: until then nothing is sent. */
  hold(): void {
    this.#endDivision();
    this.#heldAt = this.#refused?.want;
  }

  /** A difference may have to be sent. */
  get differ(): boolean {
    return this.want !== this.#settled && this.want !== this.#heldAt;
  }

  /**
   * Takes in the present selection of the client's subscription; compared by identity.
   *
   * @returns false when that is as it was
   */
  select(selected: SetStack): boolean {
    const rejections = this.#rejected.revision;
    if (this.#wantOf?.selected === selected && this.#wantOf.rejections === rejections) return false;
    this.#wantOf = { selected, rejections };
    let want = selected;
    if (this.#rejected.size > 0) want = this.#rejected.leaveOut(want, this.sent);
    if (!sameStack(want, this.want)) this.want = want;
    return true;
  }

  /** Nothing is left to send. */
  settle(): void {
    this.#endDivision();
    this.sent = this.want;
    this.#settled = this.want;
  }

  /** Records a response. */
  dispatched(inFlight: Omit<InFlight, "before" | "want">, next: SetStack): void {
    this.inFlight = { ...inFlight, before: this.sent, want: this.want };
    this.sent = next;
    this.#heldAt = undefined;
    if (next === this.want) this.#settled = next;
    this.nonceSent = inFlight.nonce;
    this.sentAt = Date.now();
  }

  /** The client has these resources, and no response is under way. @param hasUnknown see there */
  begin(sent: SetStack, hasUnknown = false): void {
    this.inFlight = undefined;
    this.sent = sent;
    this.hasUnknown = hasUnknown;
  }

  /** The client's resources are not those that were sent: a part was lost or given up, without a response. */
  change(change: (stack: SetStack) => SetStack): void {
    const sent = change(this.sent);
    if (this.inFlight !== undefined) this.inFlight.before = change(this.inFlight.before);
    if (sent === this.sent) return;
    this.sent = sent;
    this.#settled = undefined;
    this.#heldAt = undefined;
  }

  /**
   * The client has lost these resources, or never took them: they are sent again though nothing changed. A late
   * rejection of them alone is over.
   */
  forget(names: NameSet): void {
    if (this.blamed.length > 0 && this.blamed.every(({ name }) => names.has(name))) this.#endLate();
    this.change((stack) => excludeFromStack(stack, names));
  }

  /** Forgets groups of sets whole, without telling the client that their resources are gone. */
  forgetGroups(drop: (group: string) => boolean): void {
    this.change((stack) => stack.some(({ group }) => drop(group)) ? stack.filter(({ group }) => !drop(group)) : stack);
  }

  /** Takes the part of a request that answers a response. */
  answered({ nonce, error }: AdsRequest): ResponseAnswer {
    const inFlight = this.inFlight;
    if (inFlight === undefined || inFlight.nonce !== nonce) return this.#answeredAgain(nonce, error);
    this.inFlight = undefined;
    this.established = true;
    this.blamed = [];
    if (error !== undefined) {
      this.lastError = error.message;
      this.#reject(inFlight, error);
      return "nack";
    }
    this.#refused = undefined;
    this.nonceAcked = nonce;
    this.ackedAt = Date.now();
    this.#enlarge();
    this.#taken = inFlight.count <= MAX_SEARCHED ? inFlight.changed : [];
    // A response that was under way when the client rejected an earlier one says nothing about that.
    if (this.#late?.during !== inFlight) this.#late = undefined;
    if (!this.rejecting && this.portion === Infinity) this.lastError = "";
    return "ack";
  }

  /**
   * The client has the resources that it acknowledged, also when it rejects them later: nothing is sent because of
   * that. An agent, for example, acknowledges a Wasm filter that its proxy runs without the module, and says why.
   */
  #answeredAgain(nonce: string, error: AdsRequest["error"]): ResponseAnswer {
    if (error === undefined || nonce !== this.nonceAcked || nonce === this.#rejectedLate) {
      return nonce === this.nonceSent ? "none" : "stale";
    }
    this.#rejectedLate = nonce;
    this.#late = { during: this.inFlight };
    this.lastError = error.message;
    this.blamed = rejectedResources(error.whole, this.#taken.flat());
    return "late nack";
  }

  /**
   * The request changes no subscription. One that repeats an acknowledgement accepts the response that was rejected
   * late; with a change, the nonce says nothing about the response.
   */
  answeredAlone(answer: ResponseAnswer | "first", { error }: AdsRequest): void {
    if (answer === "none" && error === undefined) this.#endLate();
  }

  #endLate(): void {
    if (this.#late === undefined) return;
    this.#late = undefined;
    this.blamed = [];
    if (!this.rejecting) this.lastError = "";
  }

  /**
   * A rejected response counts as not sent. A resource that the client names as bad is not sent again before it
   * changes; the rest of the response goes out again without it. When nothing is named, it is found by sending halves
   * (virtual hosts, for example, are never named); where that is not possible, nothing is sent until something changes.
   */
  #reject(inFlight: InFlight, { message, whole }: ClientError): void {
    this.sent = inFlight.before;
    this.#refused = inFlight;
    this.#settled = undefined;
    const changed = inFlight.changed.flat();
    this.blamed = rejectedResources(whole, changed);
    const isNamed = this.blamed.length > 0;
    const goesOn = this.#divisions < MAX_DIVISIONS;
    const divides = goesOn && !isNamed && this.#divisible && changed.length > 1;
    if (divides) this.portion = changed.reduce((sum, { size }) => sum + size, 0) / 2;
    if (this.portion !== Infinity) this.#divisions++;
    if (goesOn) this.leaveOut(this.blamed, message);
    // A change since then is another state, which the client has not seen.
    if (!divides) this.#heldAt = inFlight.want;
  }

  /**
   * Responses come without these, or with their earlier versions, until they change. A whole response takes away what it
   * lacks: a version from an earlier stream stays with the client instead, and so does all else until something changes.
   */
  leaveOut(resources: readonly EncodedResource[], message: string): void {
    const isLost = ({ name }: EncodedResource) => findInStack(this.sent, name) === undefined;
    if (!this.#whole || !this.hasUnknown || !resources.some(isLost)) this.#rejected.add(resources, message);
  }

  /** A response was taken: the next may hold more, until all is there. */
  #enlarge(): void {
    if (this.portion === Infinity) return;
    this.portion *= 2;
    if (!this.differ) this.#endDivision();
  }

  #endDivision(): void {
    this.portion = Infinity;
    this.#divisions = 0;
  }
}
