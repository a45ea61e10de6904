/**
 * The reader of builders. The reader asks the source of the proxies, and records every query and answer.
 *
 * @module
 */
import type { Recorder } from "../../incremental/read_record.ts";
import { isForAllWorkloads } from "../../mesh/destination_rule.ts";
import { isRuled, ruledOnPort, type RuledSidecars, ruledSidecars } from "../../mesh/sidecar_rules.ts";
import type {
  EffectiveDestinationRule,
  EffectiveVirtualService,
  EgressListener,
  RuleProtocol,
} from "../../mesh/types.ts";
import type { PlainProperty, ProxyProperties } from "./proxy_properties.ts";
import { destinationRules, egressSees, QUERIES, type ThingQuery, virtualServiceAt } from "./queries.ts";
import type { OpenReader, QueryMethods } from "./reader.ts";
import type { ScopeReader } from "./scope_reader.ts";
import type { TranslateSettings } from "./settings.ts";

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
  onDemand: (t) => t.onDemand,
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

/** Stands for the methods of the table of queries. The class below defines the methods. */
const TableMethods = class {} as new () => QueryMethods;

/** A reader with a recorder. */
export class RecordingReader extends TableMethods implements OpenReader {
  readonly #recorder: Recorder<ScopeReader>;

  static {
    for (const [name, query] of Object.entries(QUERIES)) {
      const method = "isWhole" in query
        ? function (this: RecordingReader, of = ""): unknown {
          return this.#recorder.ask<unknown>(query, of);
        }
        : function (this: RecordingReader, part = ""): unknown {
          return this.#recorder.askOwn<unknown>(query, part);
        };
      Object.defineProperty(RecordingReader.prototype, name, { value: method });
    }
  }

  constructor(recorder: Recorder<ScopeReader>) {
    super();
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

  ask<T>(query: ThingQuery<T>, name: string): T {
    return this.#recorder.ask(query, name);
  }

  /** Rules for selected clients come first. Whether such a rule applies is a query about the proxy's labels only. */
  destinationRule(host: string): EffectiveDestinationRule | undefined {
    const all = this.#recorder.ask(destinationRules, host);
    for (const rule of all) {
      const wanted = Object.entries(rule.spec.workloadSelector?.matchLabels ?? {});
      if (wanted.length === 0) continue;
      const selects = ({ labels }: ProxyProperties) => wanted.every(([key, value]) => labels[key] === value);
      if (this.#recorder.property(`selects/${JSON.stringify(wanted)}`, selects)) return rule;
    }
    return all.find(isForAllWorkloads);
  }

  destinationRuleForAll(host: string): EffectiveDestinationRule | undefined {
    return this.#recorder.ask(destinationRules, host).find(isForAllWorkloads);
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

  /**
   * Whether rules for selected workloads apply to the proxy. The answer is recorded as a property of the proxy under
   * the rules' conditions.
   */
  #isRuled(sidecars: RuledSidecars): boolean {
    if (sidecars === "all" || sidecars.length === 0) return sidecars === "all";
    const conditions = sidecars.map(({ namespace, labels }) => ({ namespace, labels }));
    return this.#recorder.property(`ruled/${JSON.stringify(conditions)}`, (t) => isRuled(sidecars, t));
  }

  egressSees({ index }: EgressListener, host: string): boolean {
    return this.#recorder.ask(egressSees(index), host);
  }
}
