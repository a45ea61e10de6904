/**
 * A patched resource that a proxy rejects, and the replacements that the proxy is offered, step by step.
 *
 *     no earlier version ──> without harmless filters ──accepted──> the fewest of them
 *              │                      └─rejected─> some filter guards ──> closed ──rejected──> nothing
 *              └ an earlier version ──> the earlier version; if the mesh has changed since, first without harmless filters
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { RejectedPatches, StandInKind } from "../../translate/patches/rejected.ts";
import { FewestSearch } from "./fewest.ts";
import type { Suspects } from "./suspects.ts";
import type { WithoutFilters } from "./variants.ts";

/** The next resource to build: the resource without some filters, or a closed resource. */
export type StandInNeed =
  | { readonly is: "without"; readonly without: readonly string[] }
  | { readonly is: "closed" }
  /** The resource without any patch, for a later comparison. */
  | { readonly is: "plain" };

/** The known facts at the time of the rejection. */
export interface RejectionFacts {
  readonly suspects: Suspects;
  /** Whether the client has an earlier version. The earlier version stays unless something better is found. */
  readonly hasEarlier: boolean;
  /** Whether the earlier version is of another mesh. Later changes of the mesh should be in force, too. */
  readonly isOld: boolean;
  /**
   * The resource without patches when the previous version was rejected; undefined: no version was rejected before, or
   * the resource is not known.
   */
  readonly plainBefore: string | undefined;
  /** Filters that the previous version was served without. */
  readonly withoutBefore: readonly string[];
}

/** A rejected resource, and the state of the search for its replacement. */
export class RejectedResource {
  readonly typeUrl: string;
  readonly name: string;
  /** The version with all patches. */
  readonly version: string;
  readonly causes: readonly string[];
  readonly message: string;
  readonly #facts: RejectionFacts;
  readonly #filters: readonly string[];
  /** By version, whether the proxy accepted the version. */
  readonly #answers = new Map<string, boolean>();
  #search: FewestSearch;
  #state: "comparing" | "searching" | "closing" | StandInKind;
  /** The replacement. Undefined: the resource itself, which the wire holds back. `absent`: no resource. */
  shown: EncodedResource | "absent" | undefined;
  /** The version whose answer is awaited. */
  awaits: string | undefined;
  /** The version without patches, if known. */
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

  /** The next resource to look up; undefined: no resource is needed. */
  get need(): StandInNeed | undefined {
    if (this.awaits !== undefined) return undefined;
    if (this.#state === "comparing") return { is: "plain" };
    if (this.#state === "closing") return { is: "closed" };
    const { state } = this.#search;
    if (this.#state === "searching" && state.is !== "helpless") return { is: "without", without: state.without };
    return undefined;
  }

  /** Whether the replacement is still undecided. */
  get isOpen(): boolean {
    return this.#state === "comparing" || this.#state === "searching" || this.#state === "closing";
  }

  /** The sets of filters that the resource is built or served without. An undefined set stands for all filters. */
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

  /** The filters that the proxy goes without; undefined: the resource is not served without filters. */
  get leftOut(): readonly string[] | undefined {
    const { state } = this.#search;
    return this.#state === "without" && state.is === "found" ? state.without : undefined;
  }

  /** The objects that the proxy goes without, with the proxy's words. An undecided object has no words. */
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

  /**
   * Takes the resource without patches. If that resource has changed since the previous rejection, the search for a
   * replacement begins.
   */
  compare(plain: string | undefined): void {
    if (this.#state !== "comparing") return;
    this.plain = plain ?? "";
    const { plainBefore } = this.#facts;
    if (plainBefore !== undefined && plainBefore !== this.plain) this.#begin();
    else this.#state = "earlier";
  }

  /** Offers the resource without the filters of the need; undefined: without the filters there is no resource. */
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

  /** Offers a resource that lets nothing in; undefined: a proxy without the resource is closed. */
  close(resource: EncodedResource | undefined): void {
    if (this.#state !== "closing") return;
    this.shown = resource ?? "absent";
    this.awaits = resource?.version;
    if (resource === undefined) this.#state = "closed";
  }

  /** Takes the proxy's answer to the offered version. */
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

  /** Leaving out harmless filters does not help. */
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
