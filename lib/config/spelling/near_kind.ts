/**
 * Objects that are none of ours and look as if they were meant to be: a group or a kind with a slip in it.
 *
 * Others have groups and kinds of similar names (`networking.k8s.io`, a `Gateway` of the Gateway API), and those are
 * none of our business: a near group alone is no slip, and neither is a known kind alone.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";

/** A fault in the head of an object, with the probable intention. */
export interface KindSlip {
  readonly field: "apiVersion" | "kind";
  readonly expected: string;
}

/** Kinds by group, as they are spelled; versions, the newest first. */
export interface KnownKinds {
  readonly byGroup: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly versions: readonly string[];
}

/** Domains of our groups, as they are spelled. */
const DOMAINS = ["mesh.io", "istio.io"];

/** Groups that an orchestrator has by itself: no kind of ours is ever in one of them. */
const BUILT_IN = new Set(["", "core", "apps", "batch", "extensions", "discovery.k8s.io"]);

/** Whether a group is one that an orchestrator has by itself. */
export function isBuiltInGroup(group: string): boolean {
  return BUILT_IN.has(group);
}

/** Group and version of an `apiVersion`. */
export function splitApiVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

/** The slip in an object of a group that is not ours; undefined: it is other people's. */
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

/** The slip in the kind of an object whose group is ours. */
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

/** The slip in the version of an object whose group and kind are ours. */
export function slipInVersion(group: string, domain: string, { versions }: KnownKinds): KindSlip {
  const expected = `a known version (${versions.join(", ")}); did you mean ${group}.${domain}/v1?`;
  return { field: "apiVersion", expected };
}

/**
 * The slip in an object that lacks one of both; undefined: it is no object of ours.
 *
 * @param isWhole It has metadata and a spec.
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
    return home === undefined ? undefined : { field: "apiVersion", expected: `that of ${near}: ${home}.mesh.io/v1` };
  }
  if (typeof apiVersion === "string") {
    const [group] = splitApiVersion(apiVersion);
    const names = Object.keys(known.byGroup[wordOf(group)] ?? {});
    const isOurs = names.length > 0 && DOMAINS.some((domain) => group.endsWith(`.${domain}`));
    return isOurs ? { field: "kind", expected: `one of ${names.join(", ")}` } : undefined;
  }
  return isWhole ? { field: "apiVersion", expected: "an object with apiVersion and kind as text" } : undefined;
}

/** The group, without its domain, that has a kind. */
function groupOf(kind: string, { byGroup }: KnownKinds): string | undefined {
  return Object.keys(byGroup).find((group) => Object.hasOwn(byGroup[group]!, kind));
}

function wordOf(group: string): string {
  return group.slice(0, Math.max(0, group.indexOf(".")));
}
