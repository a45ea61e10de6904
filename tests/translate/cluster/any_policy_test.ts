/**
 * Envoy must accept every policy that validation admits: a refused cluster is an error in every proxy with the cluster.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Findings } from "../../../lib/finding/findings.ts";
import { destinationRule } from "../../../lib/config/kinds/destination_rule/schema.ts";
import { validateDestinationRule } from "../../../lib/config/kinds/destination_rule/validate.ts";
import { DecodeContext } from "../../../lib/config/schema/field.ts";
import type { DestinationRuleSpec } from "../../../lib/config/kinds/kinds.ts";
import type { Resolution } from "../../../lib/registry/types.ts";
import { outboundClusters } from "../../../lib/translate/cluster/outbound.ts";
import { envoyPath } from "../../envoy/path.ts";
import { acceptClusters } from "../../envoy/verdict.ts";
import { meshReader } from "../mesh_reader.ts";
import { endpoint, port, rule, service } from "../make.ts";

const count = fc.constantFrom(-1, 0, 1, 2, 100, 1025, 2 ** 31 - 1);
const big = fc.constantFrom(0, 1, 2, 1021, 65537, 8_388_608, 8_388_609, 2 ** 53);
const time = fc.constantFrom("0s", "1ms", "0.5s", "1s", "10s", "1h", "87600h");
const percent = fc.constantFrom(0, 1, 50, 100);
const some = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record<Partial<T>>(model, { requiredKeys: [] });

const pem = new URL("../../testdata/pem/", import.meta.url).pathname;
const connectionPool = some({
  tcp: some({
    maxConnections: count,
    connectTimeout: time,
    maxConnectionDuration: time,
    idleTimeout: time,
    tcpKeepalive: some({ probes: fc.constantFrom(0, 1, 9), time, interval: time }),
  }),
  http: some({
    http1MaxPendingRequests: count,
    http2MaxRequests: count,
    maxRequestsPerConnection: count,
    maxRetries: count,
    idleTimeout: time,
    h2UpgradePolicy: fc.constantFrom("DEFAULT", "UPGRADE", "DO_NOT_UPGRADE"),
    useClientProtocol: fc.boolean(),
    maxConcurrentStreams: count,
  }),
});
const outlierDetection = some({
  splitExternalLocalOriginErrors: fc.boolean(),
  consecutiveLocalOriginFailures: fc.constantFrom(0, 1, 7),
  consecutiveGatewayErrors: fc.constantFrom(0, 1, 7),
  consecutive5xxErrors: fc.constantFrom(0, 1, 7),
  interval: time,
  baseEjectionTime: time,
  maxEjectionPercent: percent,
  minHealthPercent: percent,
});
const hashKey = fc.constantFrom(
  { httpHeaderName: "x" },
  { useSourceIp: true },
  { httpQueryParameterName: "q" },
  { httpCookie: { name: "c", ttl: "0s" } },
);
const algorithm = fc.oneof(
  fc.constant({}),
  big.map((minimumRingSize) => ({ ringHash: { minimumRingSize } })),
  big.map((tableSize) => ({ maglev: { tableSize } })),
  big.map((minimumRingSize) => ({ minimumRingSize })),
);
const localityLbSetting = fc.constantFrom(
  {},
  { enabled: false },
  { distribute: [{ from: "*", to: { "*": 100 } }] },
  { failover: [{ from: "eu", to: "us" }] },
  { failoverPriority: ["a", "b=c"] },
);
const warmup = fc.record({
  duration: time,
  minimumPercent: fc.constantFrom(0, 10, 100),
  aggression: fc.constantFrom(1, 1.5, 100),
});
const loadBalancer = fc.tuple(
  fc.oneof(
    fc.constantFrom("UNSPECIFIED", "LEAST_CONN", "RANDOM", "PASSTHROUGH", "ROUND_ROBIN", "LEAST_REQUEST")
      .map((simple) => ({ simple })),
    fc.tuple(hashKey, algorithm).map(([key, how]) => ({ consistentHash: { ...key, ...how } })),
  ),
  some({ localityLbSetting, warmup, warmupDurationSecs: time }),
).map(([how, more]) => ({ ...how, ...more }));
const tls = fc.tuple(
  fc.constantFrom(
    { mode: "DISABLE" },
    { mode: "SIMPLE" },
    { mode: "SIMPLE", caCertificates: `${pem}root.pem` },
    { mode: "MUTUAL", clientCertificate: `${pem}cert.pem`, privateKey: `${pem}key.pem` },
    { mode: "SIMPLE", credentialName: "c" },
    { mode: "ISTIO_MUTUAL" },
  ),
  some({
    sni: fc.constantFrom("a.example.com", "x"),
    subjectAltNames: fc.constantFrom(["a.example.com", "spiffe://x/y"], ["10.0.0.1", "2001:db8::1"], ["a@b"]),
    insecureSkipVerify: fc.boolean(),
  }),
).map(([mode, more]) => mode.mode === "DISABLE" || mode.mode === "ISTIO_MUTUAL" ? mode : { ...mode, ...more });
const trafficPolicy = some({ connectionPool, outlierDetection, loadBalancer, tls });

const anyCase = fc.record({
  raw: fc.record({ host: fc.constant("a.default.svc.cluster.local"), trafficPolicy }),
  resolution: fc.constantFrom<Resolution>("static", "dns", "dnsRoundRobin", "dynamicDns", "passthrough"),
  type: fc.constantFrom("sidecar" as const, "router" as const),
  protocol: fc.constantFrom("HTTP" as const, "HTTP2" as const, "TCP" as const, "Unsupported" as const),
});

/** The spec as stored. Undefined when refused. */
function stored(raw: object): DestinationRuleSpec | undefined {
  const findings = new Findings();
  const spec = destinationRule.decode(raw, new DecodeContext("spec", findings));
  if (spec === undefined || findings.failed) return undefined;
  const meta = { name: "r", namespace: "default", labels: {}, annotations: {}, creationTimestamp: 0 };
  validateDestinationRule(spec, meta, findings);
  return findings.failed ? undefined : spec;
}

const envoyBinary = envoyPath();

Deno.test({
  name: "Envoy accepts the cluster of every policy that validation lets in",
  ignore: envoyBinary === undefined,
  async fn() {
    const clusters = fc.sample(anyCase, { numRuns: 4000, seed: 1 }).flatMap(
      ({ raw, resolution, type, protocol }, i) => {
        const spec = stored(raw);
        if (spec === undefined) return [];
        const read = meshReader({
          properties: { type },
          services: [service(raw.host, { resolution, ports: [port(80, protocol)] })],
          endpoints: { [raw.host]: [endpoint("10.0.0.1", { portName: port(80, protocol).name })] },
          destinationRules: { [raw.host]: rule(raw.host, spec) },
        });
        return outboundClusters(read, raw.host).map(({ message }) => ({ ...message, name: `${i} ${message.name}` }));
      },
    );
    assert.ok(clusters.length > 400, `only ${clusters.length} policies were valid`);
    const verdict = await acceptClusters(envoyBinary!, clusters);
    assert.ok(verdict.accepted, verdict.output);
  },
});
