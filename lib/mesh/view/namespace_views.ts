/**
 * Views, each for all namespaces that see the same.
 *
 * @module
 */

/** A view of namespaces. */
export interface SharedView {
  /**
   * A namespace with this view. Another namespace takes over after a change. Empty: no namespace has this view any
   * more.
   */
  readonly representative: string;
}

class NamespaceGroup implements SharedView {
  representative = "";
  readonly #members = new Set<string>();

  constructor(public key: string) {}

  get empty(): boolean {
    return this.#members.size === 0;
  }

  add(namespace: string): void {
    this.#members.add(namespace);
    if (this.representative === "") this.representative = namespace;
  }

  delete(namespace: string): void {
    this.#members.delete(namespace);
    if (this.representative !== namespace) return;
    const [other = ""] = this.#members;
    this.representative = other;
  }
}

/** The views of namespaces. */
export class NamespaceViews {
  readonly #keyOf: (namespace: string) => string;
  readonly #byKey = new Map<string, NamespaceGroup>();
  readonly #byNamespace = new Map<string, NamespaceGroup>();

  /** @param keyOf Equal for namespaces with the same view. */
  constructor(keyOf: (namespace: string) => string) {
    this.#keyOf = keyOf;
  }

  /** The view of a namespace: the same object for all namespaces with the view. */
  of(namespace: string): SharedView {
    return this.#byNamespace.get(namespace) ?? this.#join(namespace, this.#keyOf(namespace), undefined);
  }

  /**
   * Takes in possible changes of namespaces' views. A view stays the same object for namespaces that still agree.
   *
   * @returns The namespaces with another view.
   */
  update(changed: Iterable<string>): Set<string> {
    const before = new Map<string, NamespaceGroup>();
    for (const namespace of changed) {
      const view = this.#byNamespace.get(namespace);
      if (!view) continue;
      before.set(namespace, view);
      view.delete(namespace);
      if (view.empty) this.#byKey.delete(view.key);
    }
    const moved = new Set<string>();
    for (const [namespace, view] of before) {
      const now = this.#join(namespace, this.#keyOf(namespace), view.empty ? view : undefined);
      if (now !== view) moved.add(namespace);
    }
    return moved;
  }

  /** @param vacant A view without namespaces, used for the key if the key has no view. */
  #join(namespace: string, key: string, vacant: NamespaceGroup | undefined): NamespaceGroup {
    let view = this.#byKey.get(key);
    if (!view) {
      view = vacant ?? new NamespaceGroup(key);
      view.key = key;
      this.#byKey.set(key, view);
    }
    view.add(namespace);
    this.#byNamespace.set(namespace, view);
    return view;
  }

  /** Forgets all other namespaces. Call it regularly. */
  keep(namespaces: ReadonlySet<string>): void {
    for (const [namespace, view] of this.#byNamespace) {
      if (namespaces.has(namespace)) continue;
      this.#byNamespace.delete(namespace);
      view.delete(namespace);
      if (view.empty) this.#byKey.delete(view.key);
    }
  }
}
