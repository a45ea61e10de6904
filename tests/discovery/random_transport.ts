/**
 * Random ways from proxy to proxy: hosts by wildcards, databases, tunnels, headers before connections, other clusters,
 * and related settings of the mesh.
 * @module
 */
import fc from "fast-check";
import type { MeshConfig, MeshNetworks } from "../../lib/config/mesh/types.ts";
import { type MockEndpoint, MockRegistry } from "../../lib/registry/mock.ts";
import type { Fixture, FixtureOptions } from "./fixture.ts";

/** Networks with and without gateways, by labels of endpoints and by addresses. */
export const NETWORKS: readonly MeshNetworks[] = [
  { networks: {} },
  { networks: { n1: { endpoints: [], gateways: [{ address: "1.2.3.4", port: 15443 }] } } },
  {
    networks: {
      n1: { endpoints: [{ fromCidr: "172.16.0.0/31" }], gateways: [{ address: "1.2.3.4", port: 15443 }] },
      n2: {
        endpoints: [],
        gateways: [{ address: "1.2.3.5", port: 15443 }, { address: "1.2.3.6", port: 15443 }],
      },
    },
  },
];

/** Settings that change how connections are made and taken. */
export const transportSettings: fc.Arbitrary<NonNullable<FixtureOptions["settings"]>> = fc.record({
  PILOT_ENABLE_SIDECAR_LISTENING_HBONE: fc.boolean(),
  PILOT_ENABLE_SENDING_HBONE: fc.boolean(),
  PILOT_PREFER_SENDING_HBONE: fc.boolean(),
  PILOT_ENABLE_REDIS_FILTER: fc.boolean(),
  PILOT_ENABLE_MYSQL_FILTER: fc.boolean(),
  PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: fc.boolean(),
});

/** Changes of the mesh configuration. */
export const meshChange: fc.Arbitrary<Partial<MeshConfig>> = fc.constantFrom<Partial<MeshConfig>>(
  {},
  { serviceSettings: [{ settings: { clusterLocal: true }, hosts: ["svc.a.svc.cluster.local", "*.com"] }] },
  { outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } },
  { inboundTrafficPolicy: { mode: "LOCALHOST" } },
  { enableAutoMtls: false },
  { accessLogFile: "/dev/stdout", accessLogEncoding: "JSON" },
  { defaultProviders: { metrics: ["prometheus"], tracing: ["tracer"], accessLogging: ["als"] } },
  { trustDomainAliases: ["old.example"] },
);

/** The part of a policy about how connections begin, for all ports. */
export const opening = fc.constantFrom(
  ...[{}, {}],
  { tunnel: { protocol: "CONNECT", targetHost: "x.com", targetPort: 443 } },
  { tunnel: { protocol: "POST", targetHost: "far.example.com", targetPort: 80 } },
  ...[{ proxyProtocol: { version: "V1" } }, { proxyProtocol: { version: "V2" } }],
);

/** Modes of TLS, of the mesh and others. */
export const tls = fc.constantFrom(
  undefined,
  { mode: "DISABLE" },
  { mode: "ISTIO_MUTUAL" },
  { mode: "SIMPLE" },
  { mode: "SIMPLE", subjectAltNames: [] },
);

/** Resolution and protocol of a service by a wildcard; plain bytes name no host to resolve. */
export const wild = fc.constantFrom(
  ...["HTTP", "TLS"].map((protocol) => ({ resolution: "DYNAMIC_DNS", protocol })),
  ...["NONE", "STATIC"].flatMap((resolution) => ["HTTP", "TCP"].map((protocol) => ({ resolution, protocol }))),
);

/** Settings of a proxy beside its labels, in its node's metadata. */
export const nodeSettings: readonly Readonly<Record<string, { stringValue: string }>>[] = [
  { PROXY_CONFIG: { stringValue: '{"gatewayTopology":{"proxyProtocol":{},"numTrustedProxies":1}}' } },
  { PROXY_CONFIG: { stringValue: "{}" }, CLUSTER_ID: { stringValue: "far" } },
  { INTERCEPTION_MODE: { stringValue: "TPROXY" }, DNS_CAPTURE: { stringValue: "true" } },
  { INTERCEPTION_MODE: { stringValue: "NONE" } },
];

/** Hosts shared with another cluster. */
const SHARED = ["svc.a.svc.cluster.local", "svc.b.svc.cluster.local"] as const;

/** Another cluster's endpoints of a host. */
export interface FarState {
  readonly host: typeof SHARED[number];
  readonly endpoints: readonly MockEndpoint[];
}

/** Endpoints of a host in another cluster. */
export const far: fc.Arbitrary<FarState> = fc.record({
  host: fc.constantFrom(...SHARED),
  endpoints: fc.array(
    fc.record({
      address: fc.constantFrom("172.17.0.1", "172.17.0.2"),
      port: fc.constant(8080),
      portName: fc.constant("http"),
      network: fc.constantFrom("", "n1", "n2"),
      tlsMode: fc.constantFrom("mesh" as const, "disabled" as const),
    }),
    { maxLength: 2 },
  ),
});

/** The services of another cluster, among those of a fixture. */
export class FarCluster {
  readonly #registry = new MockRegistry("far");
  readonly #keys: ReadonlyMap<string, ReturnType<MockRegistry["addService"]>>;

  constructor(fixture: Fixture) {
    this.#keys = new Map(SHARED.map((hostname) => {
      const ports = [{ name: "http", port: 80, protocol: "HTTP" as const }];
      return [hostname, this.#registry.addService({ hostname, ports, namespace: hostname.split(".")[1]! })];
    }));
    void fixture.pipeline.addRegistry(this.#registry);
  }

  /** Replaces the endpoints of a host. */
  set({ host, endpoints }: FarState): void {
    this.#registry.setEndpoints(this.#keys.get(host)!, endpoints);
  }
}
