/**
 * What one stream knows of one resource type: what the client subscribes to, what it has, what is under way.
 *
 * The state is level-triggered: there is what the client has (`sent`) and what it should have (`want`), both stacks of
 * shared immutable sets; whatever differs is sent when nothing of the type is in flight. So changes that come while a
 * response is in flight merge by themselves.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { NameSet, NameTable } from "../../resource/names.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { TypeRules } from "../types.ts";
import {
  excludeFromLayers,
  findInLayers,
  knownOf,
  type Layers,
  mapLayers,
  NO_LAYERS,
  sameLayers,
  selectLayers,
} from "./layers.ts";
import { resourcesNamedIn } from "./rejected_names.ts";
import type { AdsRequest, KnownVersions } from "./request.ts";

/** A response that the client has not answered yet. */
export interface InFlight {
  readonly nonce: string;
  /** What the client had before it. */
  before: Layers;
  readonly changed: readonly (readonly EncodedResource[])[];
  readonly count: number;
  readonly sentAt: number;
}

/** What a request turned out to be, besides a change of the subscription. */
export type Answer = "first" | "ack" | "nack" | "stale" | "none";

/** The name that subscribes to all resources of a type. */
const WILDCARD = "*";

/** Resources of a type that are left out one by one because the client rejected them. */
const MAX_REJECTED = 1000;

/** State of one type on one stream. */
export class Watch {
  /** Subscribed to everything that the server has for this client. */
  wildcard = false;
  /** Names subscribed to, without the wildcard. */
  names: NameSet;
  /** What the client has, as far as was sent. */
  sent: Layers = NO_LAYERS;
  /** What it should have. */
  want: Layers = NO_LAYERS;
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
  /** Names whose absence the client must be told of. */
  #unsure: NameSet;
  /** The client once gave a name: an empty list no longer means everything. */
  #explicit = false;
  #settled: Layers | undefined;
  #heldAt: Layers | undefined;
  /** Versions by initial request, until the first `want` is known. */
  #known: KnownVersions | undefined;
  /** Rejected versions by name: not sent again until they change. */
  readonly #rejected = new Map<string, string>();
  #rejections = 0;
  #wantOf: { all: Layers; names: NameSet; wildcard: boolean; rejected: number } | undefined;

  constructor(
    readonly typeUrl: string,
    readonly rules: TypeRules,
    readonly delta: boolean,
    private readonly table: NameTable,
  ) {
    this.names = table.empty;
    this.#unsure = table.empty;
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

  /** Takes in what is visible of the type now; `all` is compared by identity. */
  update(all: Layers): void {
    const last = this.#wantOf;
    const { names, wildcard } = this;
    const rejected = this.#rejections;
    if (last?.all === all && last.names === names && last.wildcard === wildcard && last.rejected === rejected) return;
    this.#wantOf = { all, names, wildcard, rejected };
    let want = wildcard ? all : selectLayers(all, names);
    if (this.#rejected.size > 0) want = this.#withoutRejected(want);
    if (!sameLayers(want, this.want)) this.want = want;
    if (this.#known !== undefined) {
      const { layers, absent } = knownOf(want, this.#known);
      this.sent = layers;
      this.#unsure = this.table.union(this.#unsure, this.table.of(absent));
      this.#known = undefined;
    }
  }

  /** Nothing is left to send. */
  settle(): void {
    this.sent = this.want;
    this.#settled = this.want;
    this.owes = false;
    this.#unsure = this.table.empty;
  }

  /** Names that the client asked for or believes to exist, and that do not. */
  missing(): string[] {
    if (this.#unsure.size === 0) return [];
    // The count settles the usual case with what other streams have computed already.
    let found = 0;
    for (const layer of this.want) found += this.#unsure.select(layer.set).size;
    if (found === this.#unsure.size) return [];
    return [...this.#unsure.names].filter((name) =>
      findInLayers(this.want, name) === undefined && !this.#aliased(name)
    );
  }

  /** Records a response. */
  dispatched(inFlight: Omit<InFlight, "before">, next: Layers): void {
    this.inFlight = { ...inFlight, before: this.sent };
    this.sent = next;
    this.#heldAt = undefined;
    if (next === this.want) this.#settled = next;
    this.owes = false;
    this.#unsure = this.table.empty;
    this.nonceSent = inFlight.nonce;
    this.sentAt = Date.now();
  }

  /** The client has lost these resources, or never took them: they are sent again though nothing changed. */
  forget(names: NameSet): void {
    this.#setSent((layers) => excludeFromLayers(layers, names));
  }

  /** Forgets a layer whole, without telling the client that its resources are gone. */
  forgetLayers(drop: (key: string) => boolean): void {
    this.#setSent((layers) => layers.some((l) => drop(l.key)) ? layers.filter((l) => !drop(l.key)) : layers);
  }

  /** Applies a request of the state-of-the-world variant. */
  applySotw(request: AdsRequest): Answer {
    const first = this.nonceSent === "" || request.nonce === "";
    if (!first && request.nonce !== this.nonceSent) return "stale";
    if (first) {
      this.inFlight = undefined;
      this.sent = NO_LAYERS;
    }
    const answer = first ? "first" : this.#answered(request);
    const given = request.names.size > 0;
    this.#explicit ||= given;
    const wasWildcard = this.wildcard;
    this.wildcard = given ? request.names.has(WILDCARD) : !this.#explicit && this.rules.wildcard;
    const names = given ? this.#plain(request.names) : this.table.empty;
    const added = this.table.minus(names, this.names);
    const dropped = this.table.minus(this.names, names);
    this.names = names;
    if (first) {
      this.owes = this.wildcard || names.size > 0;
      return answer;
    }
    if (wasWildcard && !this.wildcard) this.#setSent((layers) => selectLayers(layers, names));
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
      this.wildcard = this.rules.wildcard;
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
      if (this.wildcard) this.#setSent(() => NO_LAYERS);
      this.wildcard = true;
    }
    const names = this.#plain(asked);
    this.names = this.table.union(this.names, names);
    this.#unsure = this.table.union(this.#unsure, names);
    this.forget(names);
  }

  #unsubscribe(asked: NameSet): void {
    const names = this.#plain(asked);
    this.names = this.table.minus(this.names, names);
    if (asked.has(WILDCARD) && this.wildcard) {
      this.wildcard = false;
      this.#setSent((layers) => selectLayers(layers, this.names));
    }
    if (names.size === 0) return;
    this.forget(names);
    this.#unsure = this.table.minus(this.#unsure, names);
    if (this.wildcard) {
      // The client cannot know whether the wildcard still covers the name, and must be told.
      this.#unsure = this.table.union(this.#unsure, names);
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
    this.blamed = rejectedBy(inFlight, message);
    if (this.rules.whole && !this.delta) return;
    // So many are no single mistakes: nothing is sent until something changes.
    if (this.#rejected.size + this.blamed.length > MAX_REJECTED) return;
    for (const resource of this.blamed) this.#rejected.set(resource.name, resource.version);
    this.#rejections++;
  }

  #withoutRejected(want: Layers): Layers {
    for (const [name, version] of this.#rejected) {
      if (findInLayers(want, name)?.version !== version) this.#rejected.delete(name);
    }
    return mapLayers(want, (set: ResourceSet) => {
      const names = [...this.#rejected.keys()].filter((name) => set.has(name));
      if (names.length === 0) return set;
      const before = names.map((name) => findInLayers(this.sent, name)).filter((found) => found !== undefined);
      return set.with(before, names);
    });
  }

  #setSent(change: (layers: Layers) => Layers): void {
    const sent = change(this.sent);
    if (this.inFlight !== undefined) this.inFlight.before = change(this.inFlight.before);
    if (sent === this.sent) return;
    this.sent = sent;
    this.#settled = undefined;
    this.#heldAt = undefined;
  }

  #plain(names: NameSet): NameSet {
    return names.has(WILDCARD) ? this.table.of([...names.names].filter((name) => name !== WILDCARD)) : names;
  }

  #aliased(name: string): boolean {
    return this.want.some((layer) => [...layer.set].some((resource) => resource.aliases.includes(name)));
  }
}

/** The resources that a rejection names; the only resource of a response needs no naming. */
function rejectedBy(inFlight: InFlight, message: string): EncodedResource[] {
  const all = inFlight.changed.flat();
  return all.length === 1 ? all : resourcesNamedIn(message, all);
}
