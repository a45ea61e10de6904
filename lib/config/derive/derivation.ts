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
 * How a derivation reads other objects and facts. Reads are recorded: if an answer changes, the derivation runs again. The
 * reader does not show derived objects, so no object is derived from a derived object.
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
  /** The members of a group of the derivation, sorted by key; also of a group that no input derives. */
  members(group: string): readonly DerivationInput[];
}

/** The reader of a group's derivation. */
export interface GroupReader extends DerivationReader {
  /**
   * A kept part of the derivation. The part is built again only if one of its inputs is another object, or if an answer
   * to a read of its builder has changed. The derivation need not repeat these reads.
   *
   * @param name Unique in the group.
   */
  part<T>(name: string, inputs: readonly unknown[], build: (read: DerivationReader) => T): T;
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
export interface SharedDerivation<About = unknown> {
  /** Names of an input's groups: a function of the input alone, so that a change costs only the input's groups. */
  groupsOf(input: DerivationInput): readonly string[];
  /**
   * The objects derived from the inputs of one group, sorted by key. Same rules as {@linkcode Derivation.derive}. The
   * same object (`===`) as in an earlier run is not checked again.
   */
  derive(
    group: string,
    members: readonly DerivationInput[],
    read: GroupReader,
  ): readonly DerivedObject[] | DerivedGroup<About>;
  /**
   * Gets what the derivation found out about a group, after each run with another result. Undefined: the group is gone.
   * Absent: nobody asks. Must not throw.
   */
  readonly learned?: (group: string, about: About | undefined) => void;
}

/** The objects of a group, and further findings about the members. */
export interface DerivedGroup<About = unknown> {
  readonly objects: readonly DerivedObject[];
  /** What the derivation found out about the members, such as the reasons for their status. */
  readonly about: About;
}
