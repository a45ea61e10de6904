/**
 * The state of one resource type on one stream: the subscription, the client's resources, the response under way.
 *
 * The state is level-triggered: there is what the client has (`sent`) and what it should have (`want`), both stacks of
 * shared immutable sets; the difference is sent when nothing of the type is in flight. So changes that come while a
 * response is in flight merge by themselves.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { NameSet } from "../../resource/name_set.ts";
import type { InternedNames } from "../../resource/names.ts";
import type { TypeRules } from "../protocol/types.ts";
import { rejectedResources, RejectedVersions } from "./rejected.ts";
import type { AdsRequest, KnownVersions } from "./request.ts";
import {
  clientState,
  EMPTY_STACK,
  excludeFromStack,
  isNamedInStack,
  sameStack,
  selectStack,
  type SetStack,
} from "./set_stack.ts";
import { Subscription } from "./subscription.ts";

/** A response that the client has not answered yet. */
export interface InFlight {
  readonly nonce: string;
  /** What the client had before it. */
  before: SetStack;
  readonly changed: readonly (readonly EncodedResource[])[];
  readonly count: number;
  readonly sentAt: number;
}

/** The kind of answer that a request was, besides a change of the subscription. */
export type Answer = "first" | "ack" | "nack" | "stale" | "none";

/** The name that subscribes to all resources of a type. */
const WILDCARD = "*";

/** State of one type on one stream. */
export class Watch {
  readonly subscription: Subscription;
  /** What the client has, as far as was sent. */
  sent: SetStack = EMPTY_STACK;
  /** What it should have. */
  want: SetStack = EMPTY_STACK;
  /** An answer is due even when it is empty. */
  owes = false;
  inFlight: InFlight | undefined;
  /** A response has been answered. */
  established = false;
  nonceSent = "";
  nonceAcked = "";
  /** Milliseconds since the epoch; 0 = never. */
  sentAt = 0;
  ackedAt = 0;
  lastError = "";
  /** Resources that the last rejection named; none after the next answer. */
  blamed: readonly EncodedResource[] = [];
  /** Names whose absence must be reported to the client. */
  #unsure: NameSet;
  /** The client once gave a name: an empty list no longer means everything. */
  #explicit = false;
  #settled: SetStack | undefined;
  #heldAt: SetStack | undefined;
  /** Versions by initial request, until the first `want` is known. */
  #known: KnownVersions | undefined;
  readonly #rejected = new RejectedVersions();
  /** What `want` was made of. */
  #wantOf: { selected: SetStack; rejections: number } | undefined;

  readonly #table: InternedNames;

  constructor(readonly typeUrl: string, readonly rules: TypeRules, readonly delta: boolean, table: InternedNames) {
    this.#table = table;
    this.subscription = new Subscription(table.empty);
    this.#unsure = table.empty;
  }

  /** Subscribed to everything that the server has for this client. */
  get wildcard(): boolean {
    return this.subscription.wildcard;
  }

  /** Names subscribed to, without the wildcard. */
  get names(): NameSet {
    return this.subscription.names;
  }

  /** Memory that names take which the client gave. */
  get nameBytes(): number {
    return this.names.bytes + this.#unsure.bytes;
  }

  /** The client has rejected something that has not changed since. */
  get rejecting(): boolean {
    return this.#rejected.size > 0 || (this.#heldAt !== undefined && this.#heldAt === this.want);
  }

  /** Something may have to be sent. */
  get dirty(): boolean {
    return this.owes || (this.want !== this.#settled && this.want !== this.#heldAt);
  }

  /** The client has all that it should have, and has said so. */
  get clean(): boolean {
    return this.inFlight === undefined && !this.dirty;
  }

  /** Takes the resources of the type that are visible now; `all` is compared by identity. */
  update(all: SetStack): void {
    const selected = this.subscription.select(all);
    const rejections = this.#rejected.revision;
    if (this.#wantOf?.selected === selected && this.#wantOf.rejections === rejections) return;
    this.#wantOf = { selected, rejections };
    let want = selected;
    if (this.#rejected.size > 0) want = this.#rejected.leaveOut(want, this.sent);
    if (!sameStack(want, this.want)) this.want = want;
    if (this.#known !== undefined) {
      const { stack, absent } = clientState(want, this.#known);
      this.sent = stack;
      this.#unsure = this.#table.union(this.#unsure, this.#table.of(absent));
      this.#known = undefined;
    }
  }

  /** Nothing is left to send. */
  settle(): void {
    this.sent = this.want;
    this.#settled = this.want;
    this.owes = false;
    this.#unsure = this.#table.empty;
    this.#known = undefined;
  }

  /** Names that the client asked for or believes to exist, and that do not. */
  missing(): string[] {
    if (this.#unsure.size === 0) return [];
    // The count settles the usual case with a result that other streams have computed already.
    let found = 0;
    for (const { set } of this.want) found += this.#unsure.select(set).size;
    if (found === this.#unsure.size) return [];
    return [...this.#unsure].filter((name) => !isNamedInStack(this.want, name));
  }

  /** Records a response. */
  dispatched(inFlight: Omit<InFlight, "before">, next: SetStack): void {
    this.inFlight = { ...inFlight, before: this.sent };
    this.sent = next;
    this.#heldAt = undefined;
    if (next === this.want) this.#settled = next;
    this.owes = false;
    this.#unsure = this.#table.empty;
    this.nonceSent = inFlight.nonce;
    this.sentAt = Date.now();
  }

  /** The client has lost these resources, or never took them: they are sent again though nothing changed. */
  forget(names: NameSet): void {
    this.#setSent((stack) => excludeFromStack(stack, names));
  }

  /** Forgets groups of sets whole, without telling the client that their resources are gone. */
  forgetGroups(drop: (group: string) => boolean): void {
    this.#setSent((stack) =>
      stack.some(({ group }) => drop(group)) ? stack.filter(({ group }) => !drop(group)) : stack
    );
  }

  /** Applies a request of the state-of-the-world variant. */
  applySotw(request: AdsRequest): Answer {
    const first = this.nonceSent === "" || request.nonce === "";
    if (!first && request.nonce !== this.nonceSent) return "stale";
    if (first) {
      this.inFlight = undefined;
      this.sent = EMPTY_STACK;
    }
    const answer = first ? "first" : this.#answered(request);
    const given = request.names.size > 0;
    this.#explicit ||= given;
    const { subscription } = this;
    const wasWildcard = subscription.wildcard;
    subscription.wildcard = given ? request.names.has(WILDCARD) : !this.#explicit && this.rules.wildcard;
    const names = given ? this.#plain(request.names) : this.#table.empty;
    const added = this.#table.minus(names, subscription.names);
    const dropped = this.#table.minus(subscription.names, names);
    subscription.change(names, added, dropped);
    if (first) {
      this.owes = this.wildcard || names.size > 0;
      return answer;
    }
    if (wasWildcard && !this.wildcard) this.#setSent((stack) => selectStack(stack, names));
    if (this.wildcard && !wasWildcard) this.owes = true;
    if (added.size > 0) {
      this.forget(added);
      this.owes ||= this.rules.whole;
    }
    if (dropped.size > 0 && !this.wildcard) this.forget(dropped);
    return answer;
  }

  /** Applies a request of the incremental variant. A stale nonce does not keep its subscriptions from counting. */
  applyDelta(request: AdsRequest, isNew: boolean): Answer {
    let answer: Answer = isNew ? "first" : "none";
    if (!isNew && request.nonce !== "") {
      answer = request.nonce === this.nonceSent ? this.#answered(request) : "stale";
    }
    if (isNew && request.names.size === 0 && request.unsubscribe.size === 0) {
      this.subscription.wildcard = this.rules.wildcard;
      this.owes = this.wildcard;
    }
    if (isNew) this.#known = request.initialVersions;
    if (request.names.size > 0) this.#subscribe(request.names);
    if (request.unsubscribe.size > 0) this.#unsubscribe(request.unsubscribe);
    return answer;
  }

  #subscribe(asked: NameSet): void {
    this.#explicit = true;
    this.owes = true;
    if (asked.has(WILDCARD)) {
      // The client may have forgotten all that it had by the wildcard.
      if (this.wildcard) this.#setSent(() => EMPTY_STACK);
      this.subscription.wildcard = true;
    }
    const names = this.#plain(asked);
    this.subscription.change(this.#table.union(this.names, names), names);
    this.#unsure = this.#table.union(this.#unsure, names);
    this.forget(names);
  }

  #unsubscribe(asked: NameSet): void {
    const names = this.#plain(asked);
    this.subscription.change(this.#table.minus(this.names, names), names);
    if (asked.has(WILDCARD) && this.wildcard) {
      this.subscription.wildcard = false;
      this.#setSent((stack) => selectStack(stack, this.names));
    }
    if (names.size === 0) return;
    this.forget(names);
    this.#unsure = this.#table.minus(this.#unsure, names);
    if (this.wildcard) {
      // The client cannot know whether the wildcard still covers the name: it gets an answer.
      this.#unsure = this.#table.union(this.#unsure, names);
      this.owes = true;
    }
  }

  /** An answer to the response in flight, or a repetition of one that was answered. */
  #answered(request: AdsRequest): Answer {
    const inFlight = this.inFlight;
    if (inFlight === undefined) return "none";
    this.inFlight = undefined;
    this.established = true;
    this.blamed = [];
    if (request.error === undefined) {
      this.nonceAcked = request.nonce;
      this.ackedAt = Date.now();
      if (!this.rejecting) this.lastError = "";
      return "ack";
    }
    this.lastError = request.error.message;
    this.#reject(inFlight, request.error.message);
    return "nack";
  }

  /**
   * A rejected response counts as not sent. What the client names as bad is not sent again before it changes; the rest
   * of the response goes out again without it. When nothing is named, nothing is sent until something changes.
   */
  #reject(inFlight: InFlight, message: string): void {
    this.sent = inFlight.before;
    this.#settled = undefined;
    this.#heldAt = this.want;
    this.blamed = rejectedResources(message, inFlight.changed.flat());
    if (this.rules.whole && !this.delta) return;
    this.#rejected.add(this.blamed);
  }

  #setSent(change: (stack: SetStack) => SetStack): void {
    const sent = change(this.sent);
    if (this.inFlight !== undefined) this.inFlight.before = change(this.inFlight.before);
    if (sent === this.sent) return;
    this.sent = sent;
    this.#settled = undefined;
    this.#heldAt = undefined;
  }

  #plain(names: NameSet): NameSet {
    return names.has(WILDCARD) ? this.#table.of([...names].filter((name) => name !== WILDCARD)) : names;
  }
}
