/**
 * Random objects of many parts, some of which reach no proxy: rules and matches for ports, gateways and clients,
 * delegates, ports of traffic policies, servers of Gateways.
 *
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

/** Steps that put such objects. */
export const partSteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: virtualService },
    { weight: 1, arbitrary: delegate },
    { weight: 1, arbitrary: destinationRule },
    { weight: 1, arbitrary: gateway },
  ).map((tree): Step => ({ do: "put", tree })),
  { minLength: 1, maxLength: 8 },
);
