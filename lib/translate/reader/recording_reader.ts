/**
 * The reader that builders get: it asks the source of their proxies, and has every query and its answer recorded.
 *
 * @module
 */
import type { ServerHost } from "../../config/kinds/gateway/hosts.ts";
import type { OutboundTrafficPolicy } from "../../config/kinds/sidecar/schema.ts";
import type { MeshConfig, MeshNetworks, ProxyHeaders } from "../../config/mesh/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Recorder } from "../../incremental/read_record.ts";
import type { ServiceIdentities } from "../../mesh/endpoint_identities.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import { isForAllWorkloads } from "../../mesh/destination_rule.ts";
import { isRuled, ruledOnPort, type RuledSidecars, ruledSidecars } from "../../mesh/sidecar_rules.ts";
import type { PeerTlsPolicy, RefusedPeerTls } from "../../mesh/peer_authentication.ts";
import type { RequestTokenPolicy } from "../../mesh/request_authentication.ts";
import type { AccessLogging, TelemetrySide } from "../../mesh/telemetry/access_logging.ts";
import type { MetricsUses } from "../../mesh/telemetry/metrics.ts";
import type { Tracing } from "../../mesh/telemetry/tracing.ts";
import type {
  EffectiveDestinationRule,
  EffectiveVirtualService,
  EgressListener,
  RuleProtocol,
} from "../../mesh/types.ts";
import type { PluginUse, WasmPlugin } from "../../mesh/wasm_plugins.ts";
import type { Endpoint, NetworkEntrance, Service } from "../../registry/types.ts";
import type { Reader } from "./reader.ts";
import type { PatchList, PatchPart } from "./patch_selection.ts";
import type { OwnTracing, PlainProperty, ProxyProperties } from "./proxy_properties.ts";
import type { TranslateSettings } from "./settings.ts";
import type { MeshAnswers } from "./mesh_answers.ts";
import { egressSees, KEY, MESH_QUERY, virtualServiceAt } from "./mesh_queries.ts";

/** The property of proxies that RequestAuthentication objects make. */
export const TOKEN_POLICY = "tokenPolicy";

/** The properties of proxies that ProxyFilter objects make. */
export const PATCHES: { readonly [P in PatchPart]: string } = {
  clusters: "patches/clusters",
  listeners: "patches/listeners",
  routes: "patches/routes",
  extensions: "patches/extensions",
};

/** Reads each plain property. */
const PROPERTIES: { readonly [K in PlainProperty]: (properties: ProxyProperties) => ProxyProperties[K] } = {
  type: (t) => t.type,
  namespace: (t) => t.namespace,
  dnsDomain: (t) => t.dnsDomain,
  clusterId: (t) => t.clusterId,
  network: (t) => t.network,
  requestedNetworks: (t) => t.requestedNetworks,
  locality: (t) => t.locality,
  nodeName: (t) => t.nodeName,
  ipv4: (t) => t.ipv4,
  ipv6: (t) => t.ipv6,
  interceptionMode: (t) => t.interceptionMode,
  httpProxyPort: (t) => t.httpProxyPort,
  http10: (t) => t.http10,
  idleTimeout: (t) => t.idleTimeout,
  dnsCapture: (t) => t.dnsCapture,
  dnsAutoAllocate: (t) => t.dnsAutoAllocate,
  vhds: (t) => t.vhds,
  inboundExactBalance: (t) => t.inboundExactBalance,
  outboundExactBalance: (t) => t.outboundExactBalance,
  tlsClientCertChain: (t) => t.tlsClientCertChain,
  tlsClientKey: (t) => t.tlsClientKey,
  tlsClientRootCert: (t) => t.tlsClientRootCert,
  tlsServerCertChain: (t) => t.tlsServerCertChain,
  tlsServerKey: (t) => t.tlsServerKey,
  tlsServerRootCert: (t) => t.tlsServerRootCert,
  agent: (t) => t.agent,
  fetchesModules: (t) => t.fetchesModules,
  namedByVariable: (t) => t.namedByVariable,
  fileSocket: (t) => t.fileSocket,
  credentialSocket: (t) => t.credentialSocket,
  serviceCluster: (t) => t.serviceCluster,
  isUnprivileged: (t) => t.isUnprivileged,
  enableHbone: (t) => t.enableHbone,
  disableHboneSend: (t) => t.disableHboneSend,
};

/** A reader that records. */
export class RecordingReader implements Reader {
  readonly #recorder: Recorder<MeshAnswers>;

  constructor(recorder: Recorder<MeshAnswers>) {
    this.#recorder = recorder;
  }

  get settings(): TranslateSettings {
    return this.#recorder.source.settings;
  }

  property<K extends PlainProperty>(name: K): ProxyProperties[K] {
    return this.#recorder.property(name, PROPERTIES[name]);
  }

  derived<T extends string | number | boolean>(key: string, compute: (properties: ProxyProperties) => T): T {
    return this.#recorder.property(key, compute);
  }

  mesh(): MeshConfig {
    return this.#recorder.ask(MESH_QUERY.mesh, "");
  }

  networks(): MeshNetworks {
    return this.#recorder.ask(MESH_QUERY.networks, "");
  }

  service(host: string): Service | undefined {
    return this.#recorder.ask(MESH_QUERY.service, host);
  }

  endpoints(host: string): readonly Endpoint[] {
    return this.#recorder.ask(MESH_QUERY.endpoints, host);
  }

  identities(host: string): ServiceIdentities | undefined {
    return this.#recorder.ask(MESH_QUERY.identities, host);
  }

  /** A property of the proxy: results that were made with another policy do not fit it any more, and need not be dropped. */
  peerTls(): PeerTlsPolicy {
    const { source } = this.#recorder;
    return this.#recorder.property("peerTls", (properties) => source.peerTlsOf(properties));
  }

  /** A property of the proxy, as its merged PeerAuthentication is. */
  authorizationPolicies(): readonly AuthorizationPolicy[] {
    const { source } = this.#recorder;
    return this.#recorder.property("authorizationPolicies", (of) => source.authorizationPoliciesOf(of));
  }

  /** A property of the proxy, as its merged PeerAuthentication is. */
  patches(part: PatchPart): PatchList {
    const { source } = this.#recorder;
    return this.#recorder.property(PATCHES[part], (properties) => source.patchesOf(properties, part));
  }

  /** A property of the proxy, as its PeerAuthentication is. */
  tokenPolicy(): RequestTokenPolicy {
    const { source } = this.#recorder;
    return this.#recorder.property(TOKEN_POLICY, (properties) => source.tokenPolicyOf(properties));
  }

  /** A property of the proxy, as its PeerAuthentication is. */
  accessLogging(side: TelemetrySide): AccessLogging {
    const { source } = this.#recorder;
    return this.#recorder.property(`accessLogging/${side}`, (of) => source.telemetryOf(of).accessLogging[side]);
  }

  tracing(side: TelemetrySide): Tracing {
    const { source } = this.#recorder;
    return this.#recorder.property(`tracing/${side}`, (of) => source.telemetryOf(of).tracing[side]);
  }

  metrics(side: TelemetrySide): MetricsUses {
    const { source } = this.#recorder;
    return this.#recorder.property(`metrics/${side}`, (of) => source.telemetryOf(of).metrics[side]);
  }

  /** A property of the proxy, as its PeerAuthentication is, though it is the same of all. */
  exchangesPeers(): boolean {
    const { source } = this.#recorder;
    return this.#recorder.property("exchangesPeers", () => source.exchangesPeers());
  }

  proxyTracing(): OwnTracing | undefined {
    return this.#recorder.property("proxyTracing", ({ tracing }) => tracing);
  }

  telemetryCauses(): readonly string[] {
    const { source } = this.#recorder;
    return this.#recorder.property("telemetryCauses", (properties) => source.telemetryOf(properties).causes);
  }

  /** A property of the proxy, as its PeerAuthentication is. */
  pluginUses(side: TelemetrySide): readonly PluginUse[] {
    const { source } = this.#recorder;
    return this.#recorder.property(`pluginUses/${side}`, (of) => source.wasmPluginsOf(of).uses[side]);
  }

  wasmPlugins(): readonly WasmPlugin[] {
    const { source } = this.#recorder;
    return this.#recorder.property("wasmPlugins", (of) => source.wasmPluginsOf(of).plugins);
  }

  entrances(network: string): readonly NetworkEntrance[] {
    return this.#recorder.ask(MESH_QUERY.entrances, network);
  }

  tokenKeys(place: string): string | undefined {
    return this.#recorder.ask(MESH_QUERY.tokenKeys, place);
  }

  refusedPeerTls(namespace: string): RefusedPeerTls | undefined {
    return this.#recorder.ask(MESH_QUERY.refusedPeerTls, namespace);
  }

  /** Rules that select clients come first; which of them applies is a query about the proxy's labels alone. */
  destinationRule(host: string): EffectiveDestinationRule | undefined {
    const all = this.#recorder.ask(MESH_QUERY.destinationRules, host);
    for (const rule of all) {
      const wanted = Object.entries(rule.spec.workloadSelector?.matchLabels ?? {});
      if (wanted.length === 0) continue;
      const selects = ({ labels }: ProxyProperties) => wanted.every(([key, value]) => labels[key] === value);
      if (this.#recorder.property(`selects/${JSON.stringify(wanted)}`, selects)) return rule;
    }
    return all.find(isForAllWorkloads);
  }

  destinationRuleForAll(host: string): EffectiveDestinationRule | undefined {
    return this.#recorder.ask(MESH_QUERY.destinationRules, host).find(isForAllWorkloads);
  }

  virtualService(host: string, protocol: RuleProtocol, port?: number): EffectiveVirtualService | undefined {
    for (let at = 0;; at++) {
      const vs = this.#recorder.ask(virtualServiceAt(protocol, at), host);
      if (vs === undefined) return undefined;
      const sidecars = ruledSidecars(vs, protocol);
      if (this.#isRuled(port === undefined ? sidecars : ruledOnPort(sidecars, port))) return vs;
    }
  }

  virtualServices(host: string, protocol: RuleProtocol): readonly EffectiveVirtualService[] {
    const found: EffectiveVirtualService[] = [];
    for (let at = 0;; at++) {
      const vs = this.#recorder.ask(virtualServiceAt(protocol, at), host);
      if (vs === undefined) return found;
      const sidecars = ruledSidecars(vs, protocol);
      if (this.#isRuled(sidecars)) found.push(vs);
      if (sidecars === "all") return found;
    }
  }

  /** Whether rules for chosen workloads are for the proxy is a property of its own, of these conditions alone. */
  #isRuled(sidecars: RuledSidecars): boolean {
    if (sidecars === "all" || sidecars.length === 0) return sidecars === "all";
    const conditions = sidecars.map(({ namespace, labels }) => ({ namespace, labels }));
    return this.#recorder.property(`ruled/${JSON.stringify(conditions)}`, (t) => isRuled(sidecars, t));
  }

  egressListeners(): readonly EgressListener[] {
    return this.#recorder.ask(MESH_QUERY.egressListeners, "");
  }

  egressSees({ index }: EgressListener, host: string): boolean {
    return this.#recorder.ask(egressSees(index), host);
  }

  outboundTrafficPolicy(): OutboundTrafficPolicy {
    return this.#recorder.ask(MESH_QUERY.outboundTrafficPolicy, "");
  }

  proxyHeaders(): ProxyHeaders | undefined {
    return this.#recorder.property("proxyHeaders", ({ proxyHeaders }) => proxyHeaders);
  }

  hasServiceUnder(pattern: string): boolean {
    return this.#recorder.ask(MESH_QUERY.hasServiceUnder, pattern);
  }

  gateways(): readonly ConfigObject<"Gateway">[] {
    this.#recorder.dependOn(KEY.gateways, "");
    const { source } = this.#recorder;
    return this.#recorder.property("gateways", (properties) => source.gatewaysOf(properties));
  }

  /** A property of the proxy, as its merged PeerAuthentication is: most changes of Gateway objects leave it as it is. */
  passedHosts(): readonly ServerHost[] {
    const { source } = this.#recorder;
    return this.#recorder.property("passedHosts", (properties) => source.passedHostsOf(properties));
  }

  virtualServicesOf(gateway: string): readonly EffectiveVirtualService[] {
    return this.#recorder.ask(MESH_QUERY.virtualServicesOf, gateway);
  }
}
