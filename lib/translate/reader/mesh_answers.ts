/**
 * The source that translation reads from: the mesh as one scope sees it, and the properties of one proxy.
 *
 * @module
 */
import type { ServerHost } from "../../config/kinds/gateway/hosts.ts";
import type { OutboundTrafficPolicy } from "../../config/kinds/sidecar/schema.ts";
import type { MeshConfig, MeshNetworks } from "../../config/mesh/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { ReadSource } from "../../incremental/read_record.ts";
import type { ServiceIdentities } from "../../mesh/endpoint_identities.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import type { PeerTlsPolicy, RefusedPeerTls } from "../../mesh/peer_authentication.ts";
import type { RequestTokenPolicy } from "../../mesh/request_authentication.ts";
import type { EffectiveTelemetry } from "../../mesh/telemetry/index.ts";
import type {
  EffectiveDestinationRule,
  EffectiveVirtualService,
  EgressListener,
  RuleProtocol,
} from "../../mesh/types.ts";
import type { EffectivePlugins } from "../../mesh/wasm_plugins.ts";
import type { Endpoint, NetworkEntrance, Service } from "../../registry/types.ts";
import type { PatchList, PatchPart } from "./patch_selection.ts";
import type { ProxyProperties } from "./proxy_properties.ts";
import type { TranslateSettings } from "./settings.ts";

/** Answers the mesh queries of one scope. Answers are identity-stable; see {@linkcode Reader} for their meaning. */
export interface MeshAnswers extends ReadSource<ProxyProperties> {
  readonly settings: TranslateSettings;
  /** Every host that may have something to translate. */
  hosts(): Iterable<string>;
  /** Whether a host has anything to translate here: a visible service, or a virtual service that names just it. */
  exists(host: string): boolean;
  mesh(): MeshConfig;
  networks(): MeshNetworks;
  service(host: string): Service | undefined;
  endpoints(host: string): readonly Endpoint[];
  identities(host: string): ServiceIdentities | undefined;
  refusedPeerTls(namespace: string): RefusedPeerTls | undefined;
  /** The rules in force for a host; more than one only where rules select client workloads by labels. */
  destinationRules(host: string): readonly EffectiveDestinationRule[];
  /** @param at How many go before it, in the order of precedence. */
  virtualService(host: string, protocol: RuleProtocol, at: number): EffectiveVirtualService | undefined;
  egressListeners(): readonly EgressListener[];
  /** @param index Position of the egress listener in the scope. */
  egressSees(index: number, host: string): boolean;
  outboundTrafficPolicy(): OutboundTrafficPolicy;
  hasServiceUnder(pattern: string): boolean;
  virtualServicesOf(gateway: string): readonly EffectiveVirtualService[];
  /** The gateways that a workload with these properties serves; equal lists are the same array. */
  gatewaysOf(properties: ProxyProperties): readonly ConfigObject<"Gateway">[];
  /** The hosts that a workload with these properties passes on by name; equal lists are the same array. */
  passedHostsOf(properties: ProxyProperties): readonly ServerHost[];
  /** The merged PeerAuthentication of a workload with these properties; equal ones are the same object. */
  peerTlsOf(properties: ProxyProperties): PeerTlsPolicy;
  /** The authorization policies for a workload with these properties; equal lists are the same array. */
  authorizationPoliciesOf(properties: ProxyProperties): readonly AuthorizationPolicy[];
  /** The patches for a part of the configuration of a proxy with these properties; equal lists are the same object. */
  patchesOf(properties: ProxyProperties, part: PatchPart): PatchList;
  /** The merged RequestAuthentication of a workload with these properties; equal ones are the same object. */
  tokenPolicyOf(properties: ProxyProperties): RequestTokenPolicy;
  /**
   * The telemetry that Telemetries ask of a workload with these properties; parts of equal content are the same object.
   */
  telemetryOf(properties: ProxyProperties): EffectiveTelemetry;
  /** Whether metrics of any workload are measured, and proxies may say which workload they are. */
  exchangesPeers(): boolean;
  wasmPluginsOf(properties: ProxyProperties): EffectivePlugins;
  tokenKeys(place: string): string | undefined;
  entrances(network: string): readonly NetworkEntrance[];
}
