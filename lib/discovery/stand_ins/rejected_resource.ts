/**
 * One resource that a proxy rejects and that patches have changed: what the proxy is offered instead, step by step.
 *
 *     no earlier version ──> without harmless filters ──accepted──> the fewest of them
 *              │                      └─rejected─> some filter guards ──> closed ──rejected──> nothing
 *              └ an earlier version ──> that stays; another mesh than then ──> without harmless filters, or it stays
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { RejectedPatches, StandInKind } from "../../translate/patches/rejected.ts";
import { FewestSearch } from "./fewest.ts";
import type { Suspects } from "./suspects.ts";
import type { WithoutFilters } from "./variants.ts";

/** What is needed next: the resource without some filters, or a closed one. */
export type StandInNeed =
  | { readonly is: "without"; readonly without: readonly string[] }
  | { readonly is: "closed" }
  /** The resource without any patch, to compare it later. */
  | { readonly is: "plain" };

/** What is known of the resource when it is rejected. */
export interface RejectionFacts {
  readonly suspects: Suspects;
  /** The client has an earlier version, which stays unless something better is found. */
  readonly hasEarlier: boolean;
  /** The earlier version is of another mesh: what has changed since then is to be in force, too. */
  readonly isOld: boolean;
  /** The resource without patches when the version before was rejected; undefined: none was, or it is not known. */
  readonly plainBefore: string | undefined;
  /** Filters without which the version before was served. */
  readonly withoutBefore: readonly string[];
}

export class RejectedResource {
  readonly typeUrl: string;
  readonly name: string;
  /** The version with all patches. */
  readonly version: string;
  readonly causes: readonly string[];
  readonly message: string;
  readonly #facts: RejectionFacts;
  readonly #filters: readonly string[];
  /** By version, whether the proxy took it. */
  readonly #answers = new Map<string, boolean>();
  #search: FewestSearch;
  #state: "comparing" | "searching" | "closing" | StandInKind;
  /** What stands in; undefined: the resource itself, which the wire holds back. `absent`: nothing does. */
  shown: EncodedResource | "absent" | undefined;
  /** The version of which an answer is awaited. */
  awaits: string | undefined;
  /** The version without patches, where it is known. */
  plain: string | undefined;

  constructor({ typeUrl, name, version, causes }: EncodedResource, message: string, facts: RejectionFacts) {
    [this.typeUrl, this.name, this.version, this.causes, this.message] = [typeUrl, name, version, causes, message];
    this.#facts = facts;
    const { suspects: { harmless, guards }, withoutBefore } = facts;
    this.#filters = [...harmless, ...guards];
    const before = harmless.filter((key) => withoutBefore.includes(key));
    this.#search = new FewestSearch([...before, ...harmless.filter((key) => !before.includes(key))]);
    this.#answers.set(version, false);
    this.#state = "comparing";
    if (!facts.hasEarlier || facts.isOld) this.#begin();
  }

  /** What is to be looked up next; undefined: nothing. */
  get need(): StandInNeed | undefined {
    if (this.awaits !== undefined) return undefined;
    if (this.#state === "comparing") return { is: "plain" };
    if (this.#state === "closing") return { is: "closed" };
    const { state } = this.#search;
    if (this.#state === "searching" && state.is !== "helpless") return { is: "without", without: state.without };
    return undefined;
  }

  /** Something else is, or will be, offered instead. */
  get isOpen(): boolean {
    return this.#state === "comparing" || this.#state === "searching" || this.#state === "closing";
  }

  /** The filters without which it is looked at or served; undefined: without any. Nothing: neither. */
  get uses(): readonly WithoutFilters[] {
    const { state } = this.#search;
    if (this.#state === "searching" && state.is !== "helpless") return [state.without];
    return this.#state === "closing" || this.#state === "comparing" ? [undefined] : [];
  }

  /** For findings. */
  get row(): RejectedPatches {
    const { typeUrl, name, version, message } = this;
    return { typeUrl, name, version, message, filters: this.leftOut ?? this.#filters, standIn: this.#kind };
  }

  /** The filters that the proxy goes without; undefined: not those alone. */
  get leftOut(): readonly string[] | undefined {
    const { state } = this.#search;
    return this.#state === "without" && state.is === "found" ? state.without : undefined;
  }

  /** The objects that the proxy goes without, with its words; without words where that is not decided. */
  *withheld(): Iterable<readonly [string, string]> {
    if (this.isOpen) { for (const key of this.#filters) yield [key, ""]; }
    else if (this.#state === "without") { for (const key of this.leftOut ?? []) yield [key, this.message]; }
    else if (this.#state === "closed") { for (const key of this.causes) yield [key, this.message]; }
  }

  get #kind(): StandInKind {
    return this.#state === "comparing" || this.#state === "searching" || this.#state === "closing"
      ? "undecided"
      : this.#state;
  }

  /** The resource without patches is known: it is searched for a stand-in where that is not as it was. */
  compare(plain: string | undefined): void {
    if (this.#state !== "comparing") return;
    this.plain = plain ?? "";
    const { plainBefore } = this.#facts;
    if (plainBefore !== undefined && plainBefore !== this.plain) this.#begin();
    else this.#state = "earlier";
  }

  /** A stand-in without the filters of the need; undefined: there is none without them. */
  offer(resource: EncodedResource | undefined): void {
    const { state } = this.#search;
    if (this.#state !== "searching" || state.is === "helpless") return;
    const known = resource === undefined ? true : this.#answers.get(resource.version);
    if (state.is === "trying" && known === undefined) {
      this.awaits = resource!.version;
      this.shown = resource;
    } else if (state.is === "trying") this.#answer(known!);
    else {
      this.shown = resource ?? "absent";
      this.#state = "without";
    }
  }

  /** A stand-in that lets nothing in; undefined: a proxy without the resource is closed. */
  close(resource: EncodedResource | undefined): void {
    if (this.#state !== "closing") return;
    this.shown = resource ?? "absent";
    this.awaits = resource?.version;
    if (resource === undefined) this.#state = "closed";
  }

  /** The proxy has taken the offered version, or rejected it. */
  answered(accepted: boolean): void {
    if (this.awaits === undefined) return;
    this.#answers.set(this.awaits, accepted);
    this.awaits = undefined;
    if (this.#state === "searching") this.#answer(accepted);
    else if (this.#state === "closing") {
      this.#state = accepted ? "closed" : "nothing";
      if (!accepted) this.shown = undefined;
    }
  }

  #begin(): void {
    this.#state = "searching";
    if (this.#search.state.is === "helpless") this.#giveUp();
  }

  #answer(accepted: boolean): void {
    this.#search.answer(accepted);
    if (this.#search.state.is === "helpless") this.#giveUp();
  }

  /** Leaving out what is harmless does not help. */
  #giveUp(): void {
    const { suspects: { guards }, hasEarlier } = this.#facts;
    if (hasEarlier) {
      this.#state = "earlier";
      this.shown = undefined;
    } else if (guards.length > 0) this.#state = "closing";
    else {
      this.#state = "nothing";
      this.shown = undefined;
    }
  }
}
