import assert from "node:assert/strict";
import fc from "fast-check";
import { contents, Fixture, type TestNode, texts } from "./fixture.ts";

/** Runs of each property; `MESH_PROPERTY_RUNS=10000` is the long form. */
const RUNS = Number(Deno.env.get("MESH_PROPERTY_RUNS") ?? 100);

const namespaces = ["a", "b", "mesh-system"] as const;
const hosts = ["x.com", "y.com", "z.y.com", "svc.a.svc.cluster.local", "svc.b.svc.cluster.local"] as const;
const patterns = [...hosts, "*.y.com", "*.com"] as const;
const protocols = ["HTTP", "TCP", "TLS", "GRPC", ""] as const;
const exports = [undefined, ["*"], ["."], ["a"], ["b"]] as const;

const namespace = fc.constantFrom(...namespaces);
const host = fc.constantFrom(...hosts);
const pattern = fc.constantFrom(...patterns);
const exportTo = fc.constantFrom(...exports);
const name = fc.constantFrom("one", "two");

const meta = (kind: string, version = "networking.mesh.io/v1") =>
  fc.record({ namespace, name }).map(({ namespace, name }) => ({
    apiVersion: version,
    kind,
    metadata: { namespace, name: `${name}`, creationTimestamp: name === "one" ? "2024-01-01T00:00:00Z" : undefined },
  }));

const subset = fc.constantFrom("v1", "v2");

const account = fc.constantFrom(undefined, "pay", "bill");

const serviceEntry = fc.record({
  object: meta("ServiceEntry"),
  host,
  exportTo,
  ports: fc.uniqueArray(fc.constantFrom(80, 443, 9090), { minLength: 1, maxLength: 2 }),
  protocol: fc.constantFrom(...protocols),
  address: fc.constantFrom(undefined, "10.9.0.1", "10.9.0.2"),
  resolution: fc.constantFrom("STATIC", "DNS", "NONE"),
  endpoints: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
  account,
  selects: fc.boolean(),
}).map(({ object, host, exportTo, ports, protocol, address, resolution, endpoints, account, selects }) => ({
  ...object,
  spec: {
    hosts: [host],
    ...(exportTo ? { exportTo } : {}),
    ports: ports.map((number) => ({ number, name: `p${number}`, ...(protocol ? { protocol } : {}) })),
    ...(address ? { addresses: [address] } : {}),
    location: "MESH_INTERNAL",
    resolution,
    ...(resolution === "STATIC" && selects ? { workloadSelector: { labels: { app: "selected" } } } : {}),
    ...(resolution === "STATIC" && !selects
      ? {
        endpoints: endpoints.map((i) => ({
          address: `172.16.0.${i}`,
          labels: { version: `v${1 + i % 2}` },
          ...(account ? { serviceAccount: account } : {}),
        })),
      }
      : {}),
  },
}));

const workloadEntry = fc.record({
  object: meta("WorkloadEntry"),
  address: fc.integer({ min: 1, max: 4 }),
  account,
}).map(({ object, address, account }) => ({
  ...object,
  spec: {
    address: `172.16.0.${address}`,
    labels: { app: "selected" },
    ...(account ? { serviceAccount: account } : {}),
  },
}));

const virtualService = fc.record({
  object: meta("VirtualService"),
  hosts: fc.uniqueArray(pattern, { minLength: 1, maxLength: 2 }),
  exportTo,
  to: host,
  subset: fc.option(subset, { nil: undefined }),
  header: fc.constantFrom("x", "y"),
  source: fc.option(fc.constantFrom({ app: "p" }, { app: "q" }), { nil: undefined }),
  gateways: fc.constantFrom(undefined, ["mesh"], ["a/one"], ["b/one", "mesh"], ["one", "two"]),
  kind: fc.constantFrom("http", "http", "http", "tcp"),
}).map(({ object, hosts, exportTo, to, subset, header, source, gateways, kind }) => ({
  ...object,
  spec: {
    hosts,
    ...(gateways ? { gateways } : {}),
    ...(exportTo ? { exportTo } : {}),
    ...(kind === "tcp" ? { tcp: [{ route: [{ destination: { host: to, ...(subset ? { subset } : {}) } }] }] } : {
      http: [
        {
          match: [{ headers: { h: { exact: header } }, ...(source ? { sourceLabels: source } : {}) }],
          route: [{ destination: { host: to, ...(subset ? { subset } : {}) } }],
        },
        { route: [{ destination: { host: to } }] },
      ],
    }),
  },
}));

const destinationRule = fc.record({
  object: meta("DestinationRule"),
  host: pattern,
  exportTo,
  subsets: fc.uniqueArray(subset, { maxLength: 2 }),
  hash: fc.boolean(),
  tls: fc.constantFrom(undefined, { mode: "SIMPLE" }, { mode: "SIMPLE", subjectAltNames: [] }),
  selector: fc.option(fc.constantFrom({ app: "p" }, { app: "q" }), { nil: undefined }),
}).map(({ object, host, exportTo, subsets, hash, tls, selector }) => ({
  ...object,
  spec: {
    host,
    ...(exportTo && !selector ? { exportTo } : {}),
    subsets: subsets.map((version) => ({ name: version, labels: { version } })),
    trafficPolicy: {
      ...(hash ? { loadBalancer: { consistentHash: { httpHeaderName: "h" } } } : {}),
      ...(tls ? { tls } : {}),
    },
    ...(selector ? { workloadSelector: { matchLabels: selector } } : {}),
  },
}));

const sidecar = fc.record({
  object: meta("Sidecar"),
  imports: fc.uniqueArray(fc.constantFrom("*/*", "./*", "a/*", "b/y.com", "*/*.com", "~/*"), {
    minLength: 1,
    maxLength: 2,
  }),
  selector: fc.option(fc.constantFrom({ app: "p" }), { nil: undefined }),
  only: fc.boolean(),
}).map(({ object, imports, selector, only }) => ({
  ...object,
  spec: {
    egress: [{ hosts: imports }],
    // The root namespace allows no selector.
    ...(selector && object.metadata.namespace !== "mesh-system" ? { workloadSelector: { labels: selector } } : {}),
    ...(only ? { outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } } : {}),
  },
}));

const gateway = fc.record({ object: meta("Gateway"), hosts: fc.uniqueArray(pattern, { minLength: 1, maxLength: 2 }) })
  .map(({ object, hosts }) => ({
    ...object,
    spec: { selector: { app: "gw" }, servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts }] },
  }));

interface Account {
  readonly serviceAccount?: string;
}
interface Tree {
  readonly kind: string;
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: Account & { readonly endpoints?: readonly Account[] };
}
type Step =
  | { readonly do: "put"; readonly tree: Tree }
  | { readonly do: "remove"; readonly key: string }
  /** Gives the endpoints of all objects that are there another service account, and changes nothing else. */
  | { readonly do: "account"; readonly account: string }
  | { readonly do: "push" }
  | { readonly do: "join"; readonly node: TestNode };

const trees = [serviceEntry, serviceEntry, workloadEntry, virtualService, destinationRule, sidecar, gateway] as const;
const tree = fc.oneof(...trees) as fc.Arbitrary<Tree>;
const node: fc.Arbitrary<TestNode> = fc.record({
  namespace: fc.constantFrom("a", "b"),
  address: fc.integer({ min: 1, max: 4 }).map((i) => `172.16.0.${i}`),
  labels: fc.constantFrom({ app: "p" }, { app: "q" }, {}),
  delta: fc.boolean(),
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
      ),
      namespace,
      name,
    }).map(({ kind, namespace, name }) => ({ do: "remove" as const, key: `${kind}/${namespace}/${name}` })),
  },
  { weight: 1, arbitrary: fc.constantFrom("pay", "bill").map((account) => ({ do: "account" as const, account })) },
  { weight: 5, arbitrary: fc.constant({ do: "push" as const }) },
  { weight: 2, arbitrary: node.map((node) => ({ do: "join" as const, node })) },
);

/** Proxies that are there from the start, so that every change meets some. */
const early: readonly TestNode[] = [
  { namespace: "a", address: "172.16.0.1", labels: { app: "p" } },
  { namespace: "a", address: "172.16.0.2", labels: { app: "q" }, delta: false },
  { namespace: "b", address: "172.16.0.3", labels: { app: "q" } },
  { namespace: "b", address: "172.16.0.9", labels: { app: "gw" }, type: "router" },
];

function withAccount(tree: Tree, serviceAccount: string): Tree {
  const { spec } = tree;
  if (tree.kind === "WorkloadEntry") return { ...tree, spec: { ...spec, serviceAccount } };
  if (!spec.endpoints) return tree;
  return { ...tree, spec: { ...spec, endpoints: spec.endpoints.map((endpoint) => ({ ...endpoint, serviceAccount })) } };
}

/** Plays steps; gives the fixture with what every proxy has at the end. */
function play(steps: readonly Step[], cache: boolean) {
  const fixture = new Fixture({ cache, mesh: { proxyHttpPort: 15333 } });
  const joined = early.map((node) => ({ node, state: fixture.join(node) }));
  const trees = new Map<string, Tree>();
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
    } else if (s.do === "push") fixture.pipeline.flush();
    else joined.push({ node: s.node, state: fixture.join(s.node) });
  }
  fixture.pipeline.flush();
  assert.deepEqual(fixture.failures, []);
  return { fixture, joined };
}

Deno.test("changes one by one leave every proxy with what a fresh start gives it", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 15, maxLength: 60, size: "max" }), (steps) => {
      const { fixture, joined } = play(steps, true);
      const fresh = new Fixture({ cache: true, mesh: { proxyHttpPort: 15333 } });
      fresh.pipeline.configChanged([], [...fixture.objects.values()]);
      fresh.pipeline.flush();
      for (const { node, state } of joined) assert.deepEqual(contents(state), contents(fresh.join(node)));
    }),
    { numRuns: RUNS },
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
