/**
 * Users' configuration objects, read, normalised and validated.
 *
 * @module
 */
import type { AssignedAddress } from "./kinds/assigned_addresses.ts";
import type { Kind, KindSpecs } from "./kinds/kinds.ts";
import type { Origin } from "../finding/origin.ts";
import type { JsonObject } from "./schema/json.ts";

export type { Kind } from "./kinds/kinds.ts";

/** Spec type of a kind. */
export type SpecOf<K extends Kind> = KindSpecs[K];

/**
 * Creation of an object without a date: the last possible moment of a date, so every dated object is older. Istio is
 * similar: such an object begins at its first reading. Among undated objects the name decides, not the order of
 * reading.
 */
export const UNDATED = 8_640_000_000_000_000;

/** Metadata of an object, labels and annotations in our spelling (`mesh.io`, never `istio.io`). */
export interface ObjectMeta {
  readonly name: string;
  /**
   * Objects without a namespace get the source's default namespace. Empty only for kinds whose objects are in no
   * namespace.
   */
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** ms since the epoch; {@linkcode UNDATED} when not written (files rarely do). Older objects win conflicts. */
  readonly creationTimestamp: number;
  /** Counts spec changes at the orchestrator; absent for files. */
  readonly generation?: number;
}

/**
 * One valid object. Immutable; a change makes a new object.
 *
 * `hash` covers the spec and the metadata that translation reads (see `./hashed_object.ts`). So two versions with equal
 * hashes translate alike, and an edit of other metadata causes no push.
 */
export interface ConfigObject<K extends Kind = Kind> {
  readonly kind: K;
  /** `kind/namespace/name`; without a namespace `kind//name`. */
  readonly key: string;
  readonly meta: ObjectMeta;
  readonly spec: SpecOf<K>;
  /** Addresses assigned by the status to the hosts of a ServiceEntry; absent: none. */
  readonly assigned?: readonly AssignedAddress[];
  /** Whether the status calls the workload of a WorkloadEntry healthy; absent: the status does not say. */
  readonly healthy?: boolean;
  /** The status as read, of kinds of the Gateway API; absent: none was read. Not part of the hash. */
  readonly status?: JsonObject;
  readonly origin: Origin;
  readonly hash: string;
}

/** An object of any kind as a union, so that `switch (object.kind)` narrows `object.spec`. */
export type AnyConfigObject = { [K in Kind]: ConfigObject<K> }[Kind];

/** Key of an object: `kind/namespace/name`; without a namespace `kind//name`. */
export function objectKey(kind: Kind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

/** Narrows an object to one kind. */
export function isKind<K extends Kind>(object: ConfigObject, kind: K): object is ConfigObject<K> {
  return object.kind === kind;
}
