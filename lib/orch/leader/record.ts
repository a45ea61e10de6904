/**
 * The record of a lock's holder, in the formats of other programs' electors (`client-go`): an annotation of a config
 * map, or the spec of a lease.
 *
 * @module
 */
import * as z from "zod";
import type { ApiJson } from "../client/answer.ts";
import type { LockForm } from "./locks.ts";

/** The holder of a lock, and since when. Times are for people: nobody decides by another machine's clock. */
export interface LockRecord {
  /** Empty: nobody; the last holder has left. */
  readonly holder: string;
  /** Revision of the holder; a leading `^` marks another cluster. Empty: unknown, and always empty for a lease. */
  readonly key: string;
  /** Seconds for which the lock is held after the last renewal. */
  readonly seconds: number;
  /** RFC 3339; empty: unknown. */
  readonly acquired: string;
  readonly renewed: string;
  /** How often the holder has changed. */
  readonly transitions: number;
}

/** A lock as it was read. */
export interface ReadLock {
  readonly version: string;
  /** Undefined: the object exists without a readable record, so nobody holds the lock. */
  readonly record: LockRecord | undefined;
  /** Changes with every renewal, and with nothing else. */
  readonly text: string;
  /** The whole object. A write keeps the fields of other writers. */
  readonly object: ApiJson;
}

/** Annotation of a config map with the record. */
const ANNOTATION = "control-plane.alpha.kubernetes.io/leader";

const annotationSchema = z.object({
  holderIdentity: z.string(),
  holderKey: z.string().default(""),
  leaseDurationSeconds: z.number().nonnegative(),
  acquireTime: z.string().nullish(),
  renewTime: z.string().nullish(),
  leaderTransitions: z.number().default(0),
});

const leaseSchema = z.object({
  holderIdentity: z.string().nullish(),
  leaseDurationSeconds: z.number().nonnegative().nullish(),
  acquireTime: z.string().nullish(),
  renewTime: z.string().nullish(),
  leaseTransitions: z.number().nullish(),
});

const objectSchema = z.object({
  metadata: z.object({
    resourceVersion: z.string(),
    annotations: z.record(z.string(), z.string()).nullish(),
  }),
  spec: leaseSchema.nullish().catch(undefined),
});

/** Reads a lock. @throws {ZodError} for an object without a version, which the API does not send */
export function readLock(form: LockForm, object: ApiJson): ReadLock {
  const { metadata, spec } = objectSchema.parse(object);
  const version = metadata.resourceVersion;
  if (form === "ConfigMap") {
    const text = metadata.annotations?.[ANNOTATION] ?? "";
    return { version, record: recordOfAnnotation(text), text, object };
  }
  const record = spec === undefined || spec === null ? undefined : {
    holder: spec.holderIdentity ?? "",
    key: "",
    seconds: spec.leaseDurationSeconds ?? 0,
    acquired: spec.acquireTime ?? "",
    renewed: spec.renewTime ?? "",
    transitions: spec.leaseTransitions ?? 0,
  };
  return { version, record, text: JSON.stringify(spec ?? null), object };
}

function recordOfAnnotation(text: string): LockRecord | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { success, data } = annotationSchema.safeParse(json);
  if (!success) return undefined;
  return {
    holder: data.holderIdentity,
    key: data.holderKey,
    seconds: data.leaseDurationSeconds,
    acquired: data.acquireTime ?? "",
    renewed: data.renewTime ?? "",
    transitions: data.leaderTransitions,
  };
}

/** The object with a record. @param object The object as it was read; undefined: a new object. */
export function writeLock(form: LockForm, record: LockRecord, object: ApiJson = {}): ApiJson {
  const metadata = (object["metadata"] ?? {}) as ApiJson;
  if (form === "ConfigMap") {
    const { holder, key, seconds, acquired, renewed, transitions } = record;
    const text = JSON.stringify({
      ...{ holderIdentity: holder, holderKey: key, leaseDurationSeconds: seconds },
      ...{ acquireTime: wholeSeconds(acquired), renewTime: wholeSeconds(renewed), leaderTransitions: transitions },
    });
    const annotations = { ...metadata["annotations"] as ApiJson | undefined, [ANNOTATION]: text };
    return { ...object, metadata: { ...metadata, annotations } };
  }
  const spec = {
    ...object["spec"] as ApiJson | undefined,
    holderIdentity: record.holder,
    // A lease refuses zero, and the record of a holder that has left has zero.
    leaseDurationSeconds: Math.max(1, record.seconds),
    acquireTime: microseconds(record.acquired),
    renewTime: microseconds(record.renewed),
    leaseTransitions: record.transitions,
  };
  return { ...object, metadata, spec };
}

/** A time in the format of `client-go` for annotations. */
function wholeSeconds(time: string): string | null {
  return time === "" ? null : time.replace(/\.\d+/, "");
}

/** A time in the format of leases. */
function microseconds(time: string): string | null {
  if (time === "") return null;
  const [, whole, part = ""] = /^([^.]*)(?:\.(\d+))?Z$/.exec(time) ?? [];
  return whole === undefined ? time : `${whole}.${part.slice(0, 6).padEnd(6, "0")}Z`;
}
