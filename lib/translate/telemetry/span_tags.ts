/**
 * Tags of spans: tags of the mesh, and tags of users.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { TracingCustomTag } from "../../config/kinds/telemetry/schema.ts";
import type { ProxyTracing } from "../../config/mesh/types.ts";
import { isHeaderName } from "../../config/validation/values.ts";
import { substitutionProblem } from "../../config/validation/substitution.ts";
import { HTTP_RBAC } from "../filters/http/rbac/filter.ts";

type CustomTag = envoy.type.tracing.v3.CustomTag;
type WrittenTag = TracingCustomTag | NonNullable<ProxyTracing["customTags"]>[string];

type WrittenTags = Readonly<Record<string, WrittenTag>>;

/** Tags by the written settings, with and without the mesh's tags. Kept as long as the settings. */
const known = {
  withMeshTags: new WeakMap<WrittenTags, CustomTag[]>(),
  without: new WeakMap<WrittenTags, CustomTag[]>(),
};

/**
 * Tags sorted by name. The same list for the same object.
 *
 * @param meshTags Include the tags of the mesh.
 */
export function spanTags(written: WrittenTags | undefined, meshTags: boolean): CustomTag[] {
  const tags = meshTags ? known.withMeshTags : known.without;
  const of = written ?? NONE;
  let found = tags.get(of);
  if (found === undefined) tags.set(of, found = madeTags(of, meshTags));
  return found;
}

const NONE: WrittenTags = {};

function madeTags(written: WrittenTags, meshTags: boolean): CustomTag[] {
  const own = Object.entries(written).flatMap(([tag, value]) => writtenTag(tag, value));
  const names = new Set(own.map(({ tag }) => tag));
  const ofMesh = meshTags ? MESH_TAGS.filter(({ tag }) => !names.has(tag)) : [];
  return [...ofMesh, ...own].sort((a, b) => ((a.tag ?? "") < (b.tag ?? "") ? -1 : 1));
}

/** Omits a tag that Envoy would refuse, together with the tag's listener. */
function writtenTag(tag: string, { literal, environment, header, formatter }: WrittenTag & Formatted): CustomTag[] {
  if (tag === "") return [];
  if (literal?.value) return [{ tag, literal: { value: literal.value } }];
  if (environment?.name) return [{ tag, environment: named(environment.name, environment.defaultValue) }];
  if (header?.name && isHeaderName(header.name)) {
    return [{ tag, request_header: named(header.name, header.defaultValue) }];
  }
  const value = formatter?.value;
  return value && substitutionProblem(value, "report") === undefined ? [{ tag, value }] : [];
}

interface Formatted {
  readonly formatter?: { readonly value: string };
}

function named(name: string, defaultValue: string | undefined): { name: string; default_value?: string } {
  return { name, ...(defaultValue ? { default_value: defaultValue } : {}) };
}

/** A value from the proxy's node metadata. The proxy reads the value, so proxies share resources with the tag. */
function ofNode(tag: string, key: string, otherwise: string): CustomTag {
  const at = `xds.node.metadata`;
  return { tag, value: `%CEL('${key}' in ${at} ? ${at}['${key}'] : '${otherwise}')%` };
}

/**
 * A label of the proxy's node, in both spellings. Contains no bracket, because the first bracket would end the
 * operator.
 */
function ofLabel(tag: string, label: string, otherwise: string): CustomTag {
  const labels = "xds.node.metadata['LABELS']";
  const spelled = ["service.mesh.io", "service.istio.io"].map((group) => `${group}/${label}`);
  const known = spelled.map((name) =>
    `'LABELS' in xds.node.metadata && '${name}' in ${labels} ? ${labels}['${name}'] : `
  );
  return { tag, value: `%CEL(${known.join("")}'${otherwise}')%` };
}

/** The tag for the note of a dry-run rule. A request without a note has no tag. */
function dryRun(policy: "allow" | "deny", what: "name" | "result", note: string): CustomTag {
  const key = `istio_dry_run_${policy}_${note}`;
  const metadata_key = { key: HTTP_RBAC, path: [{ key }] };
  return {
    tag: `istio.authorization.dry_run.${policy}_policy.${what}`,
    metadata: { kind: { request: {} }, metadata_key },
  };
}

/** Istio's names, which dashboards know. */
const MESH_TAGS: readonly CustomTag[] = [
  ofLabel("istio.canonical_revision", "canonical-revision", "latest"),
  ofLabel("istio.canonical_service", "canonical-name", "unknown"),
  ofNode("istio.mesh_id", "MESH_ID", "unknown"),
  ofNode("istio.namespace", "NAMESPACE", "default"),
  ofNode("istio.cluster_id", "CLUSTER_ID", "unknown"),
  ...(["allow", "deny"] as const).flatMap((policy) => [
    dryRun(policy, "name", "shadow_effective_policy_id"),
    dryRun(policy, "result", "shadow_engine_result"),
  ]),
];
