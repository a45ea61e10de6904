/**
 * Random changes of a mesh with proxies, step by step.
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { MeshConfig, MeshNetworks } from "../../lib/config/mesh/types.ts";
import { Fixture, type FixtureOptions, type TestNode } from "./fixture.ts";
import { far, FarCluster, type FarState, meshChange, NETWORKS, nodeSettings } from "./random_transport.ts";
import { asksForWaypoint, keyPlace, name, namespace, type Tree, tree } from "./random_trees.ts";

/** A change. */
export type Step =
  | { readonly do: "put"; readonly tree: Tree }
  | { readonly do: "remove"; readonly key: string }
  /** Gives the endpoints of all present objects another service account, and changes nothing else. */
  | { readonly do: "account"; readonly account: string }
  /** Other keys of a token issuer are fetched. */
  | { readonly do: "keys"; readonly place: string; readonly keys: string }
  | { readonly do: "networks"; readonly networks: MeshNetworks }
  | { readonly do: "mesh"; readonly changed: Partial<MeshConfig> }
  | { readonly do: "far"; readonly state: FarState }
  /** Labels of namespace `a`. */
  /** Namespace `a` has other labels, and its waypoint another address. */
  | { readonly do: "labels"; readonly labels: Readonly<Record<string, string>> }
  | { readonly do: "push" }
  | { readonly do: "join"; readonly node: TestNode };

/** A proxy with an identity from its agent. */
const AGENT = { PROXY_CONFIG: { stringValue: "{}" } };

/** A workload that speaks xDS without a proxy. */
const LIBRARY = { ...AGENT, GENERATOR: { stringValue: "grpc" } };

const node: fc.Arbitrary<TestNode> = fc.record({
  namespace: fc.constantFrom("a", "b"),
  address: fc.integer({ min: 1, max: 4 }).map((i) => `172.16.0.${i}`),
  labels: fc.constantFrom({ app: "p" }, { app: "q" }, {}),
  delta: fc.boolean(),
  metadata: fc.constantFrom(
    {},
    AGENT,
    LIBRARY,
    { ...AGENT, NETWORK: { stringValue: "n2" } },
    {
      ...AGENT,
      ENABLE_HBONE: { stringValue: "true" },
    },
    { ...AGENT, DISABLE_HBONE_SEND: { stringValue: "true" } },
    ...nodeSettings,
  ),
});
/** Labels as read. */
function ownSpelling(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [name.replace("istio.io", "mesh.io"), value]),
  );
}

/** Any change. */
export const step: fc.Arbitrary<Step> = fc.oneof(
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
        "ApiGateway",
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
  { weight: 1, arbitrary: meshChange.map((changed) => ({ do: "mesh" as const, changed })) },
  { weight: 1, arbitrary: far.map((state) => ({ do: "far" as const, state })) },
  { weight: 1, arbitrary: asksForWaypoint.map((labels) => ({ do: "labels" as const, labels: ownSpelling(labels) })) },
  { weight: 5, arbitrary: fc.constant({ do: "push" as const }) },
  { weight: 2, arbitrary: node.map((node) => ({ do: "join" as const, node })) },
);

/** Proxies from the start on, so that every change meets some. */
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
  { namespace: "b", address: "172.16.0.9", labels: { app: "gw" }, type: "router", metadata: nodeSettings[0]! },
  ...["a", "b"].map((namespace): TestNode => ({
    ...{ namespace, address: "172.16.0.20", type: "waypoint", metadata: AGENT },
    labels: { "gateway.networking.k8s.io/gateway-name": "one", app: "gw" },
  })),
  { namespace: "a", address: "172.16.0.2", labels: { app: "q" }, metadata: nodeSettings[1]! },
];

const served = (name: string, namespace: string, ports: readonly object[], addresses: readonly string[]) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "ServiceEntry",
  metadata: { name, namespace },
  spec: {
    hosts: [`${name}.${namespace}.com`],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports,
    endpoints: addresses.map((address) => ({ address, labels: { "networking.mesh.io/tunnel": "http" } })),
  },
});

/**
 * Services of every world: services of the early libraries, on the libraries' ports; services whose ports carry bytes,
 * for rules about bytes; the service of the waypoints; services of the gateways, needed for HTTP/3.
 */
const SERVED = [
  served("served", "a", [{ number: 80, name: "grpc", protocol: "GRPC" }], ["172.16.0.1"]),
  served("served", "b", [{ number: 80, name: "grpc", protocol: "GRPC" }], ["172.16.0.2"]),
  served("bytes", "a", [
    { number: 9000, name: "tcp", protocol: "TCP" },
    { number: 6379, name: "redis", protocol: "REDIS" },
    { number: 27017, name: "mongo", protocol: "MONGO" },
  ], ["172.16.0.4", "172.16.0.5"]),
  served("door", "a", [{ number: 15008, name: "hbone", protocol: "TCP" }], ["172.16.0.20"]),
  served("edge", "a", [{ number: 443, name: "quic", protocol: "UDP" }], ["172.16.0.8", "172.16.0.9"]),
];

/** The address of the waypoint while its namespace has these labels. */
function addressBeside(labels: Readonly<Record<string, string>>): Fixture["waypointAddresses"] {
  const waypoint = labels["mesh.io/use-waypoint"];
  if (waypoint === undefined) return new Map();
  return new Map([["a/one", waypoint === "none" ? { ip: "10.9.0.1" } : { hostname: "door.a.com" }]]);
}

function withAccount(tree: Tree, serviceAccount: string): Tree {
  const { spec } = tree;
  if (tree.kind === "WorkloadEntry") return { ...tree, spec: { ...spec, serviceAccount } };
  if (!spec.endpoints) return tree;
  return { ...tree, spec: { ...spec, endpoints: spec.endpoints.map((endpoint) => ({ ...endpoint, serviceAccount })) } };
}

/** Of the server. */
export const SETTINGS: NonNullable<FixtureOptions["settings"]> = {
  PILOT_JWT_ENABLE_REMOTE_JWKS: "hybrid",
  PILOT_ENABLE_QUIC_LISTENERS: true,
  PILOT_ENABLE_AMBIENT_WAYPOINTS: true,
  ENABLE_INGRESS_WAYPOINT_ROUTING: true,
  ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: true,
};

/** At the start. */
const MESH: NonNullable<FixtureOptions["mesh"]> = {
  proxyHttpPort: 15333,
  extensionProviders: [
    { name: "prometheus", prometheus: {} },
    { name: "envoy", proxyFileAccessLog: { path: "/dev/stdout" } },
    { name: "tracer", opentelemetry: { service: "served.b.com", port: 80 } },
    { name: "als", proxyHttpAls: { service: "x.com", port: 80 } },
    { name: "asked", proxyExtAuthzGrpc: { service: "served.a.com", port: 80 } },
  ],
};

/** Rollouts in a played world. */
interface PlayedRollouts {
  readonly staged: NonNullable<FixtureOptions["staged"]>;
  /** Called before each push. */
  readonly beforePush: (fixture: Fixture) => void;
}

/**
 * Plays steps.
 *
 * @param pushed After each push, also after the last.
 * @param rollouts Default: every proxy has every object at once.
 * @returns the fixture, and each proxy's resources at the end
 */
export function play(
  steps: readonly Step[],
  cache: boolean,
  settings = SETTINGS,
  pushed: (fixture: Fixture) => void = () => {},
  rollouts?: PlayedRollouts,
) {
  const fixture = new Fixture({ cache, settings, mesh: MESH, staged: rollouts?.staged });
  let cluster: FarCluster | undefined;
  const farStates = new Map<string, FarState>();
  const firstMesh = fixture.pipeline.mesh;
  fixture.put(...SERVED);
  fixture.setWaypointAddresses(new Map([["a/one", { hostname: "door.a.com" }]]));
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
    else if (s.do === "mesh") fixture.pipeline.meshChanged({ ...firstMesh, ...s.changed }, networks);
    else if (s.do === "far") {
      (cluster ??= new FarCluster(fixture)).set(s.state);
      farStates.set(s.state.host, s.state);
    } else if (s.do === "labels") {
      fixture.setNamespaces(new Map([["a", s.labels]]));
      fixture.setWaypointAddresses(addressBeside(s.labels));
    } else if (s.do === "push") {
      rollouts?.beforePush(fixture);
      fixture.pipeline.flush();
      pushed(fixture);
    } else joined.push({ node: s.node, state: fixture.join(s.node) });
  }
  fixture.pipeline.flush();
  pushed(fixture);
  assert.deepEqual(fixture.failures, []);
  return { fixture, joined, networks, farStates };
}

/** Enough changes for many encounters. */
export const manySteps: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 15, maxLength: 60, size: "max" });
