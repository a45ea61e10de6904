/**
 * Values of tags that filters gather once per request, in dynamic metadata.
 *
 * The metrics logger fills in every tag for each of its four statistics. A command that reads metadata is cheap. An
 * expression, a text search or a missing value costs a hundred times as much.
 *
 *     header mutation: x-mesh-of-service: "host;name;namespace"     a text that a command or an expression makes
 *     header to metadata: mesh.peer: service_host, service_name ...  its parts; the header goes no further
 *
 * @module
 */
import { Config_ValueEncode, Config_ValueType } from "../../../../proto/gen/enums.ts";
import { HeaderValueOption_HeaderAppendAction as AppendAction } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { PEER_METADATA } from "../../../config/mesh/peer_metadata.ts";
import { SERVICE_CLUSTER_FIELD } from "../../message/peer_cluster.ts";
import { cel, firstOf, metadata, type TagCommand } from "./tag_value.ts";

/** A change of a header, by a filter of Envoy. */
export type HeaderMutation = envoy.config.common.mutation_rules.v3.HeaderMutation;
/** A rule by which an Envoy filter copies a header into metadata. */
export type HeaderRule = NonNullable<
  envoy.extensions.filters.http.header_to_metadata.v3.Config["request_rules"]
>[number];
type KeyValuePair = NonNullable<HeaderRule["on_header_present"]>;

/** Namespace of the metadata, including the peer's statement. */
export const PEER_NAMESPACE = "mesh.peer";

/** The statement of a proxy as an expression. */
export const OWN_STATEMENT = `xds.node.metadata['${PEER_METADATA}']['header']`;

/** Reads a statement, a `google.protobuf.Value` in Base64, into metadata. */
export function statementAt(key: string): KeyValuePair {
  return { key, type: Config_ValueType.PROTOBUF_VALUE, encode: Config_ValueEncode.BASE64 };
}

/** Values gathered from one text. */
export interface Gathering {
  /** Removes any header from outside, then writes the text into the header. */
  readonly mutations: readonly HeaderMutation[];
  /** Reads the parts of the text, and removes the header. */
  readonly rules: readonly HeaderRule[];
}

/** Parts of a service in the order of gathering. */
const SERVICE_PARTS = ["host", "name", "namespace"] as const;

/** Parts of a workload in an endpoint's metadata, `workload;namespace;canonical name;canonical revision;cluster`. */
export const ENDPOINT_PARTS = ["workload", "namespace", "service", "revision", "cluster"] as const;

/** Default texts when nothing else is known. */
const CONSTANTS = ["unknown", "latest", "http"] as const;

/** Commands that read gathered values. */
export const GATHERED = {
  constant: (text: typeof CONSTANTS[number]): TagCommand => metadata(PEER_NAMESPACE, text),
  service: (part: typeof SERVICE_PARTS[number]): TagCommand => metadata(PEER_NAMESPACE, `service_${part}`),
  endpoint: (part: typeof ENDPOINT_PARTS[number]): TagCommand => metadata(PEER_NAMESPACE, `endpoint_${part}`),
  own: (part: string): TagCommand => metadata(PEER_NAMESPACE, SELF_KEY, part),
  certified: metadata(PEER_NAMESPACE, "certified"),
  grpc: metadata(PEER_NAMESPACE, "grpc"),
  tls: metadata(PEER_NAMESPACE, "tls"),
} as const;

/** Key of the proxy's own statement about its workload. */
const SELF_KEY = "self";

/**
 * The proxy's own statement, in the form for peers, at the request. An agent passes the statement to its proxy in a
 * variable. Every proxy has the statement in its node metadata.
 */
export const GATHER_SELF: Gathering = gathering(
  "x-mesh-of-self",
  firstOf({ command: "ENVIRONMENT", param: PEER_METADATA }, cel(OWN_STATEMENT)),
  [statementAt(SELF_KEY)],
);

/** The service of the request's cluster, at the request. */
export const GATHER_SERVICE: Gathering = gathering(
  "x-mesh-of-service",
  `%METADATA(CLUSTER:istio:${SERVICE_CLUSTER_FIELD})%`,
  partRules("service", SERVICE_PARTS),
);

/** The workload behind the answering endpoint, at the answer. */
export const GATHER_ENDPOINT: Gathering = gathering(
  "x-mesh-of-endpoint",
  "%METADATA(UPSTREAM_HOST:istio:workload)%",
  partRules("endpoint", ENDPOINT_PARTS),
);

/** The namespace in the name of the peer's certificate: of the client at the request, of the server at the answer. */
export function gatherCertified(peer: "DOWNSTREAM" | "UPSTREAM"): Gathering {
  return gathering("x-mesh-of-certificate", `%${peer}_PEER_URI_SAN%`, [
    part("certified", "^(?:spiffe://[^/]*/ns/([^/]+)/sa/.*|.*)$"),
  ]);
}

/** Whether the client has shown a certificate, at the request. */
export const GATHER_TLS: Gathering = gathering("x-mesh-of-tls", "%DOWNSTREAM_PEER_FINGERPRINT_256%", [
  { key: "tls", value: "mutual_tls" },
], { key: "tls", value: "none" });

/** Facts of every request that need no header of their own. */
export const REQUEST_RULES: readonly HeaderRule[] = [
  // The method is always present.
  ...CONSTANTS.map((text) => ({ header: ":method", on_header_present: inNamespace({ key: text, value: text }) })),
  { header: "content-type", on_header_present: inNamespace(part("grpc", "^(?:application/(grpc)(?:[+].*)?|.*)$")) },
];

function gathering(header: string, text: string, parts: readonly KeyValuePair[], missing?: KeyValuePair): Gathering {
  return {
    mutations: [
      { remove: header },
      { append: { header: { key: header, value: text }, append_action: AppendAction.OVERWRITE_IF_EXISTS_OR_ADD } },
    ],
    rules: parts.map((one, at) => ({
      header,
      on_header_present: inNamespace(one),
      ...(missing === undefined ? {} : { on_header_missing: inNamespace(missing) }),
      ...(at === parts.length - 1 ? { remove: true } : {}),
    })),
  };
}

/** Parts between semicolons. */
function partRules(prefix: string, names: readonly string[]): KeyValuePair[] {
  return names.map((name, at) => part(`${prefix}_${name}`, `^(?:[^;]*;){${at}}([^;]*)(?:;.*)?$`));
}

/** The group of a pattern for any text. An empty group is not kept. */
function part(key: string, regex: string): KeyValuePair {
  return { key, regex_value_rewrite: { pattern: { regex }, substitution: "\\1" } };
}

function inNamespace(pair: KeyValuePair): KeyValuePair {
  return { metadata_namespace: PEER_NAMESPACE, ...pair };
}
