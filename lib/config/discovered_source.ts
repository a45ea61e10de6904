/**
 * A source of a store that lets in only some objects: objects of discovered namespaces that this control plane is to
 * read.
 *
 *     a feed, a folder ──apply──> [ discovered? read here? ] ──yes──> store
 *                                            └──no──> held back, by namespace <── labels of a namespace change
 *
 * An object held back waits for its namespace, and is not read again.
 *
 * @module
 */
import type { DiscoveredNamespaces } from "./discovered_namespaces.ts";
import type { ChangeSet, StoreChanges, StoredObject, StoreSource } from "./store.ts";

/** Why an object is not let in: because of its namespace, or because this control plane is not to read the object. */
export type LeftOut = "not discovered" | "for others";

export class DiscoveredSource<O extends StoredObject> implements StoreSource<O> {
  readonly #target: StoreSource<O>;
  readonly #namespaces: DiscoveredNamespaces;
  readonly #isRead: (object: O) => boolean;
  readonly #held = new Map<string, Map<string, O>>();
  /** Keys of the objects for other control planes. */
  readonly #passedOver = new Set<string>();

  /**
   * @param isRead Whether this control plane reads an object; the answer holds for the life of the object's version.
   */
  constructor(target: StoreSource<O>, namespaces: DiscoveredNamespaces, isRead: (object: O) => boolean) {
    this.#target = target;
    this.#namespaces = namespaces;
    this.#isRead = isRead;
    namespaces.onChange((names) => this.#look(names));
  }

  get name(): string {
    return this.#target.name;
  }

  /** Without objects held back. */
  get size(): number {
    return this.#target.size;
  }

  /** Without objects held back. */
  objects(): Iterable<O> {
    return this.#target.objects();
  }

  /** Why the present version of an object was not let in; undefined: let in, or no such object. */
  leftOut(key: string): LeftOut | undefined {
    const [, namespace = ""] = key.split("/");
    if (this.#passedOver.has(key)) return "for others";
    return this.#held.get(namespace)?.has(key) ? "not discovered" : undefined;
  }

  apply({ upserted, removed }: StoreChanges<O>): ChangeSet<O> {
    for (const key of removed) this.#release(key);
    const [admitted, left]: [O[], string[]] = [[], [...removed]];
    for (const object of upserted) {
      this.#release(object.key);
      if (!this.#isRead(object)) {
        this.#passedOver.add(object.key);
        left.push(object.key);
      } else if (this.#namespaces.has(object.meta.namespace)) admitted.push(object);
      else {
        this.#hold(object);
        left.push(object.key);
      }
    }
    return this.#target.apply({ upserted: admitted, removed: left });
  }

  #hold(object: O): void {
    const { namespace } = object.meta;
    const there = this.#held.get(namespace);
    if (there === undefined) this.#held.set(namespace, new Map([[object.key, object]]));
    else there.set(object.key, object);
  }

  #release(key: string): void {
    this.#passedOver.delete(key);
    if (this.#held.size === 0) return;
    const [, namespace = ""] = key.split("/");
    const there = this.#held.get(namespace);
    if (there?.delete(key) && there.size === 0) this.#held.delete(namespace);
  }

  /** Moves the objects of these namespaces in or out. Objects of other namespaces are at most looked at. */
  #look(names: ReadonlySet<string> | undefined): void {
    const upserted: O[] = [];
    for (const namespace of [...names ?? this.#held.keys()]) {
      if (!this.#namespaces.has(namespace)) continue;
      upserted.push(...this.#held.get(namespace)?.values() ?? []);
      this.#held.delete(namespace);
    }
    const left: O[] = [];
    const mayLeave = names === undefined || [...names].some((name) => !this.#namespaces.has(name));
    for (const object of mayLeave ? this.#target.objects() : []) {
      if (!this.#namespaces.has(object.meta.namespace)) left.push(object);
    }
    for (const object of left) this.#hold(object);
    if (upserted.length + left.length === 0) return;
    this.#target.apply({ upserted, removed: left.map(({ key }) => key) });
  }
}
