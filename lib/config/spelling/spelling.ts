/**
 * The border where Istio's spelling becomes ours: API groups, kinds, labels, annotations, field and enumeration names.
 * Nothing behind this module knows Istio's spelling.
 *
 * @module
 */
import { type GatewayApiKind, isExperimentalKind, isGatewayApiKind, type Kind, type MeshKind } from "./kind_names.ts";
import { ownClusterName } from "./cluster_name.ts";
import { type KindSlip, type KnownKinds, slipInGroup, slipInHead, slipInKind, slipInVersion } from "./near_kind.ts";

/** The meaning of an apiVersion and kind. */
export type KindLookup =
  | { readonly known: true; readonly kind: Kind }
  /** A foreign group: not our business. */
  | { readonly known: false; readonly foreign: true }
  /** One of our groups without such a kind or version; or nearly one of our groups and kinds. */
  | { readonly known: false; readonly foreign: false } & KindSlip;

const GROUP = /^(networking|security|telemetry|extensions)\.((?:mesh|istio)\.io)\/(.*)$/;

/** Whether an apiVersion is in Istio's spelling. */
export function isIstioGroup(apiVersion: string): boolean {
  return /\.istio\.io\//.test(apiVersion);
}

/** Whether an apiVersion is of the Gateway API or of its Inference Extension. */
export function isGatewayApiGroup(apiVersion: string): boolean {
  const [group = "", ...rest] = apiVersion.split("/");
  return rest.length > 0 && Object.hasOwn(GATEWAY_API_SPELLINGS, group);
}

/** Versions of every API group of the mesh, the newest first. */
export const API_VERSIONS: readonly string[] = ["v1", "v1beta1", "v1alpha3", "v1alpha1"];
const KINDS_BY_GROUP: Readonly<Record<string, Readonly<Record<string, MeshKind>>>> = {
  networking: {
    VirtualService: "VirtualService",
    DestinationRule: "DestinationRule",
    Gateway: "Gateway",
    ServiceEntry: "ServiceEntry",
    WorkloadEntry: "WorkloadEntry",
    WorkloadGroup: "WorkloadGroup",
    Sidecar: "Sidecar",
    ProxyConfig: "ProxyConfig",
    ProxyFilter: "ProxyFilter",
    EnvoyFilter: "ProxyFilter",
  },
  security: {
    AuthorizationPolicy: "AuthorizationPolicy",
    RequestAuthentication: "RequestAuthentication",
    PeerAuthentication: "PeerAuthentication",
  },
  telemetry: { Telemetry: "Telemetry" },
  extensions: { WasmPlugin: "WasmPlugin" },
};

/** The group of the Gateway API's kinds, the same in both spellings. */
export const GATEWAY_API_GROUP = "gateway.networking.k8s.io";

/** The group of the Gateway API's experimental kinds. */
export const EXPERIMENTAL_GROUP = "gateway.networking.x-k8s.io";
/** The group of the Gateway API's Inference Extension. */
export const INFERENCE_GROUP = "inference.networking.k8s.io";

/** Annotation of a Service with the namespaces that see the Service, with commas in between. */
export const EXPORT_TO_ANNOTATION = "networking.mesh.io/exportTo";

/** The label with the name of a Gateway on the pods that serve the Gateway, and on all objects that are deployed for it. */
export const GATEWAY_NAME_LABEL = "gateway.networking.k8s.io/gateway-name";

const STABLE = ["v1", "v1beta1"];

/**
 * Versions of the Gateway API's kinds that are read, the newest first. Versions with other fields are left out: the
 * `v1alpha2` of BackendTLSPolicy.
 */
const GATEWAY_API_VERSIONS: Readonly<Record<GatewayApiKind, readonly string[]>> = {
  GatewayClass: STABLE,
  ApiGateway: STABLE,
  ListenerSet: ["v1"],
  HTTPRoute: STABLE,
  GRPCRoute: ["v1", "v1alpha2"],
  TLSRoute: ["v1", "v1alpha3", "v1alpha2"],
  TCPRoute: ["v1", "v1alpha2"],
  UDPRoute: ["v1", "v1alpha2"],
  ReferenceGrant: [...STABLE, "v1alpha2"],
  BackendTLSPolicy: ["v1", "v1alpha3"],
  XBackend: ["v1alpha1"],
  XBackendTrafficPolicy: ["v1alpha1"],
  XMesh: ["v1alpha1"],
  InferencePool: ["v1"],
};

/** The kinds of the Gateway API and of its extension, as written, by group. */
const GATEWAY_API_SPELLINGS: Readonly<Record<string, Readonly<Record<string, GatewayApiKind>>>> = {
  [GATEWAY_API_GROUP]: {
    GatewayClass: "GatewayClass",
    Gateway: "ApiGateway",
    ListenerSet: "ListenerSet",
    HTTPRoute: "HTTPRoute",
    GRPCRoute: "GRPCRoute",
    TLSRoute: "TLSRoute",
    TCPRoute: "TCPRoute",
    UDPRoute: "UDPRoute",
    ReferenceGrant: "ReferenceGrant",
    BackendTLSPolicy: "BackendTLSPolicy",
  },
  [EXPERIMENTAL_GROUP]: { XBackend: "XBackend", XBackendTrafficPolicy: "XBackendTrafficPolicy", XMesh: "XMesh" },
  [INFERENCE_GROUP]: { InferencePool: "InferencePool" },
};

/** The API group of a kind: `networking.mesh.io`, `gateway.networking.k8s.io`. */
export function apiGroupOfKind(kind: Kind, domain: "mesh.io" | "istio.io" = "mesh.io"): string {
  if (!isGatewayApiKind(kind)) return `${groupOfKind(kind)}.${domain}`;
  if (isExperimentalKind(kind)) return EXPERIMENTAL_GROUP;
  return kind === "InferencePool" ? INFERENCE_GROUP : GATEWAY_API_GROUP;
}

/** The `apiVersion` of a kind in our spelling, newest version. */
export function apiVersionOfKind(kind: Kind): string {
  return `${apiGroupOfKind(kind)}/${versionsOfKind(kind)[0]}`;
}

/** The versions of a kind that are read, the newest first. */
export function versionsOfKind(kind: Kind): readonly string[] {
  return isGatewayApiKind(kind) ? GATEWAY_API_VERSIONS[kind] : API_VERSIONS;
}

/** The API group (without `.mesh.io`) of a kind of the mesh: the last word of our own apiVersion. */
export function groupOfKind(kind: MeshKind): string {
  for (const [group, kinds] of Object.entries(KINDS_BY_GROUP)) if (Object.hasOwn(kinds, kind)) return group;
  throw new Error(`kind ${kind} has no group`);
}

/** The names of a kind in objects, our name first. */
export function spellingsOfKind(kind: Kind): string[] {
  const table: Readonly<Record<string, Kind>> = isGatewayApiKind(kind)
    ? GATEWAY_API_SPELLINGS[apiGroupOfKind(kind)] ?? {}
    : KINDS_BY_GROUP[groupOfKind(kind)] ?? {};
  const kinds = Object.entries(table);
  return kinds.filter(([, own]) => own === kind).map(([spelling]) => spelling);
}

/** Short names of kinds from Istio. An orchestrator's API knows these names too. */
export const SHORT_NAMES: Readonly<Partial<Record<Kind, string>>> = {
  VirtualService: "vs",
  DestinationRule: "dr",
  Gateway: "gw",
  ServiceEntry: "se",
  WorkloadEntry: "we",
  WorkloadGroup: "wg",
  AuthorizationPolicy: "ap",
  RequestAuthentication: "ra",
  PeerAuthentication: "pa",
};

/** English plural of a written kind, for paths of an API: `serviceentries`, `envoyfilters`. */
export function pluralOfKind(written: string): string {
  const name = written.toLowerCase();
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return /s[sh]$/.test(name) ? `${name}es` : `${name}s`;
}

const KNOWN: KnownKinds = { byGroup: KINDS_BY_GROUP, versions: API_VERSIONS };

/** Finds the kind of an object's `apiVersion` and `kind`, in either spelling. */
export function lookupKind(apiVersion: string, kind: string): KindLookup {
  if (isGatewayApiGroup(apiVersion)) return lookupGatewayApi(apiVersion, kind);
  const match = GROUP.exec(apiVersion);
  if (match === null) return unknown(slipInGroup(apiVersion, kind, KNOWN));
  const [, group = "", domain = "", version = ""] = match;
  const kinds = KINDS_BY_GROUP[group] ?? {};
  const found = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (found === undefined) return unknown(slipInKind(group, domain, kind, KNOWN));
  if (!API_VERSIONS.includes(version)) return unknown(slipInVersion(group, domain, KNOWN));
  return { known: true, kind: found };
}

/** The Gateway API may get kinds that are not known here, so an unknown kind of its groups is foreign. */
function lookupGatewayApi(apiVersion: string, kind: string): KindLookup {
  const [group = ""] = apiVersion.split("/", 1);
  const kinds = GATEWAY_API_SPELLINGS[group] ?? {};
  const found = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (found === undefined) return unknown(undefined);
  const versions = GATEWAY_API_VERSIONS[found];
  if (versions.some((version) => apiVersion === `${group}/${version}`)) return { known: true, kind: found };
  const expected = `a known version (${versions.join(", ")}); did you mean ${apiVersionOfKind(found)}?`;
  return unknown({ field: "apiVersion", expected });
}

/**
 * The probable kind of an object without `apiVersion` or without `kind`.
 *
 * @param isWhole Whether the object has metadata and a spec.
 */
export function lookupHeadless(apiVersion: unknown, kind: unknown, isWhole: boolean): KindLookup & { known: false } {
  return unknown(slipInHead(apiVersion, kind, isWhole, KNOWN));
}

function unknown(slip: KindSlip | undefined): KindLookup & { known: false } {
  return slip === undefined ? { known: false, foreign: true } : { known: false, foreign: false, ...slip };
}

/** A label or annotation key in our spelling: the domain `istio.io`, with any sub-domain, becomes `mesh.io`. */
export function ownKey(key: string): string {
  const at = key.indexOf("istio.io/");
  if (at >= 0 && (at === 0 || key[at - 1] === ".") && key.indexOf("/") === at + 8) {
    return `${key.slice(0, at)}mesh.io/${key.slice(at + 9)}`;
  }
  return PLAIN_KEYS[key] ?? key;
}

/** Istio's names of labels without a domain. A null prototype, so that a user's key `constructor` finds nothing. */
export const PLAIN_KEYS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  "istio-locality": "mesh-locality",
  "istio-injection": "mesh-injection",
});

/** The value of a label in our spelling: `security.mesh.io/tlsMode: istio`, and the default name of a cluster. */
export function ownLabelValue(ownedKey: string, value: string): string {
  if (ownedKey === "topology.mesh.io/cluster") return ownClusterName(value);
  return ownedKey === "security.mesh.io/tlsMode" && value === "istio" ? "mesh" : value;
}

/** Labels in our spelling. The same object if every label is already in our spelling. */
export function ownLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  let isOwn = true;
  for (const key in labels) {
    const own = ownKey(key);
    if (own !== key || ownLabelValue(own, labels[key]!) !== labels[key]) isOwn = false;
  }
  if (isOwn) return labels;
  return Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [ownKey(key), ownLabelValue(ownKey(key), value)]),
  );
}

/** A label name inside a list such as failoverPriority: `key` or `key=value`. */
export function ownLabelExpression(text: string): string {
  const at = text.indexOf("=");
  if (at < 0) return ownKey(text);
  const key = ownKey(text.slice(0, at));
  return `${key}=${ownLabelValue(key, text.slice(at + 1))}`;
}

/** A node metadata variable in our spelling: `ISTIO_META_X` becomes `MESH_META_X`. */
export function ownMetadataKey(key: string): string {
  return key.replace(/^ISTIO_(META|METAJSON)_/, "MESH_$1_");
}

/** Istio's names of fields that have other names here. A null prototype, because users' keys are looked up. */
export const FIELD_SPELLINGS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  enableIstioTags: "enableMeshTags",
  istiodSide: "meshdSide",
  enableEnvoyAccessLogService: "enableProxyAccessLogService",
  disableEnvoyListenerLog: "disableProxyListenerLog",
  envoyMetricsServiceAddress: "proxyMetricsServiceAddress",
  envoyAccessLogService: "proxyAccessLogService",
  envoyMetricsService: "proxyMetricsService",
  envoyDebugHeaders: "proxyDebugHeaders",
  envoyExtAuthzHttp: "proxyExtAuthzHttp",
  envoyExtAuthzGrpc: "proxyExtAuthzGrpc",
  envoyFileAccessLog: "proxyFileAccessLog",
  envoyHttpAls: "proxyHttpAls",
  envoyTcpAls: "proxyTcpAls",
  envoyOtelAls: "proxyOtelAls",
});

/** Istio's names of enumeration values that have other names here. */
export const VALUE_SPELLINGS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  ISTIO_MUTUAL: "MESH_MUTUAL",
});
