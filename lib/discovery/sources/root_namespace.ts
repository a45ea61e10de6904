/**
 * The root namespace of a server, chosen once at the start. Later objects in another root namespace give findings. A
 * root namespace that was chosen while the folder was empty gives a finding too, because a folder that is filled later
 * does not change the choice.
 *
 * @module
 */
import { fieldFinding, type Finding, findingOf, NOWHERE } from "../../finding/finding.ts";
import { chooseRootNamespace, isMeshWideInRoot, rootNamespaceCandidates } from "../../config/mesh/root_namespace.ts";
import { KINDS } from "../../config/kinds/kinds.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { AnyConfigObject, ConfigObject } from "../../config/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { findingFields } from "./finding_log.ts";
import type { MeshSource } from "./mesh_source.ts";
import { StartError } from "../settings/start_error.ts";

/** The findings about mesh-wide objects outside the root namespace, and about a root namespace that no object chose. */
export interface RootNamespaceReview {
  /**
   * One warning for each object outside the root namespace, or one warning about a folder that was empty at the start.
   */
  findings(): Finding[];
}

/**
 * If the mesh configuration names no root namespace, chooses a root namespace from the objects, and goes on watching.
 *
 * @param own Namespace of the control plane.
 * @param folder The folder of configuration; undefined: there is no folder to fill later.
 * @throws {StartError} When several namespaces hold objects for the whole mesh.
 */
export function startRootNamespace(
  store: ConfigStore,
  mesh: MeshSource,
  own: string,
  kernel: Pick<Kernel, "log">,
  folder?: string,
): RootNamespaceReview {
  const isEmpty = folder !== undefined && store.size === 0;
  if (!mesh.namesRootNamespace) {
    const { namespace, conflict } = chooseRootNamespace(KINDS.flatMap((kind) => [...store.list(kind)]), own);
    if (conflict !== undefined) throw new StartError([{ option: "configDir", text: conflict }]);
    mesh.useRootNamespace(namespace);
    if (namespace !== own) kernel.log.scope("default").info("root namespace chosen by the folder", { namespace });
  }
  const review = new Review(store, mesh, own, kernel, isEmpty ? folder : undefined);
  for (const one of review.findings()) kernel.log.scope("default").warn(one.message, findingFields(one));
  return review;
}

class Review implements RootNamespaceReview {
  readonly #candidates: ReadonlySet<string>;
  readonly #mesh: MeshSource;
  readonly #kernel: Pick<Kernel, "log">;
  /** The folder that was empty at the start. */
  readonly #empty: string | undefined;
  /** Keys of objects in the root namespace. Such objects confirm the choice. */
  readonly #inRoot = new Set<string>();
  /** Objects that would be mesh-wide if their namespace were the root namespace. */
  readonly #objects = new Map<string, ConfigObject>();

  constructor(
    store: ConfigStore,
    mesh: MeshSource,
    own: string,
    kernel: Pick<Kernel, "log">,
    empty: string | undefined,
  ) {
    this.#empty = empty;
    this.#candidates = rootNamespaceCandidates(own);
    this.#mesh = mesh;
    this.#kernel = kernel;
    for (const kind of KINDS) for (const object of store.list(kind)) this.#take(object);
    store.subscribe(({ added, updated, removed }) => {
      for (const { key } of removed) {
        this.#objects.delete(key);
        this.#inRoot.delete(key);
      }
      for (const one of updated) this.#take(one.new);
      for (const object of added) {
        this.#take(object);
        const found = this.#findingOf(object);
        if (found !== undefined) this.#kernel.log.scope("validation").warn(found.message, findingFields(found));
      }
    });
  }

  findings(): Finding[] {
    const outside = [...this.#objects.values()].map((object) => this.#findingOf(object))
      .filter((one) => one !== undefined);
    // A finding about an object outside says the same, and says where the object is.
    return outside.length > 0 ? outside : this.#ofEmptyFolder();
  }

  #ofEmptyFolder(): Finding[] {
    if (this.#empty === undefined || this.#mesh.namesRootNamespace || this.#inRoot.size > 0) return [];
    const { rootNamespace } = this.#mesh.state.mesh;
    const message = `the root namespace is ${rootNamespace} until the next start, since folder ${this.#empty} had no ` +
      "object of the mesh at the present start, expected rootNamespace in the mesh configuration, or a folder with objects";
    return [findingOf("root-namespace-of-empty-folder", { severity: "warning", place: NOWHERE, message })];
  }

  #take(object: ConfigObject): void {
    if (object.meta.namespace === this.#mesh.state.mesh.rootNamespace) this.#inRoot.add(object.key);
    if (this.#candidates.has(object.meta.namespace) && isMeshWideInRoot(object as AnyConfigObject)) {
      this.#objects.set(object.key, object);
    } else this.#objects.delete(object.key);
  }

  #findingOf({ key, kind, meta: { namespace, name }, origin }: ConfigObject): Finding | undefined {
    const { rootNamespace } = this.#mesh.state.mesh;
    if (!this.#objects.has(key) || this.#mesh.namesRootNamespace || namespace === rootNamespace) return undefined;
    const expected = `${rootNamespace}, the root namespace since the start, or rootNamespace in the mesh configuration`;
    const line = origin.from === "file" ? origin.line : 0;
    const place = { objects: [{ kind, namespace, name }], field: "metadata.namespace", origin, line };
    const found = fieldFinding("outside-root-namespace", "warning", place, namespace, expected);
    const message = `${kind} ${namespace}/${name} does not apply to the whole mesh: ${found.message}`;
    return { ...found, message };
  }
}
