/**
 * The source of one class of proxies: its scope of the mesh, and the properties of one of its proxies.
 *
 * @module
 */
import type { ServerHost } from "../../config/kinds/gateway/hosts.ts";
import type { OutboundTrafficPolicy } from "../../config/kinds/sidecar/schema.ts";
import type { MeshConfig, MeshNetworks } from "../../config/mesh/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { ViewDifference } from "../../incremental/read_record.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import { Scope } from "../../mesh/scope.ts";
import type { ServiceIdentities } from "../../mesh/endpoint_identities.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import type { PeerTlsPolicy, RefusedPeerTls } from "../../mesh/peer_authentication.ts";
import type { RequestTokenPolicy } from "../../mesh/request_authentication.ts";
import type { EffectiveTelemetry } from "../../mesh/telemetry/index.ts";
import type { Distinction } from "../../mesh/view/distinctions.ts";
import type {
  EffectiveDestinationRule,
  EffectiveVirtualService,
  EgressListener,
  RuleProtocol,
} from "../../mesh/types.ts";
import type { EffectivePlugins } from "../../mesh/wasm_plugins.ts";
import type { Endpoint, NetworkEntrance, Service } from "../../registry/types.ts";
import type { PatchList, PatchPart, PatchSelection } from "./patch_selection.ts";
import type { ProxyProperties } from "./proxy_properties.ts";
import type { TranslateSettings } from "./settings.ts";
import type { MeshAnswers } from "./mesh_answers.ts";
import { hostKeys } from "./mesh_queries.ts";

const noEndpoints: readonly Endpoint[] = [];

/** Answers from the mesh. */
export class ScopeReader implements MeshAnswers {
  readonly settings: TranslateSettings;
  readonly properties: ProxyProperties;
  readonly scope: Scope;
  readonly #mesh: Mesh;
  readonly #patches: PatchSelection;

  constructor(patches: PatchSelection, scope: Scope, properties: ProxyProperties, settings: TranslateSettings) {
    this.#patches = patches;
    this.#mesh = patches.mesh;
    this.scope = scope;
    this.properties = properties;
    this.settings = settings;
  }

  get view(): Scope {
    return this.scope;
  }

  differsFrom(view: object): ViewDifference | undefined {
    const distinctions = view instanceof Scope ? this.#mesh.differences(this.scope, view) : undefined;
    if (!distinctions) return undefined;
    const hosts = (kind: Distinction["kind"]) =>
      new Set(distinctions.flatMap((distinction) => distinction.kind === kind ? distinction.hosts : []));
    const services = hosts("services");
    const virtualServices = hosts("virtualServices");
    const keys = hostKeys({
      services,
      virtualServices,
      endpoints: services,
      identities: services,
      destinationRules: hosts("destinationRules"),
    });
    return { keys, names: services.union(virtualServices) };
  }

  hosts(): Iterable<string> {
    return this.scope.hosts();
  }

  exists(host: string): boolean {
    return this.scope.service(host) !== undefined ||
      this.scope.virtualService(host, undefined)?.hosts.includes(host) === true;
  }

  mesh(): MeshConfig {
    return this.#mesh.config;
  }

  networks(): MeshNetworks {
    return this.#mesh.networks;
  }

  service(host: string): Service | undefined {
    return this.scope.service(host);
  }

  endpoints(host: string): readonly Endpoint[] {
    const service = this.scope.service(host);
    return service ? this.#mesh.endpoints(service) : noEndpoints;
  }

  identities(host: string): ServiceIdentities | undefined {
    const service = this.scope.service(host);
    return service && this.#mesh.identities(service);
  }

  refusedPeerTls(namespace: string): RefusedPeerTls | undefined {
    return this.#mesh.peerAuthentications.refusedIn(namespace);
  }

  destinationRules(host: string): readonly EffectiveDestinationRule[] {
    return this.scope.destinationRules(host);
  }

  virtualService(host: string, protocol: RuleProtocol, at: number): EffectiveVirtualService | undefined {
    return this.scope.virtualService(host, protocol, at);
  }

  egressListeners(): readonly EgressListener[] {
    return this.scope.egress;
  }

  egressSees(index: number, host: string): boolean {
    return this.scope.sees(index, host);
  }

  outboundTrafficPolicy(): OutboundTrafficPolicy {
    return this.scope.outboundTrafficPolicy();
  }

  hasServiceUnder(pattern: string): boolean {
    return this.scope.hasServiceUnder(pattern);
  }

  gatewaysOf(properties: ProxyProperties): readonly ConfigObject<"Gateway">[] {
    return this.#mesh.gateways.select(properties.namespace, properties.labels);
  }

  passedHostsOf({ namespace, labels }: ProxyProperties): readonly ServerHost[] {
    return this.#mesh.gateways.passed(namespace, labels);
  }

  peerTlsOf(properties: ProxyProperties): PeerTlsPolicy {
    return this.#mesh.peerAuthentications.of(properties);
  }

  authorizationPoliciesOf(properties: ProxyProperties): readonly AuthorizationPolicy[] {
    return this.#mesh.authorizationPolicies.of(properties);
  }

  patchesOf(properties: ProxyProperties, part: PatchPart): PatchList {
    return this.#patches.of(properties, part);
  }

  tokenPolicyOf(properties: ProxyProperties): RequestTokenPolicy {
    return this.#mesh.requestAuthentications.of(properties);
  }

  telemetryOf(properties: ProxyProperties): EffectiveTelemetry {
    return this.#mesh.telemetries.of(properties);
  }

  exchangesPeers(): boolean {
    return this.settings.exchangePeers && this.#mesh.telemetries.measures;
  }

  wasmPluginsOf(properties: ProxyProperties): EffectivePlugins {
    return this.#mesh.wasmPlugins.of(properties);
  }

  entrances(network: string): readonly NetworkEntrance[] {
    return this.#mesh.entrances(network);
  }

  tokenKeys(place: string): string | undefined {
    return this.#mesh.tokenKeysAt(place);
  }

  virtualServicesOf(gateway: string): readonly EffectiveVirtualService[] {
    return this.#mesh.virtualServices.forGateway(gateway);
  }
}
