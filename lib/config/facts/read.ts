/**
 * Facts from the JSON that an orchestrator's API gives.
 *
 *     JSON ──> kind ──> metadata ──> schema ──> fact with hash
 *
 * An API serves what it has checked, so a mistake here means another version of the API than is known: it is named, and the
 * fact is left out. Nothing of a secret's data gets into a finding.
 *
 * @module
 */
import { createHmac } from "node:crypto";
import { z } from "zod";
import { type Finding, type FindingPlace, shownName } from "../finding/finding.ts";
import { Findings } from "../finding/findings.ts";
import { parseMeta } from "../metadata.ts";
import type { Origin } from "../finding/origin.ts";
import { isObject, joinPath } from "../schema/field.ts";
import type { ObjectMeta } from "../types.ts";
import { ConcealedBytes } from "./concealed.ts";
import { type AnyFact, FACT_KINDS, type FactKind, type FactSpecs } from "./types.ts";

/** How facts are read. */
export interface FactOptions {
  /** Random bytes of this process, so that the hash of a secret tells nothing to anyone else. */
  readonly digestKey: Uint8Array;
}

/** A fact, or why there is none. */
export interface ReadFact {
  readonly fact?: AnyFact;
  readonly findings: readonly Finding[];
}

/** The annotation in which a client leaves the whole object as it was written, a secret's data included. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** In schemas of foreign JSON the message of a check is what was expected. */
const text = z.string({ error: "a string" });
const number = z.int({ error: "an integer" });
const bytes = z.base64({ error: "base64 text" }).transform((encoded) => Uint8Array.fromBase64(encoded));
const texts = z.array(text, { error: "a list of strings" });

function mapOf<T extends z.ZodType>(value: T) {
  return z.record(z.string(), value, { error: "a map" }).nullish().transform((map) => map ?? {});
}

const servicePort = z.object({
  name: text.nullish().transform((name) => name ?? ""),
  port: number,
  protocol: text.nullish().transform((protocol) => protocol ?? "TCP"),
  appProtocol: text.optional(),
  targetPort: z.union([number, text], { error: "a port number or name" }).optional(),
  nodePort: number.optional(),
}, { error: "a port" });

const ingress = z.object({ ip: text.optional(), hostname: text.optional() }, { error: "an address" });

const service = z.object({
  spec: z.object({
    type: text.default("ClusterIP"),
    clusterIP: text.optional(),
    clusterIPs: texts.nullish(),
    externalIPs: texts.nullish(),
    externalName: text.optional(),
    selector: mapOf(text),
    ports: z.array(servicePort, { error: "a list of ports" }).nullish(),
  }, { error: "an object" }),
  status: z.object({
    loadBalancer: z.object({ ingress: z.array(ingress, { error: "a list of addresses" }).nullish() }).nullish(),
  }).nullish(),
}).transform(({ spec, status }): FactSpecs["Service"] => {
  const { type, clusterIP = "", externalName, selector } = spec;
  const ports = (spec.ports ?? []).map(({ name, port, protocol, ...rest }) => ({
    name,
    port,
    protocol,
    ...defined(rest),
  }));
  return {
    type,
    clusterIPs: spec.clusterIPs ?? (clusterIP === "" ? [] : [clusterIP]),
    externalIPs: spec.externalIPs ?? [],
    ...(externalName === undefined ? {} : { externalName }),
    selector,
    ports,
    loadBalancers: (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []),
  };
});

const SCHEMAS: { readonly [K in FactKind]: z.ZodType<FactSpecs[K]> } = {
  Namespace: z.object({}),
  Secret: z.object({
    type: text.default("Opaque"),
    data: mapOf(bytes.transform((raw) => new ConcealedBytes(raw))),
  }),
  ConfigMap: z.object({ data: mapOf(text), binaryData: mapOf(bytes) }),
  Service: service,
};

/** Whether an object of the API's core group is a fact. */
export function isFactKind(kind: string): kind is FactKind {
  return (FACT_KINDS as readonly string[]).includes(kind);
}

/** Reads one object of a kind of facts. Never throws. */
export function readFact(kind: FactKind, tree: unknown, origin: Origin, options: FactOptions): ReadFact {
  const { metadata } = isObject(tree) ? tree : {};
  const report = new Findings(placeOf(kind, metadata, origin));
  if (!isObject(tree)) {
    report.error("", undefined, "an object", "not-an-object");
    return { findings: report.list };
  }
  const meta = withoutCopies(kind, parseMeta(metadata, kind === "Namespace" ? "" : "default", report));
  const parsed = SCHEMAS[kind].safeParse(tree);
  if (!parsed.success) { for (const issue of parsed.error.issues) reportIssue(issue, kind, tree, report); }
  if (!parsed.success || report.failed) return { findings: report.list };
  const key = `${kind}/${meta.namespace}/${meta.name}`;
  const hash = hashFact(kind, meta, parsed.data, options);
  // The table pairs each kind with its own schema; the compiler cannot follow that through a kind that is not known.
  return { fact: { kind, key, meta, spec: parsed.data, origin, hash } as AnyFact, findings: report.list };
}

function reportIssue({ path, message }: z.core.$ZodIssue, kind: FactKind, tree: unknown, report: Findings): void {
  const field = path.reduce<string>((at, key) => joinPath(at, typeof key === "number" ? key : String(key)), "");
  const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], tree);
  const isSecret = kind === "Secret" && path[0] === "data";
  report.error(field, isSecret && value !== undefined ? "[concealed]" : value, message);
}

/** Copies of the object in its own annotations are large, and of a secret they hold the data. */
function withoutCopies(kind: FactKind, meta: ObjectMeta): ObjectMeta {
  const kept = Object.entries(meta.annotations).filter(([key]) =>
    key !== LAST_APPLIED && (kind !== "Secret" || key.includes("mesh.io/"))
  );
  return { ...meta, annotations: Object.fromEntries(kept) };
}

function hashFact<K extends FactKind>(
  kind: K,
  meta: ObjectMeta,
  spec: FactSpecs[K],
  { digestKey }: FactOptions,
): string {
  const digest = createHmac("sha256", digestKey);
  const { namespace, name, labels, annotations, creationTimestamp } = meta;
  digest.update(JSON.stringify([kind, namespace, name, creationTimestamp, sorted(labels), sorted(annotations)]));
  digest.update(JSON.stringify(spec, (_key, value) => (value instanceof Uint8Array ? value.toBase64() : value)));
  if (kind === "Secret") {
    for (const [key, secret] of sorted((spec as FactSpecs["Secret"]).data)) {
      digest.update(`${JSON.stringify(key)} ${secret.length} `).update(secret.reveal());
    }
  }
  return digest.digest("base64url").slice(0, 22);
}

function sorted<T>(map: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
}

function defined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function placeOf(kind: FactKind, metadata: unknown, origin: Origin): FindingPlace {
  const { namespace, name } = isObject(metadata) ? metadata : {};
  const word = (part: unknown) => (typeof part === "string" ? shownName(part) : "");
  return { objects: [{ kind, namespace: word(namespace), name: word(name) }], field: "", origin, line: 0 };
}
