/**
 * Random objects of many parts, of which some reach no proxy: rules and matches for ports, gateways and clients, delegates,
 * ports of traffic policies, servers of Gateways, hosts and ports of ServiceEntries, imports of Sidecars, entries of
 * Telemetries.
 * @module
 */
import fc from "fast-check";
import type { Step } from "../discovery/random_steps.ts";
import { name, namespace, type Tree } from "../discovery/random_trees.ts";

const host = fc.constantFrom("x.com", "served.a.com", "served.b.com", "bytes.a.com", "front.test", "*.y.com");
const port = fc.constantFrom(80, 443, 9000, 6379, 7);

function object(kind: string, spec: fc.Arbitrary<object>): fc.Arbitrary<Tree> {
  return fc.record({ namespace, name, spec }).map(({ spec, ...metadata }) =>
    ({
      apiVersion: "networking.mesh.io/v1",
      kind,
      metadata,
      spec,
    }) as Tree
  );
}

const route = host.map((to) => [{ destination: { host: to } }]);
const conditions = fc.record({
  port,
  gateways: fc.constantFrom(["mesh"], ["a/one"], ["b/two", "mesh"]),
  sourceLabels: fc.constantFrom({ app: "p" }, { app: "none" }),
}, { requiredKeys: [] });
const httpMatch = fc.tuple(conditions, fc.constantFrom({}, { uri: { prefix: "/a" } }, { uri: { prefix: "/a/b" } }))
  .map(([some, more]) => ({ ...some, ...more }));
const httpRule = fc.oneof(
  { weight: 3, arbitrary: fc.record({ match: fc.array(httpMatch, { maxLength: 3 }), route }) },
  {
    weight: 1,
    arbitrary: fc.record({ match: fc.array(httpMatch, { maxLength: 1 }), delegate: fc.record({ name, namespace }) }),
  },
);
const tcpMatch = fc.tuple(conditions, fc.constantFrom({}, { destinationSubnets: ["10.9.0.0/16"] }))
  .map(([some, more]) => ({ ...some, ...more }));
const rules = fc.oneof(
  fc.record({ http: fc.array(httpRule, { minLength: 1, maxLength: 4 }) }),
  fc.record({
    tcp: fc.array(fc.record({ match: fc.array(tcpMatch, { maxLength: 2 }), route }), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    tls: fc.array(
      fc.record({
        match: fc.array(fc.tuple(conditions, host).map(([some, sni]) => ({ ...some, sniHosts: [sni] })), {
          minLength: 1,
          maxLength: 2,
        }),
        route,
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
);
const virtualService = object(
  "VirtualService",
  fc.record({
    hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 2 }),
    gateways: fc.constantFrom(["mesh"], ["a/one"], ["a/one", "mesh"], ["b/two"]),
    rules,
  }).map(({ rules, ...spec }) => ({ ...spec, ...rules })),
);
const delegate = object(
  "VirtualService",
  fc.record({
    http: fc.array(fc.record({ match: fc.array(httpMatch, { maxLength: 1 }), route }), { minLength: 1, maxLength: 3 }),
  }),
);

const loads = fc.constantFrom({ simple: "RANDOM" }, { simple: "ROUND_ROBIN" });
const policy = fc.uniqueArray(port, { minLength: 1, maxLength: 2 }).chain((ports) =>
  loads.map((loadBalancer) => ({
    outlierDetection: { consecutive5xxErrors: 3 },
    portLevelSettings: ports.map((number) => ({ port: { number }, loadBalancer })),
  }))
);
const destinationRule = object(
  "DestinationRule",
  fc.record({ host, trafficPolicy: policy, ofSubset: policy }).map(({ ofSubset, ...spec }) => ({
    ...spec,
    subsets: [{ name: "v1", labels: { version: "v1" }, trafficPolicy: ofSubset }],
  })),
);

const server = fc.record({ number: port, protocol: fc.constantFrom("HTTP", "TCP", "HTTPS", "TLS"), host }).map((
  { number, protocol, host },
) => ({
  port: { number, protocol, name: `${protocol.toLowerCase()}-${number}` },
  hosts: [host],
  ...(protocol === "HTTPS" || protocol === "TLS" ? { tls: { mode: "PASSTHROUGH" } } : {}),
}));
const gateway = object(
  "Gateway",
  fc.array(server, { minLength: 1, maxLength: 3 }).map((servers) => ({ selector: { app: "gw" }, servers })),
);

const entry = object(
  "ServiceEntry",
  fc.record({
    hosts: fc.uniqueArray(host.filter((one) => !one.startsWith("*")), { minLength: 1, maxLength: 3 }),
    ports: fc.uniqueArray(port, { minLength: 1, maxLength: 2 }),
    protocol: fc.constantFrom("HTTP", "TCP", "UDP"),
    exportTo: fc.constantFrom({}, { exportTo: ["."] }, { exportTo: ["b"] }),
    found: fc.constantFrom(
      { resolution: "DNS" },
      { resolution: "STATIC", endpoints: [{ address: "172.16.0.7" }] },
      { resolution: "STATIC" },
    ),
  }).map(({ hosts, ports, protocol, exportTo, found }) => ({
    ...{ hosts, location: "MESH_EXTERNAL", ...exportTo, ...found },
    ports: ports.map((number) => ({ number, name: `${protocol.toLowerCase()}-${number}`, protocol })),
  })),
);

const imported = fc.constantFrom("./*", "a/*", "b/*", "*/x.com", "a/served.a.com", "*/served.b.com", "*/bytes.a.com");
const egress = fc.record({
  number: fc.option(port),
  protocol: fc.constantFrom("HTTP", "TCP"),
  hosts: fc.uniqueArray(imported, { minLength: 1, maxLength: 3 }),
})
  .map(({ number, protocol, hosts }) => ({
    ...(number === null ? {} : { port: { number, protocol, name: `${protocol.toLowerCase()}-${number}` } }),
    hosts,
  }));
const sidecar = object(
  "Sidecar",
  fc.record({
    egress: fc.uniqueArray(egress, { minLength: 1, maxLength: 4, selector: ({ port }) => port?.number })
      // The import for all other ports comes last.
      .map((all) => all.toSorted((a, b) => Number(a.port === undefined) - Number(b.port === undefined))),
    workloadSelector: fc.constantFrom({ labels: { app: "p" } }, { labels: { app: "q" } }),
  }, { requiredKeys: ["egress"] }),
);

const mode = fc.constantFrom("CLIENT_AND_SERVER", "CLIENT", "SERVER");
const metric = fc.constantFrom("ALL_METRICS", "REQUEST_COUNT", "TCP_SENT_BYTES", "GRPC_REQUEST_MESSAGES");
const tags = fc.constantFrom({ added: { value: "'x'" } }, { reporter: { operation: "REMOVE" } }, {
  none: { operation: "REMOVE" },
});
const override = fc.record({
  match: fc.record({ mode, metric }),
  disabled: fc.boolean(),
  tagOverrides: tags,
}, { requiredKeys: ["match"] });
const providers = (...names: string[]) =>
  fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }).map((all) => all.map((name) => ({ name })));
const filter = fc.constantFrom({ expression: "response.code > 400" }, { expression: "response.code > 500" });
const telemetry = object(
  "Telemetry",
  fc.record({
    selector: fc.constantFrom({ matchLabels: { app: "p" } }, { matchLabels: { app: "q" } }, {
      matchLabels: { app: "gw" },
    }),
    metrics: fc.array(
      fc.record({ providers: providers("prometheus", "gone"), overrides: fc.array(override, { maxLength: 3 }) }),
      { minLength: 1, maxLength: 2 },
    ),
    accessLogging: fc.array(
      fc.record({ match: fc.record({ mode }), providers: providers("envoy", "als"), disabled: fc.boolean(), filter }, {
        requiredKeys: ["providers"],
      }),
      { minLength: 1, maxLength: 2 },
    ),
    tracing: fc.array(
      fc.record({
        match: fc.record({ mode }),
        providers: providers("tracer").filter((all) => all.length < 2),
        randomSamplingPercentage: fc.constantFrom(1, 50),
        disableSpanReporting: fc.boolean(),
      }, { requiredKeys: ["providers"] }),
      { minLength: 1, maxLength: 2 },
    ),
  }, { requiredKeys: [] }),
).map((tree) => ({ ...tree, apiVersion: "telemetry.mesh.io/v1" }) as Tree);

/** Steps with such objects. */
export const partSteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: virtualService },
    { weight: 1, arbitrary: delegate },
    { weight: 1, arbitrary: destinationRule },
    { weight: 1, arbitrary: gateway },
    { weight: 2, arbitrary: entry },
    { weight: 2, arbitrary: sidecar },
    { weight: 3, arbitrary: telemetry },
  ).map((tree): Step => ({ do: "put", tree })),
  { minLength: 1, maxLength: 12 },
);
