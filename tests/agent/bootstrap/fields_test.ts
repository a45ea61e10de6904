/** Each field of a proxy's settings with an effect on the bootstrap. */
import assert from "node:assert/strict";
import { bootstrap } from "../../../lib/agent/bootstrap/bootstrap.ts";
import { bootstrapOfCase, inputOfCase } from "./cases.ts";

const addresses = ["10.0.0.1"];

function text(proxy: unknown): string {
  return JSON.stringify(bootstrapOfCase({ addresses, proxy }).config);
}

const fields: readonly (readonly [unknown, RegExp])[] = [
  [{ serviceCluster: "mine" }, /"cluster":"mine","locality"/],
  [{ tracingServiceName: "CANONICAL_NAME_ONLY" }, /"cluster":"mesh-proxy","locality"/],
  [{ zipkinAddress: "z:1" }, /"name":"zipkin".*"address":"z","port_value":1/],
  [{ tracing: { zipkin: { address: "z:2" } } }, /"collector_cluster":"zipkin"/],
  [{ tracing: { datadog: { address: "d:1" } } }, /"collector_cluster":"datadog_agent"/],
  [
    { tracing: { zipkin: { address: "z:2" }, tlsSettings: { mode: "SIMPLE", sni: "tracer" } } },
    /"name":"zipkin".*"sni":"tracer"/,
  ],
  [{ statsdUdpAddress: "s:8125" }, /envoy\.stat_sinks\.statsd.*"address":"s","port_value":8125/],
  [{ envoyMetricsServiceAddress: "m:1" }, /"name":"envoy_metrics_service".*"address":"m","port_value":1/],
  [{ envoyMetricsService: { address: "m:2" } }, /"name":"envoy_metrics_service".*"address":"m","port_value":2/],
  [{ envoyAccessLogService: { address: "l:1" } }, /"name":"envoy_accesslog_service".*"address":"l","port_value":1/],
  [
    { proxyAccessLogService: { address: "l:1", tcpKeepalive: { time: "7s" } } },
    /"name":"envoy_accesslog_service".*"keepalive_time":7/,
  ],
  [{ proxyAdminPort: 15999 }, /"admin":\{[^}]*"socket_address":\{[^}]*"port_value":15999/],
  [{ statusPort: 15998 }, /"name":"agent".*"port_value":15998/],
  [{ runtimeValues: { "a.b": "7", "c.d": "true" } }, /"a\.b":"7","c\.d":true/],
  [{ extraStatTags: ["team"] }, /"tag_name":"team"/],
  [{ proxyStatsMatcher: { inclusionPrefixes: ["p."] } }, /\{"prefix":"p\."\}/],
  [{ proxyStatsMatcher: { inclusionSuffixes: [".s"] } }, /\{"suffix":"\.s"\}/],
  [{ proxyStatsMatcher: { inclusionRegexps: ["r.*"] } }, /\{"safe_regex":\{"regex":"r\.\*"\}\}/],
  [{ meshId: "m1" }, /"MESH_ID":"m1"/],
  [{ interceptionMode: "TPROXY" }, /"INTERCEPTION_MODE":"TPROXY"/],
  [{ gatewayTopology: { numTrustedProxies: 2 } }, /"PROXY_CONFIG":\{.*"numTrustedProxies":2/],
];

for (const [proxy, expected] of fields) {
  Deno.test(`${JSON.stringify(proxy)} is in the bootstrap`, () => {
    assert.doesNotMatch(text({}), expected);
    assert.match(text(proxy), expected);
  });
}

Deno.test("fields that are for others change nothing but the node's report of its settings", () => {
  const without = (proxy: unknown) => {
    const { node, ...config } = bootstrapOfCase({ addresses, proxy }).config as { node: unknown };
    assert.match(JSON.stringify(node), /PROXY_CONFIG/);
    return config;
  };
  const others = {
    ...{ image: { imageType: "debug" }, availabilityZone: "a", holdApplicationUntilProxyStarts: true },
    ...{ sds: { enabled: true }, statNameLength: 200, terminationDrainDuration: "7s" },
  };
  assert.deepEqual(without(others), without({}));
});

Deno.test("a provider of private keys, and tracers that Envoy has no more, are warned of by name", () => {
  const named = (proxy: unknown) =>
    bootstrapOfCase({ addresses, proxy }).problems.map(({ field, value }) => `${field}: ${value}`);
  assert.deepEqual(named({ privateKeyProvider: { cryptomb: { pollDelay: "10ms" } } }), [
    "privateKeyProvider: cryptomb",
  ]);
  assert.deepEqual(named({ privateKeyProvider: { qat: { pollDelay: "10ms" } } }), ["privateKeyProvider: qat"]);
  assert.deepEqual(named({ tracing: { lightstep: { address: "l:1", accessToken: "t" } } }), [
    "tracing.lightstep: lightstep",
  ]);
  assert.deepEqual(named({ tracing: { openCensusAgent: { address: "l:1" } } }), [
    "tracing.openCensusAgent: openCensusAgent",
  ]);
});

Deno.test("METRICS_LOCALHOST_ACCESS_ONLY has Envoy's metrics on the loopback addresses, of both families where both are served", () => {
  const settings = { METRICS_LOCALHOST_ACCESS_ONLY: true };
  const listening = (addresses: string[]) => {
    const config = bootstrapOfCase({ addresses, dualStack: true, settings }).config;
    const { listeners } = config.static_resources as { listeners: { name: string }[] };
    const found = JSON.stringify(listeners[0]).matchAll(/"address":"([^"]+)","port_value":15090/g);
    return [...[...found].map(([, address]) => address), listeners[1]!.name];
  };
  assert.deepEqual(listening(["10.0.0.1"]), ["127.0.0.1", "0.0.0.0_15021"]);
  assert.deepEqual(listening(["fd00::1", "10.0.0.1"]), ["::1", "127.0.0.1", "::_15021"]);
});

Deno.test("under COMPLIANCE_POLICY every collector is called with algorithms that FIPS 140-2 allows", () => {
  const tlsSettings = { mode: "SIMPLE" };
  const proxy = {
    ...{ tracing: { zipkin: { address: "z:2" }, tlsSettings }, envoyMetricsService: { address: "m:1", tlsSettings } },
    envoyAccessLogService: { address: "l:1", tlsSettings: { mode: "ISTIO_MUTUAL" } },
  };
  const count = (fips: boolean, what: RegExp) =>
    [...JSON.stringify(bootstrap({ ...inputOfCase({ addresses, proxy }), fips }).config).matchAll(what)].length;
  const limits = /"tls_params":\{[^}]*"tls_maximum_protocol_version":"TLSv1_2"[^}]*"ecdh_curves":\["P-256"\]/g;
  assert.deepEqual([count(true, /UpstreamTlsContext/g), count(true, limits), count(false, /tls_params/g)], [3, 3, 0]);
});
