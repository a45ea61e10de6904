/**
 * The metadata of a proxy's node, from variables, labels and settings. Keys and the spelling of values follow the
 * servers of the field: booleans and numbers are texts.
 *
 * @module
 */

/** JSON as a plain value. */
export type MetadataValue = string | number | boolean | null | readonly MetadataValue[] | {
  readonly [key: string]: MetadataValue;
};

export interface NodeMetadataInput {
  /** Environment, in our spelling; `MESH_META_X` becomes X, the members of `MESH_METAJSON_X` are merged in. */
  readonly variables: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly name: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Version of the agent. */
  readonly version: string;
  /** The proxy's settings in the spelling of users. */
  readonly proxyConfig: MetadataValue;
  /** Further keys: ports and paths. A variable may override these keys. */
  readonly defaults: Readonly<Record<string, MetadataValue>>;
}

/** A variable that is not valid metadata. */
export interface MetadataFinding {
  readonly variable: string;
  readonly expected: string;
}

const TEXT_PREFIX = "MESH_META_";
const JSON_PREFIX = "MESH_METAJSON_";

/** Metadata, and the unreadable variables. */
export function nodeMetadata(
  input: NodeMetadataInput,
): { readonly metadata: Record<string, MetadataValue>; readonly problems: readonly MetadataFinding[] } {
  const problems: MetadataFinding[] = [];
  const { labels, merged } = fromVariables(input.variables, problems);
  const ownLabels = { ...labels, ...input.labels };
  const metadata: Record<string, MetadataValue> = {
    ...input.defaults,
    ...merged,
    PROXY_CONFIG: input.proxyConfig,
    MESH_VERSION: input.version,
    INSTANCE_IPS: input.addresses.join(","),
  };
  const texts = { NAME: input.name, NAMESPACE: input.namespace, SERVICE_ACCOUNT: input.serviceAccount };
  for (const [key, value] of Object.entries(texts)) if (value !== "") metadata[key] = value;
  if (Object.keys(ownLabels).length > 0) metadata.LABELS = ownLabels;
  if (Object.keys(labels).length > 0) metadata.STATIC_LABELS = labels;
  if (Object.keys(input.annotations).length > 0) metadata.ANNOTATIONS = input.annotations;
  return { metadata, problems };
}

function fromVariables(variables: Readonly<Record<string, string>>, problems: MetadataFinding[]) {
  const merged: Record<string, MetadataValue> = {};
  let labels: Readonly<Record<string, string>> = {};
  for (const [name, value] of Object.entries(variables).sort(([a], [b]) => a < b ? -1 : 1)) {
    if (name.startsWith(TEXT_PREFIX) && name.length > TEXT_PREFIX.length) {
      merged[name.slice(TEXT_PREFIX.length)] = value;
    }
    if (!name.startsWith(JSON_PREFIX)) continue;
    const members = jsonObject(value);
    if (members === undefined) problems.push({ variable: name, expected: "a JSON object" });
    else if (name === `${JSON_PREFIX}LABELS`) labels = textMembers(members);
    else Object.assign(merged, members);
  }
  return { labels, merged };
}

function jsonObject(text: string): Record<string, MetadataValue> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? value as Record<string, MetadataValue> : undefined;
  } catch {
    return undefined;
  }
}

function textMembers(members: Readonly<Record<string, MetadataValue>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, String(value)]));
}
