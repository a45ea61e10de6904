/**
 * How a derivation reads objects and facts: each query is recorded, so that a change derives its readers again.
 *
 * @module
 */
import type { InvalidatedKeys } from "../../incremental/keys.ts";
import type { Recorder, SourceQuery } from "../../incremental/read_record.ts";
import type { FactStore } from "../facts/store.ts";
import type { Fact, FactKind } from "../facts/types.ts";
import type { MeshConfig } from "../mesh/types.ts";
import type { ConfigStore, StoredObject } from "../store.ts";
import type { ConfigObject, Kind } from "../types.ts";
import type { DerivationInput, DerivationReader, InputKind } from "./derivation.ts";

/** The source that derivations read from. */
export interface DerivationSource {
  readonly store: ConfigStore;
  readonly facts: FactStore;
  /** The mesh configuration in force. */
  readonly mesh: () => MeshConfig;
  /** The members of a group, sorted by key. */
  readonly members: (group: string) => readonly DerivationInput[];
  readonly properties: undefined;
  readonly view: object;
}

/**
 * The keys of queries: one object, the objects of a kind in a namespace, all objects of a kind; a field of the mesh
 * configuration; the members of a group.
 */
type Reach = "object" | "namespace" | "kind" | "mesh" | "group";

type Query<T> = SourceQuery<DerivationSource, T>;

/** A query about objects by `kind/namespace/name`, `kind/namespace` or `kind`; answers have this kind. */
function query<T>(reach: Reach, ask: (source: DerivationSource, parts: readonly string[]) => T): Query<T> {
  return { ask: (source, name) => ask(source, name.split("/")), on: [reach] };
}

const oneObject = query("object", ({ store }, [kind = "", namespace = "", name = ""]) => {
  const found: ConfigObject | undefined = store.get(kind as Kind, namespace, name);
  return found !== undefined && isWritten(found) ? found : undefined;
});
const objectsIn = query("namespace", ({ store }, [kind, namespace]) => written(store.list(kind as Kind, namespace)));
const allObjects = query("kind", ({ store }, [kind]) => written(store.list(kind as Kind)));
const oneFact = query(
  "object",
  ({ facts }, [kind, namespace = "", name = ""]): Fact | undefined => facts.get(kind as FactKind, namespace, name),
);
const factsIn = query(
  "namespace",
  ({ facts }, [kind, namespace]): readonly Fact[] => facts.list(kind as FactKind, namespace),
);
const allFacts = query("kind", ({ facts }, [kind]): readonly Fact[] => facts.list(kind as FactKind));

const meshField: Query<unknown> = {
  ask: ({ mesh }, field) => mesh()[field as keyof MeshConfig],
  on: ["mesh" satisfies Reach],
};

const groupMembers: Query<readonly DerivationInput[]> = {
  ask: ({ members }, group) => members(group),
  on: ["group" satisfies Reach],
};

/** A recording reader. */
export class DerivationRecorder implements DerivationReader {
  readonly #recorder: Recorder<DerivationSource>;

  /** @param recorder Gets the queries. */
  constructor(recorder: Recorder<DerivationSource>) {
    this.#recorder = recorder;
  }

  // The name of a query begins with the kind of its answers. The compiler cannot follow the kind through a text.

  object<K extends Kind>(kind: K, namespace: string, name: string): ConfigObject<K> | undefined {
    return this.#recorder.ask(oneObject, `${kind}/${namespace}/${name}`) as ConfigObject<K> | undefined;
  }

  objects<K extends Kind>(kind: K, namespace?: string): readonly ConfigObject<K>[] {
    return this.#list(allObjects, objectsIn, kind, namespace) as readonly StoredObject[] as readonly ConfigObject<K>[];
  }

  fact<K extends FactKind>(kind: K, namespace: string, name: string): Fact<K> | undefined {
    return this.#recorder.ask(oneFact, `${kind}/${namespace}/${name}`) as Fact<K> | undefined;
  }

  facts<K extends FactKind>(kind: K, namespace?: string): readonly Fact<K>[] {
    return this.#list(allFacts, factsIn, kind, namespace) as readonly StoredObject[] as readonly Fact<K>[];
  }

  mesh<F extends keyof MeshConfig>(field: F): MeshConfig[F] {
    return this.#recorder.ask(meshField, field) as MeshConfig[F];
  }

  members(group: string): readonly DerivationInput[] {
    return this.#recorder.ask(groupMembers, group);
  }

  #list<T>(all: Query<T>, some: Query<T>, kind: InputKind, namespace: string | undefined): T {
    return namespace === undefined ? this.#recorder.ask(all, kind) : this.#recorder.ask(some, `${kind}/${namespace}`);
  }
}

/** Adds the keys of the queries that read a changed object. */
export function invalidateReads({ kind, key, meta: { namespace } }: StoredObject, keys: InvalidatedKeys): void {
  keys.add("object" satisfies Reach, key);
  keys.add("namespace" satisfies Reach, `${kind}/${namespace}`);
  keys.add("kind" satisfies Reach, kind);
}

/** Adds the key of the queries that read the members of a changed group. */
export function invalidateGroup(group: string, keys: InvalidatedKeys): void {
  keys.add("group" satisfies Reach, group);
}

/** Adds the keys of the queries that read a changed field of the mesh configuration. */
export function invalidateMesh(before: MeshConfig, after: MeshConfig, keys: InvalidatedKeys): void {
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before, after].map((mesh) => mesh[field as keyof MeshConfig]);
    if (old !== now) keys.add("mesh" satisfies Reach, field);
  }
}

/** Whether an object was written by a user, not derived. */
export function isWritten({ origin }: StoredObject): boolean {
  return origin.from !== "derived";
}

function written(objects: readonly ConfigObject[]): readonly ConfigObject[] {
  return objects.every(isWritten) ? objects : objects.filter(isWritten);
}
