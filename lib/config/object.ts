/**
 * One JSON tree becomes one typed, validated object, or a list of findings.
 *
 *     tree ──> kind by apiVersion and kind ──> metadata ──> schema ──> rules ──> object with hash
 *
 * @module
 */
import { type Finding, type FindingPlace, type ObjectName, shownName } from "../finding/finding.ts";
import { isSuppressed, suppressedCodes } from "../finding/suppress.ts";
import { Findings } from "../finding/findings.ts";
import { KIND_TABLE } from "./kinds/table.ts";
import type { Validate } from "./kinds/validate.ts";
import { readAssigned } from "./kinds/assigned_addresses.ts";
import { readHealth } from "./kinds/workload_entry/health_condition.ts";
import { HashedObject, type StatusFacts } from "./hashed_object.ts";
import type { ValuePool } from "./schema/value_pool.ts";
import { DecodeContext, type Field, isObject } from "./schema/field.ts";
import { checkNames, parseMeta } from "./metadata.ts";
import type { Origin, WrittenKind } from "../finding/origin.ts";
import { withPeersKeys } from "./spelling/peers.ts";
import { isIstioGroup, lookupHeadless, lookupKind } from "./spelling/spelling.ts";
import type { ConfigObject, Kind, ObjectMeta } from "./types.ts";

/** The result of {@link parseObject}. */
export interface ParsedObject {
  /** The object; absent: not one of our kinds, or with errors. */
  readonly object?: ConfigObject;
  /** Errors and warnings, with the line of the origin; empty for foreign objects. */
  readonly findings: readonly Finding[];
  /** Whether the tree is foreign: an object of another group, or not an object at all. */
  readonly foreign: boolean;
  /** The readable part of the object's name. */
  readonly name: ObjectName;
}

/** Options of {@link parseObject}. */
export interface ParseOptions {
  /** Namespace of objects without a namespace. */
  readonly defaultNamespace: string;
  /** The pool that makes equal values one object during one reading; default: none. */
  readonly pool?: ValuePool;
}

/** Parses and validates one object. Never throws. The size of the tree bounds the cost. */
export function parseObject(tree: unknown, from: Origin, options: ParseOptions): ParsedObject {
  const { apiVersion, kind, metadata, spec: writtenSpec } = isObject(tree) ? tree : {};
  const origin = withPeersKeys(spelledOrigin(from, apiVersion, kind), metadata);
  const found = typeof apiVersion === "string" && typeof kind === "string"
    ? lookupKind(apiVersion, kind)
    : lookupHeadless(apiVersion, kind, isObject(metadata) && isObject(writtenSpec));
  const name = nameOf(tree, found.known ? found.kind : kind, options);
  const report = new Findings(placeOf(name, origin));
  if (!isObject(tree) || !found.known) {
    if (found.known || found.foreign) return { findings: report.list, foreign: true, name };
    report.error(found.field, found.field === "kind" ? kind : apiVersion, found.expected, "unknown-kind");
    return { findings: report.list, foreign: false, name };
  }
  const meta = parseMeta(tree["metadata"], options.defaultNamespace, report, options.pool);
  refuseTestAnnotation(meta, report);
  const spec = parseSpec(found.kind, tree["spec"], meta, report, options);
  refuseOtherFields(tree, report);
  if (report.failed) return { findings: report.list, foreign: false, name };
  const object = new HashedObject(found.kind, meta, spec, origin, statusFacts(found.kind, tree["status"]));
  const codes = suppressedCodes(meta.annotations);
  return { object, findings: report.list.filter(({ code }) => !isSuppressed(code, codes)), foreign: false, name };
}

function statusFacts(kind: Kind, status: unknown): StatusFacts {
  if (kind === "ServiceEntry") return { assigned: readAssigned(status) };
  return kind === "WorkloadEntry" ? { healthy: readHealth(status)?.healthy } : {};
}

/** Makes and checks an object from a decoded spec. Never throws. */
export function objectFromSpec<K extends Kind>(
  kind: K,
  meta: ObjectMeta,
  spec: ConfigObject<K>["spec"],
  origin: Origin,
): ParsedObject {
  const name = { kind, namespace: meta.namespace, name: meta.name };
  const report = new Findings(placeOf(name, origin));
  checkNames(meta, report);
  // The table pairs each kind's rules with its own spec. The compiler cannot follow that through a generic K.
  (KIND_TABLE[kind].validate as Validate<ConfigObject<K>["spec"]>)(spec, meta, report);
  if (report.failed) return { findings: report.list, foreign: false, name };
  const object = new HashedObject(kind, meta, spec, origin);
  return { object, findings: report.list, foreign: false, name };
}

/** Spellings of kinds read so far: a few for thousands of objects. */
const SPELLINGS = new Map<string, WrittenKind>();

/** Most spellings kept; a hostile text may contain any number. */
const MOST_SPELLINGS = 1000;

/** The origin with the object's spelling, if Istio's. */
function spelledOrigin(origin: Origin, apiVersion: unknown, kind: unknown): Origin {
  if (origin.from === "derived" || typeof apiVersion !== "string" || typeof kind !== "string") return origin;
  if (!isIstioGroup(apiVersion)) return origin;
  const [version, word] = [shownName(apiVersion), shownName(kind)];
  const key = `${version} ${word}`;
  let written = SPELLINGS.get(key);
  if (written === undefined) {
    if (SPELLINGS.size >= MOST_SPELLINGS) SPELLINGS.clear();
    SPELLINGS.set(key, written = { apiVersion: version, kind: word });
  }
  return { ...origin, written };
}

function nameOf(tree: unknown, kind: unknown, options: ParseOptions): ObjectName {
  const { metadata } = isObject(tree) ? tree : {};
  const { name, namespace } = isObject(metadata) ? metadata : {};
  return {
    kind: typeof kind === "string" ? kind : "",
    namespace: typeof namespace === "string" && namespace !== "" ? namespace : options.defaultNamespace,
    name: typeof name === "string" ? name : "",
  };
}

function placeOf({ kind, namespace, name }: ObjectName, origin: Origin): FindingPlace {
  const shown = { kind: shownName(kind), namespace: shownName(namespace), name: shownName(name) };
  return { objects: [shown], field: "", origin, line: origin.from === "file" ? origin.line : 0 };
}

/** The annotation of the test of Istio's own webhook. */
function refuseTestAnnotation({ annotations }: ObjectMeta, report: Findings): void {
  const annotation = "internal.mesh.io/webhook-always-reject";
  if (!Object.hasOwn(annotations, annotation)) return;
  report.error("metadata.annotations", annotation, "no such annotation: it refuses any object");
}

function parseSpec<K extends Kind>(
  kind: K,
  raw: unknown,
  meta: ObjectMeta,
  report: Findings,
  options: ParseOptions,
): ConfigObject<K>["spec"] {
  // The table pairs each kind's schema with its own rules. The compiler cannot follow that through a generic K.
  const definition = KIND_TABLE[kind] as {
    schema: Field<ConfigObject<K>["spec"]>;
    validate: Validate<ConfigObject<K>["spec"]>;
  };
  if (kind !== "AuthorizationPolicy" && Object.hasOwn(meta.annotations, "mesh.io/dry-run")) {
    report.error(
      'metadata.annotations["mesh.io/dry-run"]',
      meta.annotations["mesh.io/dry-run"],
      "an AuthorizationPolicy: no other kind has dry runs",
    );
  }
  const context = new DecodeContext("spec", report, "error", options.pool);
  const spec = definition.schema.decode(raw ?? {}, context) ?? definition.schema.zero();
  if (context.failed.length === 0) definition.validate(spec, meta, report);
  else {
    // Rules also run on incomplete specs, to report all mistakes at once, but not on values that did not decode.
    const rules = report.fork();
    definition.validate(spec, meta, rules);
    for (const one of rules.list) {
      if (!context.failed.some((path) => isAtOrBelow(one.place.field, path))) report.add(one);
    }
  }
  return spec;
}

function isAtOrBelow(field: string, path: string): boolean {
  return field.startsWith(path) &&
    (field.length === path.length || field[path.length] === "." || field[path.length] === "[");
}

const TOP_LEVEL = new Set(["apiVersion", "kind", "metadata", "spec", "status"]);

function refuseOtherFields(tree: Readonly<Record<string, unknown>>, report: Findings): void {
  for (const key of Object.keys(tree)) {
    if (!TOP_LEVEL.has(key)) {
      const expected = "a known field: apiVersion, kind, metadata, spec (this one is not; indentation?)";
      report.error(key, tree[key], expected, "unknown-field");
    }
  }
}
