/**
 * The reader that builders get: it asks the reader of their class of proxies, and notes question and answer in a trace.
 *
 * Every build of every host goes through here, so what asks is a constant wherever it can be.
 *
 * @module
 */
import type { OutboundTrafficPolicy } from "../../config/kinds/sidecar/types.ts";
import type { MeshConfig, MeshNetworks, ProxyHeaders } from "../../config/mesh/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import type {
  EffectiveDestinationRule,
  EffectiveVirtualService,
  EgressListener,
  RuleProtocol,
} from "../../mesh/types.ts";
import type { Endpoint, Service } from "../../registry/types.ts";
import type { Reader } from "./reader.ts";
import type { PlainProperty, ProxyProperties } from "./proxy_properties.ts";
import type { TranslateSettings } from "./settings.ts";
import type { Ask, BaseReader, Trace } from "./read_record.ts";

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
  isUnprivileged: (t) => t.isUnprivileged,
};

const mesh: Ask<MeshConfig> = (reader) => reader.mesh();
const networks: Ask<MeshNetworks> = (reader) => reader.networks();
const service: Ask<Service | undefined> = (reader, host) => reader.service(host);
const endpoints: Ask<readonly Endpoint[]> = (reader, host) => reader.endpoints(host);
const rules: Ask<readonly EffectiveDestinationRule[]> = (reader, host) => reader.destinationRules(host);
const egressListeners: Ask<readonly EgressListener[]> = (reader) => reader.egressListeners();
const policy: Ask<OutboundTrafficPolicy> = (reader) => reader.outboundTrafficPolicy();
const under: Ask<boolean> = (reader, pattern) => reader.hasServiceUnder(pattern);
const routes: Ask<readonly EffectiveVirtualService[]> = (reader, gateway) => reader.virtualServicesOf(gateway);

/** The virtual service in force, by protocol. */
const VIRTUAL_SERVICE: { readonly [P in RuleProtocol]: Ask<EffectiveVirtualService | undefined> } = {
  http: (reader, host) => reader.virtualService(host, "http"),
  tls: (reader, host) => reader.virtualService(host, "tls"),
  tcp: (reader, host) => reader.virtualService(host, "tcp"),
};

/** A reader that records: it asks another one, and notes question and answer. */
export class RecordingReader implements Reader {
  readonly #base: BaseReader;
  readonly #trace: Trace;

  /**
   * @param base The reader of one proxy class.
   * @param trace Where to note.
   */
  constructor(base: BaseReader, trace: Trace) {
    this.#base = base;
    this.#trace = trace;
  }

  get settings(): TranslateSettings {
    return this.#base.settings;
  }

  property<K extends PlainProperty>(name: K): ProxyProperties[K] {
    return this.#trace.property(name, this.#base.properties, PROPERTIES[name]);
  }

  derived<T extends string | number | boolean>(key: string, compute: (properties: ProxyProperties) => T): T {
    return this.#trace.property(key, this.#base.properties, compute);
  }

  mesh(): MeshConfig {
    return this.#trace.world("mesh", "", "", this.#base, mesh);
  }

  networks(): MeshNetworks {
    return this.#trace.world("networks", "", "", this.#base, networks);
  }

  service(host: string): Service | undefined {
    return this.#trace.world(`s/${host}`, host, "s", this.#base, service);
  }

  endpoints(host: string): readonly Endpoint[] {
    return this.#trace.world(`e/${host}`, host, "se", this.#base, endpoints);
  }

  /** Rules that select clients come first; which of them applies is a question about the proxy's labels alone. */
  destinationRule(host: string): EffectiveDestinationRule | undefined {
    const all = this.#trace.world(`d/${host}`, host, "ds", this.#base, rules);
    for (const rule of all) {
      const wanted = Object.entries(rule.spec.workloadSelector?.matchLabels ?? {});
      if (wanted.length === 0) continue;
      const selects = (properties: ProxyProperties) => wanted.every(([key, value]) => properties.labels[key] === value);
      if (this.#trace.property(`selects/${JSON.stringify(wanted)}`, this.#base.properties, selects)) return rule;
    }
    return all.find((rule) => Object.keys(rule.spec.workloadSelector?.matchLabels ?? {}).length === 0);
  }

  virtualService(host: string, protocol: RuleProtocol): EffectiveVirtualService | undefined {
    return this.#trace.world(`${protocol}/${host}`, host, "v", this.#base, VIRTUAL_SERVICE[protocol]);
  }

  egressListeners(): readonly EgressListener[] {
    return this.#trace.world("egress", "", "", this.#base, egressListeners);
  }

  egressSees(egress: EgressListener, host: string): boolean {
    const sees: Ask<boolean> = (reader, name) => reader.egressSees(egress, name);
    return this.#trace.world(`sees/${egress.index}/${host}`, host, "sv", this.#base, sees);
  }

  outboundTrafficPolicy(): OutboundTrafficPolicy {
    return this.#trace.world("policy", "", "", this.#base, policy);
  }

  proxyHeaders(): ProxyHeaders | undefined {
    return this.#trace.property("proxyHeaders", this.#base.properties, (properties) => properties.proxyHeaders);
  }

  hasServiceUnder(pattern: string): boolean {
    return this.#trace.world(`under/${pattern}`, pattern, "s", this.#base, under);
  }

  gateways(): readonly ConfigObject<"Gateway">[] {
    this.#trace.dependencies.add("g/");
    const base = this.#base;
    return this.#trace.property("gateways", base.properties, (properties) => base.gatewaysOf(properties));
  }

  virtualServicesOf(gateway: string): readonly EffectiveVirtualService[] {
    return this.#trace.world(`g/${gateway}`, gateway, "g", this.#base, routes);
  }
}
