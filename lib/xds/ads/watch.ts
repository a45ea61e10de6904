/**
 * One resource type on one stream: the client's subscription in both variants of xDS, the client's resources, and the
 * names whose existence the server must still answer.
 *
 * An answer is due (`owes`) after a subscription, even an empty answer. While every wanted name is pending at the
 * source, the answer is postponed instead; the source's decision, or the end of the wait, makes the answer due again.
 *
 * @module
 */
import type { NameSet } from "../../resource/name_set.ts";
import type { InternedNames } from "../../resource/names.ts";
import { type TypeRules, WILDCARD } from "../protocol/types.ts";
import { ClientResources } from "./client_resources.ts";
import type { ResponseAnswer, SentResponse } from "./in_flight.ts";
import { NamesInQuestion } from "./names_in_question.ts";
import type { AdsRequest, KnownVersions } from "./request.ts";
import { clientState, EMPTY_STACK, isNamedInStack, selectStack, type SetStack } from "./set_stack.ts";
import { Subscription } from "./subscription.ts";
import { UnrecordedResources } from "./unrecorded.ts";

/** What a request answers: nothing yet (`first`), or a response. */
export type Answer = "first" | ResponseAnswer;

/** The change of the subscription by one request. */
export interface SubscriptionChange {
  /**
   * Names that the request subscribes to, including names that were subscribed before; `*` stands for all resources.
   */
  readonly wanted: NameSet;
  /** Names that the request unsubscribes from, including names that were never subscribed. */
  readonly unwanted: NameSet;
  /** An answer was due before the request. */
  readonly owed: boolean;
}

/** The state of one type on one stream. */
export class Watch {
  readonly subscription: Subscription;
  readonly resources: ClientResources;
  /** An answer is due, even an empty answer. */
  owes = false;
  readonly #questions: NamesInQuestion;
  /** The change of the last request. */
  #change: SubscriptionChange | undefined;
  /**
   * Names that the client has from an earlier stream and that the wildcard may cover. The names are wanted as long as
   * the wildcard is subscribed.
   */
  #covered: NameSet;
  /** The answer to a request is postponed, because all its names are pending. */
  #postponed = false;
  /** Names that the client dropped in requests that count for nothing. */
  #droppedLate: NameSet;
  /** The client once gave a name: an empty list no longer means everything. */
  #explicit = false;
  readonly #unrecorded = new UnrecordedResources((name) => this.#questions.isPending(name));
  /** Versions of an initial request, until the client's resources are selected. */
  #known: KnownVersions | undefined;

  readonly #table: InternedNames;
  constructor(
    readonly typeUrl: string,
    readonly rules: TypeRules,
    readonly delta: boolean,
    table: InternedNames,
    byName = false,
    isChosen: () => boolean = () => false,
  ) {
    this.#table = table;
    this.subscription = new Subscription(table.empty, byName, isChosen);
    this.resources = new ClientResources(rules.whole && !delta, rules.single);
    this.#questions = new NamesInQuestion(table);
    this.#covered = this.#droppedLate = table.empty;
  }

  /** Subscribed to everything that the server has for this client. */
  get wildcard(): boolean {
    return this.subscription.wildcard;
  }

  /** Names subscribed to. */
  get names(): NameSet {
    return this.subscription.names;
  }

  /** Whether a response can say that there is no resource of a name. */
  get #tellsAbsence(): boolean {
    return this.delta || this.rules.awaited;
  }

  /** Memory of the names that the client gave, in bytes. */
  get nameBytes(): number {
    return this.names.bytes + this.#questions.bytes + this.#covered.bytes + this.#droppedLate.bytes;
  }

  /** Something may have to be sent. */
  get dirty(): boolean {
    return this.owes || this.resources.differ;
  }

  /**
   * Nothing may be sent. Clients take the first response of these types for the whole set, and in the
   * state-of-the-world variant each response says that missing resources do not exist.
   */
  get held(): boolean {
    if (!this.rules.whole || this.pendingUntil === undefined) return false;
    return !this.delta || this.#questions.isPending(WILDCARD);
  }

  /** The time at which the first pending name counts as absent, on the clock of `performance.now()`. */
  get pendingUntil(): number | undefined {
    return this.#questions.pendingUntil;
  }

  /** The client has acknowledged all resources that the client should have. */
  get clean(): boolean {
    return this.resources.inFlight === undefined && !this.dirty;
  }

  /** Takes the change of the last request; undefined: none. */
  takeChange(): SubscriptionChange | undefined {
    const change = this.#change;
    this.#change = undefined;
    return change;
  }

  /**
   * Takes the pending names among the wanted names of a request. When all wanted names are pending, the answer is
   * postponed.
   */
  postpone({ wanted, owed }: SubscriptionChange, pending: Iterable<string>, until: number): void {
    const names = namesIn(wanted, pending);
    this.#questions.take(wanted, (name) => !names.has(name));
    this.#questions.postpone(names, until);
    if (names.size === 0 || names.size < wanted.size || !this.owes || owed) return;
    this.owes = false;
    this.#postponed = true;
  }

  /**
   * Like {@linkcode Watch.postpone}, for names that the client has from an earlier stream and that the wildcard may
   * cover.
   */
  postponeKnown(known: NameSet, pending: Iterable<string>, until: number): void {
    this.#questions.postpone(namesIn(known, pending), until);
  }

  /**
   * The source has decided about names. From now on the sets tell whether a resource of each name exists.
   *
   * @param names undefined: all pending names
   */
  answered(names?: Iterable<string>): void {
    this.#decided(this.#questions.take(names));
  }

  /** Names that have been pending too long count as absent. */
  giveUp(now: number): void {
    this.#decided(this.#questions.takeLate(now));
  }

  #decided(names: readonly string[]): void {
    if (names.length === 0) return;
    const tells = this.#tellsAbsence;
    if (tells) this.#questions.add(this.#plain(this.#table.of(names)));
    if (tells || this.#postponed || this.rules.whole) this.owes = true;
    this.#postponed = false;
  }

  /**
   * Takes the visible resources of the type; `all` is compared by identity.
   *
   * @returns names that the client has from an earlier stream, that are not visible, and that the wildcard may cover;
   * undefined: none
   */
  update(all: SetStack): NameSet | undefined {
    if (!this.resources.select(this.subscription.select(all)) || this.#known === undefined) return undefined;
    const { stack, absent, older } = clientState(this.resources.want, this.#known);
    this.#known = undefined;
    this.resources.older = older;
    this.#unrecorded.add([...older]);
    this.resources.begin(stack);
    const decided = absent.filter((name) => !this.#questions.isPending(name));
    this.#questions.add(this.#table.of(decided));
    this.#unrecorded.add(decided.filter((name) => isNamedInStack(this.resources.want, name)));
    if (!this.wildcard || decided.length === 0) return undefined;
    return this.#covered = this.#table.of(decided);
  }

  /** Nothing is left to send. */
  settle(): void {
    this.resources.settle();
    this.owes = false;
    this.#questions.clear();
    this.#known = undefined;
  }

  /** Names that the client asked for or believes to exist, and that do not exist. */
  missing(): string[] {
    // A resource that the client has rejected exists.
    const { selected } = this.resources;
    const missing = this.#questions.missing(selected);
    const gone = this.#unrecorded.gone(selected);
    return gone.length === 0 ? missing : [...new Set([...missing, ...gone])];
  }

  /** Records a response. */
  dispatched(inFlight: SentResponse, next: SetStack): void {
    const { selected, want } = this.resources;
    this.#unrecorded.dispatched(selected, next);
    this.resources.dispatched(inFlight, next);
    this.owes = false;
    this.#questions.dispatched(selected, next === want);
  }

  /** Applies a request of the state-of-the-world variant. */
  applySotw(request: AdsRequest): Answer {
    const { subscription, resources } = this;
    const first = resources.nonceSent === "" || request.nonce === "";
    const answer = first ? "first" : resources.answered(request);
    if (answer === "ack" || answer === "nack") this.#questions.answered(answer === "nack");
    const given = request.names.size > 0;
    if (!first && request.nonce !== resources.nonceSent) {
      // The request counts for nothing, but its client has dropped what the request does not name. The client may name it
      // again with its next answer.
      if (given || this.#explicit || !this.rules.wildcard) {
        const dropped = this.#table.minus(subscription.names, this.#plain(request.names));
        resources.forget(dropped);
        if (this.rules.awaited) this.#droppedLate = this.#table.union(this.#droppedLate, dropped);
      }
      return answer;
    }
    if (first) resources.begin(EMPTY_STACK, request.hasVersion);
    this.#explicit ||= given;
    const wasWildcard = subscription.wildcard;
    subscription.wildcard = given ? request.names.has(WILDCARD) : !this.#explicit && this.rules.wildcard;
    const names = given ? this.#plain(request.names) : this.#table.empty;
    const again = this.#takeNamedAgain(names);
    const added = this.#table.minus(names, subscription.names);
    const dropped = this.#table.minus(subscription.names, names);
    subscription.change(names, added, dropped);
    const { wildcard } = this;
    this.#change = {
      wanted: first || wildcard !== wasWildcard ? this.#withWildcard(first ? names : added, wildcard) : added,
      unwanted: this.#withWildcard(dropped, wasWildcard && !wildcard),
      owed: !first && this.owes,
    };
    this.#questions.take(this.#change.unwanted);
    if (this.rules.awaited) this.#await(first ? names : this.#table.union(added, again), dropped);
    if (first) {
      this.#postponed = false;
      this.owes = this.wildcard || names.size > 0;
      return answer;
    }
    if (wasWildcard && !this.wildcard) resources.change((stack) => selectStack(stack, names));
    if (this.wildcard && !wasWildcard) this.owes = true;
    if (added.size > 0) {
      resources.forget(added);
      this.owes ||= this.rules.whole || this.rules.awaited;
    }
    if (again.size > 0) this.owes = true;
    if (dropped.size > 0 && !this.wildcard) resources.forget(dropped);
    if (added.size === 0 && dropped.size === 0) resources.answeredAlone(answer, request);
    return answer;
  }

  /** Applies a request of the incremental variant. Subscriptions count even beside a stale nonce. */
  applyDelta(request: AdsRequest, isNew: boolean): Answer {
    const owed = this.owes;
    const { names, unsubscribe } = request;
    const isEmpty = names.size === 0 && unsubscribe.size === 0;
    const answer: Answer = isNew ? "first" : request.nonce === "" ? "none" : this.resources.answered(request);
    if (answer === "ack" || answer === "nack") {
      this.#questions.answered(answer === "nack");
      this.#unrecorded.answered(answer === "nack");
    }
    if (!isNew && isEmpty) { // as nearly all requests: a client acknowledges each response
      if (request.nonce !== "") this.resources.answeredAlone(answer, request);
      return answer;
    }
    if (isEmpty) this.owes = this.subscription.wildcard = this.rules.wildcard;
    if (isNew) this.#known = request.initialVersions;
    if (names.size > 0) this.#subscribe(names);
    const wasWildcard = this.wildcard;
    const owesMore = unsubscribe.size > 0 && this.#unsubscribe(unsubscribe);
    const all = isNew && names.size === 0 && this.wildcard;
    let unwanted = unsubscribe;
    if (wasWildcard && !this.wildcard) {
      unwanted = this.#table.union(unwanted, this.#table.minus(this.#covered, this.names));
      this.#covered = this.#table.empty;
    }
    if (all || names.size > 0 || unwanted.size > 0) {
      this.#change = { wanted: this.#withWildcard(names, all), unwanted, owed: owed || owesMore };
    }
    this.#questions.take(unwanted);
    return answer;
  }

  /** The client waits again for these resources, as far as subscribed: an answer about each is due. */
  awaitAgain(names: NameSet): void {
    this.resources.forget(names);
    const subscribed = this.#table.minus(names, this.#table.minus(names, this.names));
    const decided = this.pendingUntil === undefined
      ? subscribed
      : this.#table.of([...subscribed].filter((name) => !this.#questions.isPending(name)));
    if (decided.size === 0) return;
    this.#questions.add(decided);
    this.owes = true;
  }

  /** The names that the client has dropped beside a response on its way and now names again. */
  #takeNamedAgain(names: NameSet): NameSet {
    const late = this.#droppedLate;
    this.#droppedLate = this.#table.empty;
    return this.#table.minus(late, this.#table.minus(late, names));
  }

  #await(names: NameSet, dropped: NameSet): void {
    this.#questions.remove(dropped);
    this.#questions.add(names);
  }

  #withWildcard(names: NameSet, wildcard: boolean): NameSet {
    return wildcard ? this.#table.union(names, this.#table.one(WILDCARD)) : names;
  }

  #subscribe(asked: NameSet): void {
    this.#explicit = true;
    this.owes = true;
    if (asked.has(WILDCARD)) {
      if (this.delta) this.#unrecorded.add(this.resources.names());
      // The client may have forgotten all resources of the wildcard, or may keep them.
      if (this.wildcard) this.resources.change(() => EMPTY_STACK);
      this.subscription.wildcard = true;
    }
    const names = this.#plain(asked);
    this.subscription.change(this.#table.union(this.names, names), names);
    this.#questions.add(names);
    this.#sendAgain(names);
  }

  /** A client that asks for groups of sets again gets them again, and keeps what it has until then. */
  sendGroupsAgain(isAsked: (group: string) => boolean): void {
    if (this.delta) this.#unrecorded.add(this.resources.namesOfGroups(isAsked));
    this.resources.forgetGroups(isAsked);
  }

  /** The client keeps the resources until it gets them again, or hears that they are gone. */
  #sendAgain(names: NameSet): void {
    if (this.delta) this.#unrecorded.add(this.resources.names(names));
    this.resources.forget(names);
  }

  /** Returns whether an answer is due. */
  #unsubscribe(asked: NameSet): boolean {
    const names = this.#plain(asked);
    this.subscription.change(this.#table.minus(this.names, names), names);
    if (asked.has(WILDCARD) && this.wildcard) {
      this.subscription.wildcard = false;
      this.resources.change((stack) => selectStack(stack, this.names));
    }
    if (names.size === 0) return false;
    if (!this.wildcard) {
      this.resources.forget(names);
      this.#questions.remove(names);
      return false;
    }
    // The client cannot know whether the wildcard still covers the name, and gets an answer.
    this.#sendAgain(names);
    this.#questions.add(names);
    return this.owes = true;
  }

  #plain(names: NameSet): NameSet {
    return names.has(WILDCARD) ? this.#table.of([...names].filter((name) => name !== WILDCARD)) : names;
  }
}

function namesIn(set: NameSet, names: Iterable<string>): ReadonlySet<string> {
  return new Set(Iterator.from(names).filter((name) => set.has(name)));
}
