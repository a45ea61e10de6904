/**
 * Derivations make configuration objects from other objects and from facts.
 *
 * @module
 */
import type { AnyFact, Fact, FactKind } from "../facts/types.ts";
import type { MeshConfig } from "../mesh/types.ts";
import type { AnyConfigObject, ConfigObject, Kind, ObjectMeta, SpecOf } from "../types.ts";

/** The input of a derivation: a user's object, or a fact. */
export type DerivationInput = AnyConfigObject | AnyFact;

/** Kinds of inputs. */
export type InputKind = Kind | FactKind;

/** A derived object, decoded, like a user's object. */
export type DerivedObject<K extends Kind = Kind> = {
  [One in K]: {
    readonly kind: One;
    readonly meta: Pick<ObjectMeta, "name" | "namespace"> & Partial<ObjectMeta>;
    readonly spec: SpecOf<One>;
    /** The source of origin and age. Default: the input, or the first of several inputs. */
    readonly of?: DerivationInput;
  };
}[K];

/**
 * How a derivation reads other objects and facts. Reads are recorded, and a changed answer repeats the derivation. The
 * reader does not show derived objects: nothing is derived from derived objects.
 */
export interface DerivationReader {
  object<K extends Kind>(kind: K, namespace: string, name: string): ConfigObject<K> | undefined;
  /** All objects of a kind or namespace, sorted by key. */
  objects<K extends Kind>(kind: K, namespace?: string): readonly ConfigObject<K>[];
  /** One fact. The namespace of a Namespace is empty. */
  fact<K extends FactKind>(kind: K, namespace: string, name: string): Fact<K> | undefined;
  /** All facts of a kind or namespace, sorted by key. */
  facts<K extends FactKind>(kind: K, namespace?: string): readonly Fact<K>[];
  /** A field of the mesh configuration. */
  mesh<F extends keyof MeshConfig>(field: F): MeshConfig[F];
}

/** Makes objects from other objects and from facts. */
export interface Derivation {
  /** Name of the source of the derived objects. */
  readonly name: string;
  /** Kinds of single inputs. */
  readonly from: readonly InputKind[];
  /**
   * The objects derived from one input. A pure function of the input and of the reads. If two inputs give the same
   * object, the input whose key sorts first wins.
   *
   * @throws Anything: a defect. The input then keeps its earlier objects; other inputs are not affected.
   */
  derive(input: DerivationInput, read: DerivationReader): readonly DerivedObject[];
  /** Makes the objects that depend on several inputs. Absent: no such objects. */
  readonly shared?: SharedDerivation;
}

/** Makes objects that depend on several inputs, such as the routes of one host. */
export interface SharedDerivation {
  /** Names of an input's groups: a function of the input alone, so that a change costs only the input's groups. */
  groupsOf(input: DerivationInput): readonly string[];
  /** The objects derived from the inputs of one group, sorted by key. Same rules as {@linkcode Derivation.derive}. */
  derive(group: string, members: readonly DerivationInput[], read: DerivationReader): readonly DerivedObject[];
}
