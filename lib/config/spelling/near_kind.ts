/**
 * Foreign objects that were probably meant as objects of the mesh: a group or a kind with a slip in its spelling.
 *
 * Other projects have groups and kinds with similar names (`networking.k8s.io`, a `Gateway` of the Gateway API). So
 * neither a near group alone nor a known kind alone is a slip.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";

/** A fault in the head of an object, with the probable intention. */
export interface KindSlip {
  readonly field: "apiVersion" | "kind";
  readonly expected: string;
}

/** Kinds by group, as spelled; versions, the newest first. */
export interface KnownKinds {
  readonly byGroup: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly versions: readonly string[];
}

/** Domains of our groups, as spelled. */
const DOMAINS = ["mesh.io", "istio.io"];

/** Groups built into an orchestrator. No kind of ours is ever in such a group. */
const BUILT_IN = new Set(["", "core", "apps", "batch", "extensions", "discovery.k8s.io"]);

/** Whether a group is built into an orchestrator. */
export function isBuiltInGroup(group: string): boolean {
  return BUILT_IN.has(group);
}

/** Group and version of an `apiVersion`. */
export function splitApiVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

/** The slip in an object of a foreign group; undefined: not meant for us. */
export function slipInGroup(apiVersion: string, kind: string, known: KnownKinds): KindSlip | undefined {
  const [group, version] = splitApiVersion(apiVersion);
  const home = groupOf(kind, known);
  const groups = Object.keys(known.byGroup).flatMap((one) => DOMAINS.map((domain) => `${one}.${domain}`));
  const near = nearestName(group, groups);
  const isMeant = near !== undefined &&
    (home !== undefined || nearestName(kind, Object.keys(known.byGroup[wordOf(near)] ?? {})) !== undefined);
  const isOurs = home !== undefined &&
    (isBuiltInGroup(group) || DOMAINS.some((domain) => group === domain || group.endsWith(`.${domain}`)));
  if (!isMeant && !isOurs) return undefined;
  const domain = DOMAINS.find((one) => (near ?? group).endsWith(one)) ?? DOMAINS[0]!;
  const meant = `${home ?? wordOf(near ?? "")}.${domain}/${known.versions.includes(version) ? version : "v1"}`;
  return { field: "apiVersion", expected: `an API of the mesh; did you mean ${meant}?` };
}

/** The slip in the kind of an object of our groups. */
export function slipInKind(group: string, domain: string, kind: string, known: KnownKinds): KindSlip {
  const names = Object.keys(known.byGroup[group] ?? {});
  const home = groupOf(kind, known);
  if (home !== undefined) {
    return { field: "apiVersion", expected: `the API of ${kind}; did you mean ${home}.${domain}/v1?` };
  }
  const near = nearestName(kind, names);
  const expected = near === undefined
    ? `one of ${names.join(", ")}`
    : `a kind of ${group}.${domain}; did you mean ${near}?`;
  return { field: "kind", expected };
}

/** The slip in the version of an object of our groups and kinds. */
export function slipInVersion(group: string, domain: string, { versions }: KnownKinds): KindSlip {
  const expected = `a known version (${versions.join(", ")}); did you mean ${group}.${domain}/v1?`;
  return { field: "apiVersion", expected };
}

/**
 * The slip in an object without `apiVersion` or `kind`; undefined: not an object of ours.
 *
 * @param isWhole The object has metadata and a spec.
 */
export function slipInHead(
  apiVersion: unknown,
  kind: unknown,
  isWhole: boolean,
  known: KnownKinds,
): KindSlip | undefined {
  if (typeof kind === "string") {
    const kinds = Object.values(known.byGroup).flatMap((group) => Object.keys(group));
    const near = isWhole ? nearestName(kind, kinds) : kind;
    const home = near === undefined ? undefined : groupOf(near, known);
    return home === undefined
      ? undefined
      : { field: "apiVersion", expected: `the version of ${near}: ${home}.mesh.io/v1` };
  }
  if (typeof apiVersion === "string") {
    const [group] = splitApiVersion(apiVersion);
    const names = Object.keys(known.byGroup[wordOf(group)] ?? {});
    const isOurs = names.length > 0 && DOMAINS.some((domain) => group.endsWith(`.${domain}`));
    return isOurs ? { field: "kind", expected: `one of ${names.join(", ")}` } : undefined;
  }
  return isWhole ? { field: "apiVersion", expected: "an object with apiVersion and kind as text" } : undefined;
}

/** The group of a kind, without its domain. */
function groupOf(kind: string, { byGroup }: KnownKinds): string | undefined {
  return Object.keys(byGroup).find((group) => Object.hasOwn(byGroup[group]!, kind));
}

function wordOf(group: string): string {
  return group.slice(0, Math.max(0, group.indexOf(".")));
}
