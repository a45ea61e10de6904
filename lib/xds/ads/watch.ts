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
import { type TypeRules, WILDCARD } from "../protocol/types.ts";
import { PendingNames } from "./pending_names.ts";
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
  /** The client's resources before it. */
  before: SetStack;
  readonly changed: readonly (readonly EncodedResource[])[];
  readonly count: number;
  readonly sentAt: number;
}

/** The kind of answer that a request was, besides a change of the subscription. */
export type Answer = "first" | "ack" | "nack" | "stale" | "none";

/** The change of the subscription by one request. */
export interface SubscriptionChange {
  /** Names that it subscribes to, also such as were subscribed already; `*` for all resources. */
  readonly wanted: NameSet;
  /** Names that it does not want any longer, also such as it never wanted. */
  readonly unwanted: NameSet;
  /** An answer was due before it. */
  readonly owed: boolean;
}

/** State of one type on one stream. */
export class Watch {
  readonly subscription: Subscription;
  /** The client's resources, as far as they were sent. */
  sent: SetStack = EMPTY_STACK;
  /** The resources that it should have. */
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
  /** The change of the last request. */
  #change: SubscriptionChange | undefined;
  /** Names that the source decides about later; the client hears nothing of them until then. */
  #pending: PendingNames | undefined;
  /** Names that the client has from an earlier stream and that its wildcard may cover: they are wanted as long as it is. */
  #covered: NameSet;
  /** The answer to a request waits for names that are pending. */
  #postponed = false;
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
    this.#covered = table.empty;
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
    return this.names.bytes + this.#unsure.bytes + this.#covered.bytes + (this.#pending?.bytes ?? 0);
  }

  /** The client has rejected something that has not changed since. */
  get rejecting(): boolean {
    return this.#rejected.size > 0 || (this.#heldAt !== undefined && this.#heldAt === this.want);
  }

  /** Something may have to be sent. */
  get dirty(): boolean {
    return this.owes || (this.want !== this.#settled && this.want !== this.#heldAt);
  }

  /**
   * Nothing may be sent: clients take the first response of these types for all there is, and in state of the world each
   * response says of what it lacks that it does not exist.
   */
  get held(): boolean {
    if (!this.rules.whole || this.pendingUntil === undefined) return false;
    return !this.delta || this.#pending!.has(WILDCARD);
  }

  /** When the first of the names that are pending counts as absent, on the clock of `performance.now()`. */
  get pendingUntil(): number | undefined {
    return this.#pending?.next;
  }

  /** The client has all that it should have, and has said so. */
  get clean(): boolean {
    return this.inFlight === undefined && !this.dirty;
  }

  /** Takes the change of the last request; undefined: none. */
  takeChange(): SubscriptionChange | undefined {
    const change = this.#change;
    this.#change = undefined;
    return change;
  }

  /**
   * Takes in which of the names that a request wanted are pending. When all of them are, there is nothing to answer it
   * with yet.
   */
  postpone({ wanted, owed }: SubscriptionChange, pending: Iterable<string>, until: number): void {
    const names = new Set<string>();
    for (const name of pending) if (wanted.has(name)) names.add(name);
    if (this.#pending !== undefined) this.#pending.take(wanted, (name) => !names.has(name));
    if (names.size === 0) return;
    this.#setPending(names, until);
    if (names.size < wanted.size || !this.owes || owed) return;
    this.owes = false;
    this.#postponed = true;
  }

  /** The same for names that the client has from an earlier stream, which its wildcard may cover. */
  postponeKnown(known: NameSet, pending: Iterable<string>, until: number): void {
    const names = new Set<string>();
    for (const name of pending) if (known.has(name)) names.add(name);
    if (names.size > 0) this.#setPending(names, until);
  }

  #setPending(names: ReadonlySet<string>, until: number): void {
    this.#pending ??= new PendingNames();
    this.#pending.add(names, until);
    if (this.#unsure.size > 0) this.#unsure = this.#table.minus(this.#unsure, this.#table.of(names));
  }

  /**
   * The source has decided about names; from now on the sets say of each whether it exists.
   *
   * @param names undefined: all that are pending
   */
  answered(names?: Iterable<string>): void {
    if (this.#pending !== undefined) this.#decided(this.#pending.take(names));
  }

  /** Names that have been pending for too long count as absent. */
  giveUp(now: number): void {
    if (this.#pending !== undefined) this.#decided(this.#pending.takeLate(now));
  }

  #decided(names: readonly string[]): void {
    if (names.length === 0) return;
    // Of the variants only the incremental one can say of a single name that it does not exist.
    if (this.delta) this.#unsure = this.#table.union(this.#unsure, this.#plain(this.#table.of(names)));
    if (this.delta || this.#postponed || this.rules.whole) this.owes = true;
    this.#postponed = false;
  }

  /**
   * Takes in what is visible of the type now; `all` is compared by identity.
   *
   * @returns names that the client has from an earlier stream, that are not visible, and that its wildcard may cover;
   * undefined: none
   */
  update(all: SetStack): NameSet | undefined {
    const selected = this.subscription.select(all);
    const rejections = this.#rejected.revision;
    if (this.#wantOf?.selected === selected && this.#wantOf.rejections === rejections) return undefined;
    this.#wantOf = { selected, rejections };
    let want = selected;
    if (this.#rejected.size > 0) want = this.#rejected.leaveOut(want, this.sent);
    if (!sameStack(want, this.want)) this.want = want;
    return this.#known === undefined ? undefined : this.#compareKnown(want, this.#known);
  }

  #compareKnown(want: SetStack, known: KnownVersions): NameSet | undefined {
    this.#known = undefined;
    const { stack, absent } = clientState(want, known);
    this.sent = stack;
    const decided = absent.filter((name) => this.#pending?.has(name) !== true);
    this.#unsure = this.#table.union(this.#unsure, this.#table.of(decided));
    if (!this.wildcard || decided.length === 0) return undefined;
    this.#covered = this.#table.of(decided);
    return this.#covered;
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
    const { wildcard } = this;
    this.#change = {
      wanted: first || wildcard !== wasWildcard ? this.#withWildcard(first ? names : added, wildcard) : added,
      unwanted: this.#withWildcard(dropped, wasWildcard && !wildcard),
      owed: !first && this.owes,
    };
    this.#pending?.take(this.#change.unwanted);
    if (first) {
      this.#postponed = false;
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
    const owed = this.owes;
    if (!isNew && request.nonce !== "") {
      answer = request.nonce === this.nonceSent ? this.#answered(request) : "stale";
    }
    if (isNew && request.names.size === 0 && request.unsubscribe.size === 0) {
      this.subscription.wildcard = this.rules.wildcard;
      this.owes = this.wildcard;
    }
    if (isNew) this.#known = request.initialVersions;
    if (request.names.size > 0) this.#subscribe(request.names);
    const wasWildcard = this.wildcard;
    const owesMore = request.unsubscribe.size > 0 && this.#unsubscribe(request.unsubscribe);
    const all = isNew && request.names.size === 0 && this.wildcard;
    const { names } = request;
    let unwanted = request.unsubscribe;
    if (wasWildcard && !this.wildcard) {
      unwanted = this.#table.union(unwanted, this.#table.minus(this.#covered, this.names));
      this.#covered = this.#table.empty;
    }
    if (all || names.size > 0 || unwanted.size > 0) {
      this.#change = { wanted: this.#withWildcard(names, all), unwanted, owed: owed || owesMore };
    }
    this.#pending?.take(unwanted);
    return answer;
  }

  #withWildcard(names: NameSet, wildcard: boolean): NameSet {
    return wildcard ? this.#table.union(names, this.#table.of([WILDCARD])) : names;
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

  /** Returns whether an answer is due. */
  #unsubscribe(asked: NameSet): boolean {
    const names = this.#plain(asked);
    this.subscription.change(this.#table.minus(this.names, names), names);
    if (asked.has(WILDCARD) && this.wildcard) {
      this.subscription.wildcard = false;
      this.#setSent((stack) => selectStack(stack, this.names));
    }
    if (names.size === 0) return false;
    this.forget(names);
    this.#unsure = this.#table.minus(this.#unsure, names);
    if (!this.wildcard) return false;
    // The client cannot know whether the wildcard still covers the name, and it gets an answer.
    this.#unsure = this.#table.union(this.#unsure, names);
    return this.owes = true;
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
