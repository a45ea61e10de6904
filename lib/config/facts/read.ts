/**
 * Facts from the JSON of an orchestrator's API or of a manifest.
 *
 *     JSON ──> kind ──> metadata ──> schema ──> fact with hash
 *
 * Only the fields that the server reads are checked: the orchestrator reports mistakes in other fields. A mistake in a
 * checked field becomes a finding, and the fact is left out. Findings contain nothing of a secret's data.
 *
 * @module
 */
import * as z from "zod";
import { type Finding, type FindingPlace, shownName } from "../../finding/finding.ts";
import type { ObjectName } from "../../finding/object_name.ts";
import { Findings } from "../../finding/findings.ts";
import { parseMeta } from "../metadata.ts";
import type { Origin } from "../../finding/origin.ts";
import { isObject, joinPath } from "../schema/field.ts";
import { withIstioKeys } from "../spelling/istio.ts";
import type { ObjectMeta } from "../types.ts";
import { ConcealedBytes } from "./concealed.ts";
import { fields, mapOf, text, textOr } from "./foreign_schema.ts";
import { HashedFact } from "./hashed_fact.ts";
import { ingress, ingressClass } from "./ingress_schema.ts";
import { endpoints, endpointSlice, node, service, serviceImport } from "./service_schema.ts";
import { sharedLabels } from "./shared_labels.ts";
import { usualSlice } from "./usual_endpoints.ts";
import { usualService } from "./usual_services.ts";
import { type AnyFact, type FactKind, type FactSpecs, isClusterWide } from "./types.ts";
import { WORKLOAD_SCHEMAS } from "./workload_schema.ts";
import { withoutEnd } from "../../kernel/text/edges.ts";

/** How facts are read. */
export interface FactOptions {
  /** Random bytes of this process, so that the hash of a secret is useless outside the process. */
  readonly digestKey: Uint8Array;
  /** Namespace of objects without a namespace. Default: `default`. */
  readonly defaultNamespace?: string;
}

/** A fact, or why there is none. */
export interface ReadFact {
  readonly fact?: AnyFact;
  readonly findings: readonly Finding[];
  /** The readable part of the object's name. */
  readonly name: ObjectName;
}

/**
 * Most values of one object, nested values included: five times the values of an orchestrator's largest list of
 * endpoints.
 */
const MAX_VALUES = 50_000;

/** Whether an object is small enough for a check in one turn of the event loop. */
function isBounded(tree: object): boolean {
  const pending = [tree];
  let count = 0;
  const holds = (value: unknown) => {
    if (typeof value === "object" && value !== null) pending.push(value);
    return ++count <= MAX_VALUES;
  };
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (Array.isArray(at)) {
      for (const value of at) if (!holds(value)) return false;
    } else {
      // Trees of JSON have no prototypes with fields; a list of the values would be garbage at once.
      for (const key in at) if (!holds((at as Readonly<Record<string, unknown>>)[key])) return false;
    }
  }
  return true;
}

/** The annotation in which a client leaves the whole written object, including a secret's data. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

const bytes = z.base64({ error: "base64 text" }).transform((encoded) => Uint8Array.fromBase64(encoded));
const encoder = new TextEncoder();

const secret = fields({
  type: textOr("Opaque"),
  data: mapOf(text),
  stringData: mapOf(text),
  sops: z.unknown().optional(),
}).transform(({ type, data, stringData, sops }, context): FactSpecs["Secret"] => {
  const read: Record<string, ConcealedBytes> = {};
  for (const [key, value] of Object.entries(data)) {
    // In a file encrypted by sops the values are other text; only the names of the keys are the later names.
    const raw = sops === undefined ? bytes.safeParse(value).data : encoder.encode(value);
    if (raw === undefined) context.addIssue({ code: "custom", path: ["data", key], message: "base64 text" });
    else read[key] = new ConcealedBytes(raw);
  }
  for (const [key, value] of Object.entries(stringData)) read[key] = new ConcealedBytes(encoder.encode(value));
  return { type, data: read };
});

const metadataAlone = z.object({}).transform(() => ({}));

/** How the part behind the metadata of each kind is read. */
export const FACT_SCHEMAS: { readonly [K in FactKind]: z.ZodType<FactSpecs[K]> } = {
  ...WORKLOAD_SCHEMAS,
  Namespace: metadataAlone,
  Node: node,
  ServiceAccount: metadataAlone,
  Secret: secret,
  ConfigMap: fields({ data: mapOf(text), binaryData: mapOf(bytes) }),
  Service: service,
  Endpoints: endpoints,
  EndpointSlice: endpointSlice,
  Ingress: ingress,
  IngressClass: ingressClass,
  ServiceExport: metadataAlone,
  ServiceImport: serviceImport,
};

/** Reads one object of a kind of facts. Never throws. */
export function readFact(kind: FactKind, tree: unknown, from: Origin, options: FactOptions): ReadFact {
  const { digestKey, defaultNamespace = "default" } = options;
  const { metadata } = isObject(tree) ? tree : {};
  const origin = withIstioKeys(from, metadata, podMetadata(tree));
  const namespace = isClusterWide(kind) ? "" : defaultNamespace;
  const name = nameOf(kind, metadata, namespace);
  const report = new Findings(placeOf(name, origin));
  if (!isObject(tree)) {
    report.error("", undefined, "an object", "wrong-value");
    return { findings: report.list, name };
  }
  if (!isBounded(tree)) {
    report.error("document", `more than ${MAX_VALUES} values`, "fewer: it is not read", "too-many");
    return { findings: report.list, name };
  }
  const meta = sharedMeta(leanMeta(kind, parseMeta(readableMeta(kind, metadata), namespace, report)));
  const spec = usualSpec(kind, tree) ?? parsedSpec(kind, tree, report);
  if (spec === undefined || report.failed) return { findings: report.list, name };
  // The table pairs each kind with its own schema. The compiler cannot follow that for a kind unknown at compile time.
  const fact = new HashedFact(kind, meta, spec, origin, digestKey) as AnyFact;
  return { fact, findings: report.list, name };
}

/** Reads kinds with thousands of objects without their schemas; undefined: the schema must read the object. */
function usualSpec(kind: FactKind, tree: object): FactSpecs[FactKind] | undefined {
  if (kind === "Service") return usualService(tree);
  return kind === "EndpointSlice" ? usualSlice(tree) : undefined;
}

function parsedSpec(kind: FactKind, tree: object, report: Findings): FactSpecs[FactKind] | undefined {
  const { data, error } = FACT_SCHEMAS[kind].safeParse(tree);
  for (const issue of error?.issues ?? []) reportIssue(issue, kind, tree, report);
  return data;
}

/** The metadata of pods made by an object. */
function podMetadata(tree: unknown): unknown {
  const spec = member(tree, "spec");
  return member(
    member(spec, "template") ?? member(member(member(spec, "jobTemplate"), "spec"), "template"),
    "metadata",
  );
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function reportIssue({ path, message }: z.core.$ZodIssue, kind: FactKind, tree: unknown, report: Findings): void {
  const [top] = path;
  // Labels and annotations of the object itself are checked with its other metadata.
  if (top === "metadata" && (path[1] === "labels" || path[1] === "annotations")) return;
  const field = path.reduce<string>((at, key) => joinPath(at, typeof key === "number" ? key : String(key)), "");
  const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], tree);
  const isSecret = kind === "Secret" && (top === "data" || top === "stringData");
  report.error(field, isSecret && value !== undefined ? "[concealed]" : value, message);
}

/** Metadata to read: an object still without a name gets the beginning of its generated name. */
function readableMeta(kind: FactKind, metadata: unknown): unknown {
  if (!isObject(metadata)) return metadata;
  const { name, generateName, annotations } = metadata;
  const generated = name === undefined && typeof generateName === "string"
    ? { name: withoutEnd(generateName, "-.") }
    : {};
  // Annotations of a secret may hold its data: only annotations of the mesh are looked at.
  const own = kind === "Secret" && isObject(annotations)
    ? { annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => /(mesh|istio)\.io\//.test(key))) }
    : {};
  return { ...metadata, ...generated, ...own };
}

/** Removes copies of the object from its own annotations: the copies are large. */
function leanMeta(kind: FactKind, meta: ObjectMeta): ObjectMeta {
  if (kind !== "Secret" && !Object.hasOwn(meta.annotations, LAST_APPLIED)) return meta;
  const kept = Object.entries(meta.annotations).filter(([key]) =>
    key !== LAST_APPLIED && (kind !== "Secret" || key.includes("mesh.io/"))
  );
  return { ...meta, annotations: Object.fromEntries(kept) };
}

/** Metadata whose labels and annotations are those of other objects with equal ones. */
function sharedMeta(meta: ObjectMeta): ObjectMeta {
  return { ...meta, labels: sharedLabels(meta.labels), annotations: sharedLabels(meta.annotations) };
}

function nameOf(kind: FactKind, metadata: unknown, defaultNamespace: string): ObjectName {
  const { namespace, name } = isObject(metadata) ? metadata : {};
  return {
    kind,
    namespace: typeof namespace === "string" && !isClusterWide(kind) ? namespace : defaultNamespace,
    name: typeof name === "string" ? name : "",
  };
}

function placeOf({ kind, namespace, name }: ObjectName, origin: Origin): FindingPlace {
  const shown = { kind, namespace: shownName(namespace), name: shownName(name) };
  return { objects: [shown], field: "", origin, line: origin.from === "file" ? origin.line : 0 };
}
