/**
 * One JSON tree becomes one typed, validated object, or a list of findings.
 *
 *     tree ──> kind by apiVersion and kind ──> metadata ──> schema ──> rules ──> object with hash
 *
 * @module
 */
import { asWarning, type Finding, type FindingPlace, shownName } from "../finding/finding.ts";
import type { ObjectName } from "../finding/object_name.ts";
import { isSuppressed, suppressedCodes } from "../finding/suppress.ts";
import { Findings } from "../finding/findings.ts";
import { isClusterWideKind, isGatewayApiKind } from "./spelling/kind_names.ts";
import { KIND_TABLE } from "./kinds/table.ts";
import type { Validate } from "./kinds/validate.ts";
import { readAssigned } from "./kinds/assigned_addresses.ts";
import { readHealth } from "./kinds/workload_entry/health_condition.ts";
import { HashedObject, type StatusFacts } from "./hashed_object.ts";
import type { JsonObject } from "./schema/json.ts";
import type { ValuePool } from "./schema/value_pool.ts";
import { DecodeContext, type Field, isObject } from "./schema/field.ts";
import { checkNames, parseMeta } from "./metadata.ts";
import type { Origin, WrittenKind } from "../finding/origin.ts";
import { withIstioKeys } from "./spelling/istio.ts";
import { isGatewayApiGroup, isIstioGroup, lookupHeadless, lookupKind } from "./spelling/spelling.ts";
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
  const origin = withIstioKeys(spelledOrigin(from, apiVersion, kind), metadata);
  const found = typeof apiVersion === "string" && typeof kind === "string"
    ? lookupKind(apiVersion, kind)
    : lookupHeadless(apiVersion, kind, isObject(metadata) && isObject(writtenSpec));
  const ofKind = found.known && isClusterWideKind(found.kind) ? { ...options, defaultNamespace: "" } : options;
  const name = nameOf(tree, found.known ? found.kind : kind, ofKind);
  const report = new Findings(placeOf(name, origin));
  if (!isObject(tree) || !found.known) {
    if (found.known || found.foreign) return { findings: report.list, foreign: true, name };
    report.error(found.field, found.field === "kind" ? kind : apiVersion, found.expected, "unknown-kind");
    return { findings: report.list, foreign: false, name };
  }
  const meta = parseMeta(tree["metadata"], ofKind.defaultNamespace, report, options.pool);
  if (meta.namespace !== "" && isClusterWideKind(found.kind)) {
    report.error("metadata.namespace", meta.namespace, `no namespace: a ${found.kind} is in none`);
  }
  refuseTestAnnotation(meta, report);
  const spec = parseSpec(found.kind, tree["spec"], meta, origin, report, options);
  refuseOtherFields(tree, report);
  if (report.failed) return { findings: report.list, foreign: false, name };
  const object = new HashedObject(found.kind, meta, spec, origin, statusFacts(found.kind, tree["status"]));
  const codes = suppressedCodes(meta.annotations);
  return { object, findings: report.list.filter(({ code }) => !isSuppressed(code, codes)), foreign: false, name };
}

function statusFacts(kind: Kind, status: unknown): StatusFacts {
  if (kind === "ServiceEntry") return { assigned: readAssigned(status) };
  if (isGatewayApiKind(kind)) return isObject(status) ? { status: status as JsonObject } : {};
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
  checkNames(meta, report, isClusterWideKind(kind));
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

/** The origin with the object's spelling, if Istio's or the Gateway API's. */
function spelledOrigin(origin: Origin, apiVersion: unknown, kind: unknown): Origin {
  if (origin.from === "derived" || typeof apiVersion !== "string" || typeof kind !== "string") return origin;
  // The author's version of the Gateway API counts too: definitions serve some kinds only in alpha versions.
  if (!isIstioGroup(apiVersion) && !isGatewayApiGroup(apiVersion)) return origin;
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
  from: Origin,
  report: Findings,
  options: ParseOptions,
): ConfigObject<K>["spec"] {
  // The table pairs each kind's schema with its own rules. The compiler cannot follow that through a generic K.
  const definition = KIND_TABLE[kind] as {
    schema: Field<ConfigObject<K>["spec"]>;
    validate: Validate<ConfigObject<K>["spec"]>;
  };
  // The Gateway API's kinds belong to others too, who may give the annotation a meaning.
  const hasDryRuns = kind === "AuthorizationPolicy" || isGatewayApiKind(kind);
  if (!hasDryRuns && Object.hasOwn(meta.annotations, "mesh.io/dry-run")) {
    report.error(
      'metadata.annotations["mesh.io/dry-run"]',
      meta.annotations["mesh.io/dry-run"],
      "an AuthorizationPolicy: no other kind has dry runs",
    );
  }
  const isTaken = isTakenByDefinition(kind, from);
  const context = new DecodeContext("spec", report, isTaken ? "warning" : "error", options.pool);
  const spec = definition.schema.decode(raw ?? {}, context) ?? definition.schema.zero();
  if (context.failed.length === 0 && !isTaken) definition.validate(spec, meta, report);
  else {
    // Rules also run on incomplete specs, to report all mistakes at once, but not on values that did not decode.
    const rules = report.fork(context.failed);
    definition.validate(spec, meta, rules);
    for (const one of rules.list) {
      if (context.failed.some((path) => isAtOrBelow(one.place.field, path))) continue;
      report.add(isTaken ? asWarning(one, TAKEN_WITH_FAULT) : one);
    }
  }
  return spec;
}

/**
 * Whether an API server has checked an object by a definition of the Gateway API, perhaps an older or newer definition
 * than the one whose rules stand here. Such an object is not refused for a rule or for an unknown field: without the
 * object nobody would write its status. The rule with the fault serves nothing.
 */
function isTakenByDefinition(kind: Kind, { from }: Origin): boolean {
  return from === "api" && isGatewayApiKind(kind);
}

const TAKEN_WITH_FAULT =
  "The object is taken, because the cluster's definition takes it. The field may have no effect.";

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
