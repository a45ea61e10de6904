/**
 * Metadata of objects: names, labels, annotations, dates.
 *
 * @module
 */
import type { Findings } from "../finding/findings.ts";
import { labels, map } from "./schema/containers.ts";
import { DecodeContext, isObject } from "./schema/field.ts";
import { message } from "./schema/message.ts";
import { string } from "./schema/scalars.ts";
import type { ValuePool } from "./schema/value_pool.ts";
import { ownKey } from "./spelling/spelling.ts";
import { type ObjectMeta, UNDATED } from "./types.ts";
import { isDnsLabel, objectNameProblem } from "./validation/names.ts";

const rawMeta = message({
  labels: labels(),
  annotations: map(string(), ownKey),
});

const EMPTY: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Reads metadata. Metadata has many fields that are not ours (uid, managedFields, ...), so unknown fields are not
 * mistakes.
 *
 * @param defaultNamespace Namespace of objects without a namespace; empty: the kind has no namespaces.
 * @param pool Makes equal values one object; default: no pool.
 */
export function parseMeta(raw: unknown, defaultNamespace: string, report: Findings, pool?: ValuePool): ObjectMeta {
  const input = isObject(raw) ? raw : {};
  const { name, namespace, creationTimestamp, generation } = input;
  const decoded = rawMeta.decode(
    { labels: input["labels"], annotations: input["annotations"] },
    new DecodeContext("metadata", report, "error", pool),
  );
  const ownName = typeof name === "string" ? name : "";
  const wrongName = objectNameProblem(ownName);
  if (wrongName !== undefined) report.error("metadata.name", name ?? undefined, `a name (${wrongName})`);
  else if (/[A-Z]/.test(ownName)) report.warning("metadata.name", name, "lower case: an orchestrator refuses capitals");
  const written = typeof namespace === "string" ? namespace : "";
  const ownNamespace = written === "" ? defaultNamespace : written;
  const isText = namespace === undefined || namespace === null || typeof namespace === "string";
  const hasNone = ownNamespace === "" && defaultNamespace === "";
  if (!isText || !(hasNone || isDnsLabel(ownNamespace))) {
    report.error("metadata.namespace", namespace, "the name of a namespace");
  }
  return {
    name: pool?.string(ownName) ?? ownName,
    namespace: pool?.string(ownNamespace) ?? ownNamespace,
    labels: decoded?.labels ?? EMPTY,
    annotations: decoded?.annotations ?? EMPTY,
    creationTimestamp: parseTimestamp(creationTimestamp, report),
    ...(typeof generation === "number" ? { generation } : {}),
  };
}

/**
 * Checks the names of a derived object.
 *
 * @param isClusterWide Whether the object's kind has no namespaces.
 */
export function checkNames(
  { name, namespace }: Pick<ObjectMeta, "name" | "namespace">,
  report: Findings,
  isClusterWide: boolean,
): void {
  const wrongName = objectNameProblem(name);
  if (wrongName !== undefined) report.error("metadata.name", name, `a name (${wrongName})`);
  if (isClusterWide && namespace !== "") report.error("metadata.namespace", namespace, "no namespace");
  if (!isClusterWide && !isDnsLabel(namespace)) {
    report.error("metadata.namespace", namespace, "the name of a namespace");
  }
}

function parseTimestamp(raw: unknown, report: Findings): number {
  if (raw === undefined || raw === null) return UNDATED;
  const time = typeof raw === "string" ? Date.parse(raw) : NaN;
  if (!Number.isNaN(time)) return time;
  report.error("metadata.creationTimestamp", raw, "a time such as 2024-01-31T12:00:00Z");
  return UNDATED;
}
