/**
 * Derivations, which make configuration objects from other objects and from facts.
 *
 * @module
 */
import type { AnyFact, Fact, FactKind } from "../facts/types.ts";
import type { MeshConfig } from "../mesh/types.ts";
import type { AnyConfigObject, ConfigObject, Kind, ObjectMeta, SpecOf } from "../types.ts";

/** The input of a derivation: an object that a user wrote, or a fact. */
export type DerivationInput = AnyConfigObject | AnyFact;

/** Kinds that something may be derived from. */
export type InputKind = Kind | FactKind;

/** An object as a derivation makes it: as a user would write it, decoded. */
export type DerivedObject<K extends Kind = Kind> = {
  [One in K]: {
    readonly kind: One;
    readonly meta: Pick<ObjectMeta, "name" | "namespace"> & Partial<ObjectMeta>;
    readonly spec: SpecOf<One>;
    /** The input that it comes from, for its origin and its age. Default: the input, the first of several. */
    readonly of?: DerivationInput;
  };
}[K];

/**
 * How a derivation reads other objects and facts. Its reads are recorded, and when an answer changes it derives again.
 * Derived objects are not there: nothing is derived twice over.
 */
export interface DerivationReader {
  object<K extends Kind>(kind: K, namespace: string, name: string): ConfigObject<K> | undefined;
  /** All objects of a kind, or those of a namespace, sorted by key. */
  objects<K extends Kind>(kind: K, namespace?: string): readonly ConfigObject<K>[];
  /** One fact; the namespace of a Namespace is empty. */
  fact<K extends FactKind>(kind: K, namespace: string, name: string): Fact<K> | undefined;
  /** All facts of a kind, or those of a namespace, sorted by key. */
  facts<K extends FactKind>(kind: K, namespace?: string): readonly Fact<K>[];
  /** A field of the mesh configuration. */
  mesh<F extends keyof MeshConfig>(field: F): MeshConfig[F];
}

/** Makes objects from other objects and from facts. */
export interface Derivation {
  /** Name of the source that its objects come from. */
  readonly name: string;
  /** Kinds whose objects it derives from, one by one. */
  readonly from: readonly InputKind[];
  /**
   * The objects derived from one input. A pure function of the input and of what it reads. The same object from two inputs
   * comes from the one whose key sorts first.
   *
   * @throws Anything: a defect, which costs this input's objects alone; those that it had stay.
   */
  derive(input: DerivationInput, read: DerivationReader): readonly DerivedObject[];
  /** Makes the objects that several inputs have a say in. Absent: there are none. */
  readonly shared?: SharedDerivation;
}

/** Makes objects in which several inputs have a say, such as the routes of one host. */
export interface SharedDerivation {
  /** Names of the groups that an input is in: a function of the input alone, so that a change costs its groups. */
  groupsOf(input: DerivationInput): readonly string[];
  /**
   * The objects derived from the inputs of one group, which come sorted by their keys. As {@linkcode Derivation.derive}.
   */
  derive(group: string, members: readonly DerivationInput[], read: DerivationReader): readonly DerivedObject[];
}
