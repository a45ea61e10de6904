import assert from "node:assert/strict";
import fc from "fast-check";
import type { MeshNetworks } from "../../lib/config/mesh/types.ts";
import { passedHosts } from "../../lib/config/kinds/gateway/hosts.ts";
import { isKind } from "../../lib/config/types.ts";
import { covers } from "../../lib/mesh/host_match.ts";
import { contents, Fixture, type FixtureOptions, type TestNode, texts } from "./fixture.ts";
import { keyPlace, name, namespace, type Tree, tree } from "./random_trees.ts";

/** Runs of each property; `MESH_PROPERTY_RUNS=10000` is the long form. */
const RUNS = Number(Deno.env.get("MESH_PROPERTY_RUNS") ?? 100);

type Step =
  | { readonly do: "put"; readonly tree: Tree }
  | { readonly do: "remove"; readonly key: string }
  /** Gives the endpoints of all objects that are there another service account, and changes nothing else. */
  | { readonly do: "account"; readonly account: string }
  /** Other keys of a token issuer are fetched. */
  | { readonly do: "keys"; readonly place: string; readonly keys: string }
  | { readonly do: "networks"; readonly networks: MeshNetworks }
  | { readonly do: "push" }
  | { readonly do: "join"; readonly node: TestNode };

/** A proxy whose agent gives it an identity. */
const AGENT = { PROXY_CONFIG: { stringValue: "{}" } };

/** A workload that speaks xDS itself. */
const LIBRARY = { ...AGENT, GENERATOR: { stringValue: "grpc" } };

/** Networks with and without gateways, by what endpoints say and by their addresses. */
const NETWORKS: readonly MeshNetworks[] = [
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

const node: fc.Arbitrary<TestNode> = fc.record({
  namespace: fc.constantFrom("a", "b"),
  address: fc.integer({ min: 1, max: 4 }).map((i) => `172.16.0.${i}`),
  labels: fc.constantFrom({ app: "p" }, { app: "q" }, {}),
  delta: fc.boolean(),
  metadata: fc.constantFrom({}, AGENT, LIBRARY, { ...AGENT, NETWORK: { stringValue: "n2" } }, {
    ...AGENT,
    ENABLE_HBONE: { stringValue: "true" },
  }, { ...AGENT, DISABLE_HBONE_SEND: { stringValue: "true" } }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: tree.map((tree) => ({ do: "put" as const, tree })) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "ServiceEntry",
        "WorkloadEntry",
        "VirtualService",
        "DestinationRule",
        "Sidecar",
        "Gateway",
        "PeerAuthentication",
        "RequestAuthentication",
        "AuthorizationPolicy",
        "Telemetry",
        "WasmPlugin",
        "ProxyFilter",
      ),
      namespace,
      name,
    }).map(({ kind, namespace, name }) => ({ do: "remove" as const, key: `${kind}/${namespace}/${name}` })),
  },
  { weight: 1, arbitrary: fc.constantFrom("pay", "bill").map((account) => ({ do: "account" as const, account })) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("keys" as const), place: keyPlace, keys: fc.constantFrom("A", "B") }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...NETWORKS).map((networks) => ({ do: "networks" as const, networks })),
  },
  { weight: 5, arbitrary: fc.constant({ do: "push" as const }) },
  { weight: 2, arbitrary: node.map((node) => ({ do: "join" as const, node })) },
);

/** Proxies that are there from the start, so that every change meets some. */
const early: readonly TestNode[] = [
  { namespace: "a", address: "172.16.0.1", labels: { app: "p" } },
  { namespace: "a", address: "172.16.0.4", labels: { app: "p" }, metadata: AGENT },
  {
    namespace: "a",
    address: "172.16.0.3",
    labels: { app: "p" },
    metadata: { ...AGENT, ENABLE_HBONE: { stringValue: "true" } },
  },
  { namespace: "b", address: "172.16.0.2", labels: { app: "q" }, metadata: AGENT },
  { namespace: "a", address: "172.16.0.2", labels: { app: "q" }, delta: false },
  { namespace: "b", address: "172.16.0.3", labels: { app: "q" } },
  { namespace: "a", address: "172.16.0.1", labels: { app: "p" }, metadata: LIBRARY },
  { namespace: "b", address: "172.16.0.2", labels: { app: "q" }, metadata: LIBRARY, delta: false },
  { namespace: "b", address: "172.16.0.9", labels: { app: "gw" }, type: "router" },
  {
    namespace: "a",
    address: "172.16.0.8",
    labels: { app: "gw" },
    type: "router",
    metadata: { ...AGENT, NETWORK: { stringValue: "n1" } },
  },
];

/** A service of the early libraries in each namespace: their ports are there in every world. */
const SERVED = [["a", "172.16.0.1"], ["b", "172.16.0.2"]].map(([namespace, address]) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "ServiceEntry",
  metadata: { name: "served", namespace },
  spec: {
    hosts: [`served.${namespace}.com`],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports: [{ number: 80, name: "grpc", protocol: "GRPC" }],
    endpoints: [{ address }],
  },
}));

function withAccount(tree: Tree, serviceAccount: string): Tree {
  const { spec } = tree;
  if (tree.kind === "WorkloadEntry") return { ...tree, spec: { ...spec, serviceAccount } };
  if (!spec.endpoints) return tree;
  return { ...tree, spec: { ...spec, endpoints: spec.endpoints.map((endpoint) => ({ ...endpoint, serviceAccount })) } };
}

const SETTINGS: NonNullable<FixtureOptions["settings"]> = {
  PILOT_JWT_ENABLE_REMOTE_JWKS: "hybrid",
  PILOT_ENABLE_QUIC_LISTENERS: true,
};

const MESH: NonNullable<FixtureOptions["mesh"]> = {
  proxyHttpPort: 15333,
  extensionProviders: [
    { name: "prometheus", prometheus: {} },
    { name: "envoy", proxyFileAccessLog: { path: "/dev/stdout" } },
    { name: "tracer", opentelemetry: { service: "y.com", port: 443 } },
    { name: "als", proxyHttpAls: { service: "x.com", port: 80 } },
    { name: "asked", proxyExtAuthzGrpc: { service: "y.com", port: 80 } },
  ],
};

/** Plays steps; gives the fixture with what every proxy has at the end. */
function play(steps: readonly Step[], cache: boolean, settings = SETTINGS) {
  const fixture = new Fixture({ cache, settings, mesh: MESH });
  fixture.put(...SERVED);
  const joined = early.map((node) => ({ node, state: fixture.join(node) }));
  const trees = new Map<string, Tree>();
  let networks: MeshNetworks = { networks: {} };
  const put = (tree: Tree) => {
    const { kind, metadata: { namespace, name } } = tree;
    if (fixture.offer(tree)) trees.set(`${kind}/${namespace}/${name}`, tree);
  };
  for (const s of steps) {
    if (s.do === "put") put(s.tree);
    else if (s.do === "account") { for (const tree of trees.values()) put(withAccount(tree, s.account)); }
    else if (s.do === "remove") {
      fixture.remove(s.key);
      trees.delete(s.key);
    } else if (s.do === "keys") {
      fixture.tokenKeys.set(s.place, s.keys);
      fixture.pipeline.tokenKeysChanged(s.place);
    } else if (s.do === "networks") fixture.pipeline.meshChanged(fixture.pipeline.mesh, networks = s.networks);
    else if (s.do === "push") fixture.pipeline.flush();
    else joined.push({ node: s.node, state: fixture.join(s.node) });
  }
  fixture.pipeline.flush();
  assert.deepEqual(fixture.failures, []);
  return { fixture, joined, networks };
}

/** Compares every proxy after some steps with one that joins what they left. */
function compareWithFresh(steps: readonly Step[], settings: typeof SETTINGS): void {
  const { fixture, joined, networks } = play(steps, true, settings);
  const fresh = new Fixture({ cache: true, settings, mesh: MESH, networks });
  for (const [place, keys] of fixture.tokenKeys) fresh.tokenKeys.set(place, keys);
  fresh.pipeline.configChanged([], [...fixture.objects.values()]);
  fresh.pipeline.flush();
  for (const { node, state } of joined) assert.deepEqual(contents(state), contents(fresh.join(node)));
}

const manySteps = fc.array(step, { minLength: 15, maxLength: 60, size: "max" });

Deno.test("changes one by one leave every proxy with the resources of a fresh start", () => {
  fc.assert(fc.property(manySteps, (steps) => compareWithFresh(steps, SETTINGS)), { numRuns: RUNS });
});

Deno.test("so they do where gateways get the clusters that they need alone, those of token issuers among them", () => {
  const settings = { ...SETTINGS, PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: true };
  fc.assert(fc.property(manySteps, (steps) => compareWithFresh(steps, settings)), { numRuns: Math.ceil(RUNS / 4) });
});

Deno.test("so they do where proxies take and make connections by HBONE", () => {
  const settings = { ...SETTINGS, PILOT_ENABLE_SIDECAR_LISTENING_HBONE: true, PILOT_ENABLE_SENDING_HBONE: true };
  fc.assert(
    fc.property(manySteps, fc.boolean(), (steps, PILOT_PREFER_SENDING_HBONE) => {
      compareWithFresh(steps, { ...settings, PILOT_PREFER_SENDING_HBONE });
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  );
});

Deno.test("every route configuration that a listener names is there", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 30, size: "max" }), (steps) => {
      const { joined } = play(steps, true);
      for (const { state } of joined) {
        const all = texts(state);
        const listeners = Object.entries(all).filter(([name]) => name.startsWith("listener/"));
        for (const [, text] of listeners) {
          for (const [, name] of text.matchAll(/"route_config_name":"([^"]+)"/g)) {
            assert.ok(`route/${name}` in all, `${name}`);
          }
        }
      }
    }),
    { numRuns: Math.ceil(RUNS / 10) },
  );
});

Deno.test("every proxy gets the same with caches as without", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 15, maxLength: 60, size: "max" }), (steps) => {
      const cached = play(steps, true).joined.map(({ state }) => contents(state));
      const plain = play(steps, false).joined.map(({ state }) => contents(state));
      assert.deepEqual(cached, plain);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("a proxy never sees a host that exportTo or its Sidecar hides", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 15, maxLength: 60, size: "max" }), (steps) => {
      const { fixture, joined } = play(steps, true);
      const visible = (namespace: string) =>
        new Set([...fixture.objects.values()].flatMap((object) => {
          if (object.kind !== "ServiceEntry") return [];
          const { exportTo = ["*"], hosts } = object.spec;
          const own = object.meta.namespace === namespace;
          return exportTo.includes("*") || exportTo.includes(namespace) || (exportTo.includes(".") && own) ? hosts : [];
        }));
      for (const { node, state } of joined) {
        const seen = visible(node.namespace);
        for (const name of Object.keys(contents(state))) {
          const host = /^cluster\/outbound\|\d+\|[^|]*\|(.+)$/.exec(name)?.[1];
          if (host) assert.ok(seen.has(host), `${node.namespace} sees ${name}`);
        }
      }
    }),
    { numRuns: RUNS },
  );
});

Deno.test("a gateway passes connections on by name to hosts of its servers alone, and to mutual TLS in its own network", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 15, maxLength: 60, size: "max" }), (steps) => {
      const { fixture, joined } = play(steps, true);
      const passed = [...fixture.objects.values()].flatMap((object) =>
        isKind(object, "Gateway") ? passedHosts(object) : []
      );
      for (const { node, state } of joined) {
        for (const [name, text] of Object.entries(texts(state))) {
          const host = /^(?:cluster|assignment)\/outbound_\.\d+_\.[^.]*_\.(.+)$/.exec(name)?.[1];
          if (host === undefined) continue;
          assert.equal(node.type, "router");
          assert.ok(passed.some((one) => covers(one.host, host)), name);
          assert.ok(!/transport_socket|1\.2\.3\./.test(text), text);
        }
      }
    }),
    { numRuns: RUNS },
  );
});
