/**
 * Objects with a hash that is computed on first use: hashes are needed only to compare versions of one object, and most
 * objects have a single version.
 *
 * @module
 */
import { hash as digest } from "node:crypto";
import type { AssignedAddress } from "./kinds/assigned_addresses.ts";
import { movedOrigin, type Origin, originInFile } from "../finding/origin.ts";
import { CONNECTION_ANNOTATIONS } from "./kinds/workload_entry/registration.ts";
import type { ConfigObject, Kind, ObjectMeta, SpecOf } from "./types.ts";
import type { JsonObject } from "./schema/json.ts";
import { objectKey } from "./types.ts";

/** The parts of a status that are kept: what translation reads, and the whole status where this server writes it. */
export interface StatusFacts {
  readonly assigned?: readonly AssignedAddress[] | undefined;
  readonly healthy?: boolean | undefined;
  readonly status?: JsonObject | undefined;
}

/** An object read from a source. */
export class HashedObject<K extends Kind = Kind> implements ConfigObject<K> {
  readonly kind: K;
  readonly key: string;
  readonly meta: ObjectMeta;
  readonly spec: SpecOf<K>;
  readonly origin: Origin;
  readonly assigned?: readonly AssignedAddress[];
  readonly healthy?: boolean;
  readonly status?: JsonObject;
  #hash: string | undefined;

  constructor(
    kind: K,
    meta: ObjectMeta,
    spec: SpecOf<K>,
    origin: Origin,
    { assigned, healthy, status }: StatusFacts = {},
  ) {
    this.kind = kind;
    this.key = objectKey(kind, meta.namespace, meta.name);
    this.meta = meta;
    this.spec = spec;
    this.origin = origin;
    if (assigned !== undefined) this.assigned = assigned;
    if (healthy !== undefined) this.healthy = healthy;
    if (status !== undefined) this.status = status;
  }

  get hash(): string {
    return this.#hash ??= hashObject(this.kind, this.meta, this.spec, this);
  }
}

/** The same object some lines further down in its file. */
export function movedObject(object: ConfigObject, by: number): ConfigObject {
  const { kind, meta, spec, origin } = object;
  return new HashedObject(kind, meta, spec, movedOrigin(origin, by), object);
}

/** The same object in another document of another file, which holds a refused text of the object. */
export function objectInFile(object: ConfigObject, file: string, line: number): ConfigObject {
  const { kind, meta, spec, origin } = object;
  return new HashedObject(kind, meta, spec, originInFile(origin, file, line), object);
}

/** Kinds whose labels are data: the labels become labels of services and workloads. */
const LABELS_ARE_DATA: ReadonlySet<Kind> = new Set(["ServiceEntry", "WorkloadEntry", "WorkloadGroup"]);

/**
 * Hash of everything that translation reads: kind, namespace, name, creation time, spec, labels and annotations of the
 * domain `mesh.io`; for services and workloads all labels; of a status the assigned addresses and the health. Other
 * edits keep the hash. 128 bits of SHA-256, base64.
 */
function hashObject(
  kind: Kind,
  meta: ObjectMeta,
  spec: unknown,
  { assigned, healthy }: StatusFacts = {},
): string {
  const read = LABELS_ARE_DATA.has(kind) ? sorted(meta.labels) : sorted(meta.labels, isOurs);
  const text = JSON.stringify([
    kind,
    meta.namespace,
    meta.name,
    meta.creationTimestamp,
    read,
    sorted(meta.annotations, isOurs),
    spec,
    ...(assigned === undefined ? [] : [assigned]),
    ...(healthy === undefined ? [] : [healthy]),
  ]);
  return digest("sha256", text, "base64url").slice(0, 22);
}

function isOurs(key: string): boolean {
  return key.includes("mesh.io/") && !CONNECTION_ANNOTATIONS.has(key);
}

/** Decoded maps are sorted already; metadata from elsewhere may not be. */
function sorted(
  map: Readonly<Record<string, string>>,
  keep: (key: string) => boolean = () => true,
): [string, string][] {
  return Object.entries(map).filter(([key]) => keep(key)).sort(([a], [b]) => (a < b ? -1 : 1));
}
