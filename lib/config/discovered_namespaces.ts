/**
 * The namespaces chosen by `discoverySelectors` of the mesh configuration, by the labels of their objects.
 *
 * @module
 */
import type { FactStore } from "./facts/store.ts";
import type { Fact } from "./facts/types.ts";
import { meetsLabelSelector } from "./mesh/label_selector.ts";
import type { LabelSelector } from "./mesh/types.ts";
import type { ChangeSet } from "./store.ts";

/**
 * The label of every namespace of an orchestrator, with the name of the namespace. Selectors may use the label although
 * nobody wrote the label.
 */
const NAME_LABEL = "kubernetes.io/metadata.name";

/** Gets the namespaces that become discovered, or no longer are; undefined: any namespaces. Must not throw. */
export type DiscoveryListener = (names: ReadonlySet<string> | undefined) => void;

export class DiscoveredNamespaces {
  readonly #facts: FactStore;
  readonly #needsObject: boolean;
  readonly #listeners = new Set<DiscoveryListener>();
  /** The answers for the present selectors. */
  readonly #answers = new Map<string, boolean>();
  #selectors: readonly LabelSelector[] = [];

  /**
   * @param facts Holds the objects of namespaces.
   * @param needsObject With selectors, a namespace without an object is not discovered: an API has an object for each
   * namespace. False: such a namespace has its name as a label, as in a folder of manifests without Namespace objects.
   */
  constructor(facts: FactStore, needsObject: boolean) {
    this.#facts = facts;
    this.#needsObject = needsObject;
    facts.subscribe((changes) => this.#take(changes));
  }

  /** Whether objects of a namespace are read. Objects without a namespace (empty) always are. */
  has(namespace: string): boolean {
    if (namespace === "" || this.#selectors.length === 0) return true;
    let answer = this.#answers.get(namespace);
    if (answer === undefined) this.#answers.set(namespace, answer = this.#selected(namespace));
    return answer;
  }

  /** Takes other selectors; none: all namespaces are discovered. */
  use(selectors: readonly LabelSelector[]): void {
    if (JSON.stringify(selectors) === JSON.stringify(this.#selectors)) return;
    this.#selectors = selectors;
    this.#answers.clear();
    for (const listener of this.#listeners) listener(undefined);
  }

  /** Calls `listener` whenever the answer for some namespaces changes. @returns ends the calls */
  onChange(listener: DiscoveryListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #selected(namespace: string): boolean {
    const object = this.#facts.get("Namespace", "", namespace);
    if (object === undefined && this.#needsObject) return false;
    const labels = { ...object?.meta.labels, [NAME_LABEL]: namespace };
    return this.#selectors.some((selector) => meetsLabelSelector(selector, labels));
  }

  #take({ added, updated, removed, refreshed }: ChangeSet<Fact>): void {
    if (this.#selectors.length === 0) return;
    const facts = [...added, ...removed, ...[...updated, ...refreshed].map((update) => update.new)];
    const changed = new Set<string>();
    for (const { kind, meta: { name } } of facts) {
      const before = kind === "Namespace" ? this.#answers.get(name) : undefined;
      if (before === undefined) continue;
      const now = this.#selected(name);
      if (now === before) continue;
      this.#answers.set(name, now);
      changed.add(name);
    }
    if (changed.size > 0) { for (const listener of this.#listeners) listener(changed); }
  }
}
