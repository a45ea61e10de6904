/**
 * Policies that are read and not enforced yet: their authors must not believe that they protect anything. Each is one
 * warning line with the number of connected workloads that it is for.
 *
 * @module
 */
import { KINDS } from "../config/kinds/kinds.ts";
import type { ConfigStore } from "../config/store.ts";
import type { ConfigObject, Kind } from "../config/types.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { notBuilt } from "../kernel/not_built/catalogue.ts";
import type { Cancel } from "../kernel/time/clock.ts";
import { withTargets } from "../mesh/selection/gateway_target.ts";
import { SelectionIndex } from "../mesh/selection/index.ts";
import { isSelecting, type SelectingKind } from "../mesh/selection/selection.ts";
import { type Finding, warningOf } from "../config/finding/finding.ts";
import type { Pipeline } from "./pipeline.ts";

/** Time from a connection to the look at policies that no workload had, ms: many proxies connect at once. */
export const POLICY_REVIEW_DELAY = 1000;

/** Kinds whose objects restrict requests, and have no effect yet. */
export function isUnenforced(kind: Kind): kind is SelectingKind {
  return notBuilt("kind", kind)?.part === "security" && isSelecting(kind);
}

/** The policies of a store that are not enforced, and for how many connected workloads they would be. */
export class UnenforcedPolicies {
  readonly #store: ConfigStore;
  readonly #pipeline: Pipeline;
  readonly #kernel: Kernel;
  readonly #stopListening: () => void;
  /** Policies that were for no workload when they were logged last. */
  readonly #forNobody = new Set<string>();
  #index: SelectionIndex<SelectingKind>;
  #rootNamespace: string;
  #review: Cancel | undefined;

  /** Logs the policies that there are, and those that come later. */
  constructor(store: ConfigStore, pipeline: Pipeline, kernel: Kernel) {
    this.#store = store;
    this.#pipeline = pipeline;
    this.#kernel = kernel;
    this.#rootNamespace = pipeline.mesh.rootNamespace;
    this.#index = this.#newIndex();
    this.#log(this.#policies());
    this.#stopListening = store.subscribe(({ added, updated, removed }) => {
      const gone = [...removed, ...updated.map((one) => one.old)].filter(isPolicy);
      const come = [...added, ...updated.map((one) => one.new)].filter(isPolicy);
      this.#index.update(gone, come);
      for (const { key } of gone) this.#forNobody.delete(key);
      this.#log(come);
    });
  }

  /** A proxy has connected: policies that no workload had may be for it. */
  connected(): void {
    if (this.#forNobody.size > 0) this.#review ??= this.#kernel.clock.after(POLICY_REVIEW_DELAY, () => this.#look());
  }

  /** One warning for each policy, with the numbers of now. */
  warnings(): Finding[] {
    const { counts, connected } = this.#counts();
    return this.#policies().map((policy) =>
      warningOf("unenforced-policy", [policy.key], unenforcedText(policy, counts.get(policy.key) ?? 0, connected))
    );
  }

  /** No more lines. */
  stop(): void {
    this.#review?.();
    this.#stopListening();
  }

  #look(): void {
    this.#review = undefined;
    const { counts } = this.#counts();
    this.#log(this.#policies().filter(({ key }) => this.#forNobody.has(key) && counts.has(key)));
  }

  #log(policies: readonly ConfigObject<SelectingKind>[]): void {
    if (policies.length === 0) return;
    const log = this.#kernel.log.scope("authorization");
    const { counts, connected } = this.#counts();
    for (const policy of policies) {
      const workloads = counts.get(policy.key) ?? 0;
      if (workloads === 0) this.#forNobody.add(policy.key);
      else this.#forNobody.delete(policy.key);
      log.warn(unenforcedText(policy, workloads, connected), { objects: [policy.key], workloads, connected });
    }
  }

  #policies(): ConfigObject<SelectingKind>[] {
    return KINDS.filter(isUnenforced).flatMap((kind) => [...this.#store.list(kind)]);
  }

  #newIndex(): SelectionIndex<SelectingKind> {
    const index = new SelectionIndex<SelectingKind>(this.#rootNamespace);
    index.update([], this.#policies());
    return index;
  }

  #counts(): { readonly counts: ReadonlyMap<string, number>; readonly connected: number } {
    const { rootNamespace } = this.#pipeline.mesh;
    if (rootNamespace !== this.#rootNamespace) {
      this.#rootNamespace = rootNamespace;
      this.#index = this.#newIndex();
    }
    const workloads = [...this.#pipeline.translator.workloads()].map(withTargets);
    return { counts: this.#index.counts(workloads), connected: workloads.length };
  }
}

function isPolicy(object: ConfigObject): object is ConfigObject<SelectingKind> {
  return isUnenforced(object.kind);
}

function unenforcedText({ kind, meta }: ConfigObject, workloads: number, connected: number): string {
  return `${kind} ${meta.namespace}/${meta.name} is not enforced (this version enforces no ${kind}); ` +
    `it would apply to ${workloads} of ${connected} connected workloads`;
}
