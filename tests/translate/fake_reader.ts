/**
 * A `Reader` over plain data, for tests of builders: everything that it is given is visible.
 *
 * @module
 */
import type { MeshConfig, MeshNetworks, ProxyHeaders } from "../../lib/config/mesh/types.ts";
import type { OutboundTrafficPolicy } from "../../lib/config/kinds/sidecar/schema.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { EndpointIdentities } from "../../lib/mesh/endpoint_identities.ts";
import type { AuthorizationPolicy } from "../../lib/mesh/authorization_policy.ts";
import {
  DEFAULT_PEER_TLS,
  type PeerTlsMode,
  type PeerTlsPolicy,
  type RefusedPeerTls,
} from "../../lib/mesh/peer_authentication.ts";
import { TelemetryIndex } from "../../lib/mesh/telemetry/index.ts";
import { NO_TOKEN_POLICY, type RequestTokenPolicy } from "../../lib/mesh/request_authentication.ts";
import { isForAllWorkloads } from "../../lib/mesh/destination_rule.ts";
import type { EffectiveDestinationRule, EffectiveVirtualService, EgressListener } from "../../lib/mesh/types.ts";
import { WasmPluginIndex } from "../../lib/mesh/wasm_plugins.ts";
import { passedHosts } from "../../lib/config/kinds/gateway/hosts.ts";
import { entrancesByNetwork, writtenEntrances } from "../../lib/mesh/networks.ts";
import type { Endpoint, NetworkEntrance, Service } from "../../lib/registry/types.ts";
import { NO_PATCHES, type PatchList, type PatchPart } from "../../lib/translate/reader/patch_selection.ts";
import type { Reader } from "../../lib/translate/reader/reader.ts";
import type { ProxyProperties } from "../../lib/translate/reader/proxy_properties.ts";
import type { TranslateSettings } from "../../lib/translate/reader/settings.ts";

/** What the world of a test holds; all parts optional. */
export interface FakeWorld {
  readonly settings?: Partial<TranslateSettings>;
  readonly properties?: Partial<ProxyProperties>;
  readonly mesh?: Partial<MeshConfig>;
  readonly networks?: MeshNetworks;
  /** Ways into networks, by network. Default: the addresses that the networks name. */
  readonly entrances?: Readonly<Record<string, readonly NetworkEntrance[]>>;
  readonly services?: readonly Service[];
  /** By host. */
  readonly endpoints?: Readonly<Record<string, readonly Endpoint[]>>;
  /** By exact host. */
  readonly destinationRules?: Readonly<Record<string, EffectiveDestinationRule>>;
  /** By exact host. */
  readonly virtualServices?: Readonly<Record<string, EffectiveVirtualService>>;
  /** Each with the hosts that it sees; absent hosts: all. Absent list: one catch-all listener. */
  readonly egress?: readonly (EgressListener & { readonly hosts?: readonly string[] })[];
  readonly gateways?: readonly ConfigObject<"Gateway">[];
  readonly outboundTrafficPolicy?: OutboundTrafficPolicy;
  readonly proxyHeaders?: ProxyHeaders;
  /** The merged policy of the workload; ports by number. */
  readonly peerTls?: {
    readonly mode: PeerTlsMode;
    readonly ports?: Readonly<Record<string, PeerTlsMode>>;
    readonly causes?: readonly string[];
  };
  /** For the workload. */
  readonly authorizationPolicies?: readonly AuthorizationPolicy[];
  readonly patches?: Partial<Record<PatchPart, PatchList>>;
  readonly tokenPolicy?: RequestTokenPolicy;
  readonly telemetries?: readonly ConfigObject<"Telemetry">[];
  readonly wasmPlugins?: readonly ConfigObject<"WasmPlugin">[];
  /** Keys of token issuers by their place. */
  readonly tokenKeys?: Readonly<Record<string, string>>;
  /** In every namespace. */
  readonly refusedPeerTls?: RefusedPeerTls;
}

/** A fake reader; `asked` lists the questions that it was asked, in order, each once. */
export interface FakeReader extends Reader {
  readonly asked: readonly string[];
}

/** Builds a reader that answers from `world`, and from Istio's defaults where it says nothing. */
export function fakeReader(world: FakeWorld = {}): FakeReader {
  const properties: ProxyProperties = { ...defaultProperties, ...world.properties };
  const mesh = { ...defaultMesh, ...world.mesh } as MeshConfig;
  const services = new Map((world.services ?? []).map((s) => [s.hostname, s]));
  const egress = world.egress ?? [{ index: 0, captureMode: "DEFAULT" as const }];
  const policy = world.outboundTrafficPolicy ?? mesh.outboundTrafficPolicy;
  const telemetry = telemetryOf(world, mesh, properties);
  const plugins = pluginsOf(world, mesh, properties);
  const networks = world.networks ?? { networks: {} };
  const entrances = world.entrances === undefined
    ? entrancesByNetwork(writtenEntrances(networks), () => [])
    : new Map(Object.entries(world.entrances));
  const identitiesOf = (host: string) =>
    new EndpointIdentities({ endpoints: () => world.endpoints?.[host] ?? [] }).of(`/${host}`);
  const asked = new Set<string>();
  const answer = <T>(question: string, value: T): T => (asked.add(question), value);
  return {
    get asked() {
      return [...asked];
    },
    settings: { ...defaultSettings, ...world.settings },
    property: (name) => answer(`property/${name}`, properties[name]),
    derived: (key, compute) => answer(`derived/${key}`, compute(properties)),
    mesh: () => answer("mesh", mesh),
    service: (host) => answer(`service/${host}`, services.get(host)),
    endpoints: (host) => answer(`endpoints/${host}`, world.endpoints?.[host] ?? []),
    identities: (host) => answer(`identities/${host}`, services.has(host) ? identitiesOf(host) : undefined),
    peerTls: () => answer("peerTls", peerTlsOf(world)),
    patches: (part) => answer(`patches/${part}`, world.patches?.[part] ?? NO_PATCHES),
    authorizationPolicies: () => answer("authorizationPolicies", world.authorizationPolicies ?? []),
    tokenPolicy: () => answer("tokenPolicy", world.tokenPolicy ?? NO_TOKEN_POLICY),
    accessLogging: (side) => answer(`accessLogging/${side}`, telemetry.accessLogging[side]),
    tracing: (side) => answer(`tracing/${side}`, telemetry.tracing[side]),
    metrics: (side) => answer(`metrics/${side}`, telemetry.metrics[side]),
    exchangesPeers: () => answer("exchangesPeers", exchangesPeers(world, mesh)),
    proxyTracing: () => answer("proxyTracing", properties.tracing),
    pluginUses: (side) => answer(`pluginUses/${side}`, plugins.uses[side]),
    wasmPlugins: () => answer("wasmPlugins", plugins.plugins),
    telemetryCauses: () => answer("telemetryCauses", telemetry.causes),
    tokenKeys: (place) => answer(`tokenKeys/${place}`, world.tokenKeys?.[place]),
    refusedPeerTls: (namespace) => answer(`refusedPeerTls/${namespace}`, world.refusedPeerTls),
    destinationRule: (host) => answer(`destinationRule/${host}`, world.destinationRules?.[host]),
    destinationRuleForAll: (host) =>
      answer(
        `destinationRuleForAll/${host}`,
        [world.destinationRules?.[host]].find((rule) => rule && isForAllWorkloads(rule)),
      ),
    virtualService: (host, protocol) => {
      const found = world.virtualServices?.[host];
      return answer(`virtualService/${host}`, found?.spec[protocol]?.length ? found : undefined);
    },
    egressListeners: () => answer("egressListeners", egress),
    egressSees: (listener, host) => {
      const hosts = egress.find((e) => e.index === listener.index)?.hosts;
      return answer(`egressSees/${listener.index}/${host}`, hosts === undefined || hosts.includes(host));
    },
    outboundTrafficPolicy: () => answer("outboundTrafficPolicy", policy),
    proxyHeaders: () => answer("proxyHeaders", world.proxyHeaders ?? mesh.defaultConfig.proxyHeaders),
    networks: () => answer("networks", networks),
    entrances: (network) => answer(`entrances/${network}`, entrances.get(network) ?? []),
    hasServiceUnder: (pattern) => {
      const under = [...services.keys()].some((host) => host !== pattern && host.endsWith(pattern.slice(1)));
      return answer(`hasServiceUnder/${pattern}`, under);
    },
    gateways: () => answer("gateways", world.gateways ?? []),
    passedHosts: () => answer("passedHosts", (world.gateways ?? []).flatMap(passedHosts)),
    virtualServices: (host, protocol) => {
      const found = world.virtualServices?.[host];
      return found?.spec[protocol]?.length ? [found] : [];
    },
    virtualServicesOf: (gateway) => {
      const all = Object.values(world.virtualServices ?? {});
      return answer(`virtualServicesOf/${gateway}`, all.filter((v) => v.gateways.includes(gateway)));
    },
  };
}

function exchangesPeers({ telemetries = [], settings }: FakeWorld, mesh: MeshConfig): boolean {
  const index = new TelemetryIndex(mesh);
  index.update([], telemetries);
  return (settings?.exchangePeers ?? true) && index.measures;
}

function telemetryOf({ telemetries = [] }: FakeWorld, mesh: MeshConfig, { namespace, labels }: ProxyProperties) {
  const index = new TelemetryIndex(mesh);
  index.update([], telemetries);
  return index.of({ namespace, labels });
}

function pluginsOf({ wasmPlugins = [] }: FakeWorld, mesh: MeshConfig, { namespace, labels }: ProxyProperties) {
  const index = new WasmPluginIndex(mesh.rootNamespace);
  index.update([], wasmPlugins);
  return index.of({ namespace, labels });
}

function peerTlsOf({ peerTls }: FakeWorld): PeerTlsPolicy {
  if (!peerTls) return DEFAULT_PEER_TLS;
  const { mode, ports = {}, causes = [] } = peerTls;
  return { mode, ports: new Map(Object.entries(ports).map(([port, own]) => [Number(port), own])), causes };
}

/** An IPv4 sidecar with redirection, in namespace `default`. */
export const defaultProperties: ProxyProperties = {
  type: "sidecar",
  namespace: "default",
  dnsDomain: "default.svc.cluster.local",
  clusterId: "Orch",
  network: "",
  requestedNetworks: "",
  locality: "",
  nodeName: "",
  ipv4: true,
  ipv6: false,
  interceptionMode: "REDIRECT",
  httpProxyPort: 0,
  http10: false,
  idleTimeout: 0,
  dnsCapture: false,
  dnsAutoAllocate: false,
  vhds: false,
  extensions: undefined,
  inboundExactBalance: false,
  outboundExactBalance: false,
  tlsClientCertChain: "",
  tlsClientKey: "",
  tlsClientRootCert: "",
  tlsServerCertChain: "",
  tlsServerKey: "",
  tlsServerRootCert: "",
  agent: false,
  fetchesModules: false,
  namedByVariable: false,
  fileSocket: false,
  credentialSocket: false,
  isUnprivileged: false,
  enableHbone: false,
  disableHboneSend: false,
  serviceCluster: "",
  tracing: undefined,
  proxyHeaders: undefined,
  patched: { version: "", metadata: () => undefined },
  labels: {},
};

/** Settings at their defaults. */
export const defaultSettings: TranslateSettings = {
  variable: () => undefined,
  domainSuffix: "cluster.local",
  tokenKeysFetchedBy: "server",
  http3: false,
  enableHttp10: false,
  databases: ["Mongo"],
  listensHbone: false,
  sendsHbone: false,
  prefersHbone: false,
  traceSampling: 1,
  spawnUpstreamSpanForGateway: false,
  exchangePeers: true,
  enablePersistentSessionFilter: false,
  persistentSessionLabel: "mesh.io/persistent-session",
  persistentSessionHeaderLabel: "mesh.io/persistent-session-header",
  enableRouteCollapse: true,
  enableAbsoluteFqdnVhostDomain: true,
  enable100ContinueHeaders: true,
  enableEdsForHeadless: false,
  multiclusterHeadless: true,
  enableLocalityWeightedLb: false,
  sendUnhealthyEndpoints: false,
  drainingLabel: "mesh.io/draining",
  sidecarUseRemoteAddress: false,
  enableTlsOnSidecarIngress: false,
  allowSidecarServiceInboundListenerMerge: false,
  preferDestinationRuleTlsForExternal: true,
  dualStack: false,
  bothFamilies: false,
  assignsAddresses: false,
  enableIpv4OutboundListenerForIpv6Clusters: false,
  dnsCaresUdpMaxQueries: 100,
  dnsJitterMs: 100,
  enableTelemetryLabel: true,
  endpointTelemetryLabel: true,
  maxConnectionsPerSocketEventLoop: 1,
  filterGatewayClusterConfig: false,
  scopeGatewayToNamespace: false,
  enableHcmInternalNetworks: false,
  labelCanonicalServicesForMeshExternal: false,
  skipValidateTrustDomain: false,
  compliancePolicy: "",
};

const defaultMesh: Partial<MeshConfig> = {
  proxyListenPort: 15001,
  proxyInboundListenPort: 15006,
  proxyHttpPort: 0,
  connectTimeout: 10_000,
  protocolDetectionTimeout: 0,
  enableTracing: true,
  accessLogEncoding: "TEXT",
  enableProxyAccessLogService: false,
  disableProxyListenerLog: false,
  outboundTrafficPolicy: { mode: "ALLOW_ANY" },
  inboundTrafficPolicy: { mode: "PASSTHROUGH" },
  enableAutoMtls: true,
  trustDomain: "cluster.local",
  trustDomainAliases: [],
  rootNamespace: "mesh-system",
  localityLbSetting: {},
  extensionProviders: [],
  defaultProviders: {},
  serviceSettings: [],
  dnsRefreshRate: 60_000,
  h2UpgradePolicy: "DO_NOT_UPGRADE",
  pathNormalization: { normalization: "DEFAULT" },
  defaultHttpRetryPolicy: { attempts: 2, retryOn: "connect-failure,refused-stream,unavailable,cancelled" },
  defaultConfig: { discoveryAddress: "meshd.mesh-system.svc:15012" } as MeshConfig["defaultConfig"],
};
