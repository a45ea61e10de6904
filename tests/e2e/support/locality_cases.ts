/**
 * Failover, distribution and retries by locality, with real requests: the registry knows the client's place, and the
 * agent does not report the place. The same for each kind of registry: manifests of a folder, entries, and a real API
 * server.
 */
import assert from "node:assert/strict";
import { withPorts } from "../../../scripts/ports.ts";
import { startEnvoy } from "../../../scripts/demo/envoy.ts";
import type { ServerChanges } from "../../discovery/running.ts";
import { withServer } from "../../discovery/running.ts";
import { envoyPath } from "./mesh.ts";
import { requestHost } from "./request.ts";
import { until } from "../../patience.ts";
import type { ApiServer } from "../../orch/support/server/api_server.ts";
import type { ApiJson } from "../../../lib/orch/client/answer.ts";
import type { ObjectDraft, ObjectId } from "../../orch/support/server/objects.ts";
import { apiServerTests } from "../../orch/support/server/tests.ts";

import { FAR_ADDRESS, NEAR_ADDRESS } from "./locality_addresses.ts";

const test = apiServerTests();
const binary = envoyPath();

/** The address in the client's node, unused by any program. */
const CLIENT = "10.9.1.1";

/** The place of the client and one server, and the place of the other server. */
const NEAR = { node: "near", region: "r1", zone: "z1", address: NEAR_ADDRESS } as const;
const FAR = { node: "far", region: "r2", zone: "z2", address: FAR_ADDRESS } as const;

const SERVICES = ["failover", "spread", "retry"] as const;

/** A server at a place, which fails on demand. */
class PlacedServer implements AsyncDisposable {
  failing = false;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor({ node, address }: Place) {
    this.#server = Deno.serve(
      { hostname: address, port: 0, onListen: () => {} },
      () => new Response(node, { status: this.failing ? 503 : 200 }),
    );
  }

  get port(): number {
    return this.#server.addr.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** A world of the test: namespace of the objects, and ports. */
interface World {
  readonly namespace: string;
  /** Port of the services. */
  readonly port: number;
  readonly near: number;
  readonly far: number;
}

type Place = typeof NEAR | typeof FAR;

function nodes(): ObjectDraft[] {
  return [NEAR, FAR].map(({ node, region, zone }) => ({
    ...{ apiVersion: "v1", kind: "Node" },
    metadata: { name: node, labels: { "topology.kubernetes.io/region": region, "topology.kubernetes.io/zone": zone } },
  }));
}

/** The client's pod with the status that a node would report. */
function pod({ namespace }: World): ObjectDraft {
  return {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { namespace, name: "client", labels: { app: "client" } } },
    spec: { nodeName: NEAR.node, containers: [{ name: "app", image: "none" }] },
    status: {
      phase: "Running",
      podIP: CLIENT,
      podIPs: [{ ip: CLIENT }],
      conditions: [{ type: "Ready", status: "True" }],
    },
  };
}

/** Services with a slice for each place. */
function services({ namespace, port, near, far }: World): ObjectDraft[] {
  const slice = (name: string, { node, address }: Place, target: number) => ({
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
    metadata: { namespace, name: `${name}-${node}`, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port: target, protocol: "TCP" }],
    endpoints: [{ addresses: [address], conditions: { ready: true }, nodeName: node }],
  });
  return SERVICES.flatMap((name) => [
    {
      ...{ apiVersion: "v1", kind: "Service", metadata: { namespace, name } },
      spec: { ports: [{ name: "http", port, targetPort: near }] },
    },
    slice(name, NEAR, near),
    slice(name, FAR, far),
  ]);
}

/** The same as entries. */
function entries({ namespace, port, near, far }: World): ObjectDraft[] {
  const group = "networking.istio.io/v1";
  const locality = ({ region, zone }: Place) => `${region}/${zone}`;
  return [
    {
      ...{ apiVersion: group, kind: "WorkloadEntry", metadata: { namespace, name: "client" } },
      spec: { address: CLIENT, labels: { app: "client" }, locality: locality(NEAR) },
    },
    ...SERVICES.flatMap((name) => [
      {
        ...{ apiVersion: group, kind: "ServiceEntry", metadata: { namespace, name } },
        spec: {
          hosts: [`${name}.${namespace}.svc.cluster.local`],
          ...{ location: "MESH_INTERNAL", resolution: "STATIC" },
          ports: [{ number: port, name: "http", protocol: "HTTP" }],
          workloadSelector: { labels: { app: name } },
        },
      },
      ...([[NEAR, near], [FAR, far]] as const).map(([place, target]) => ({
        ...{ apiVersion: group, kind: "WorkloadEntry", metadata: { namespace, name: `${name}-${place.node}` } },
        spec: { address: place.address, ports: { http: target }, labels: { app: name }, locality: locality(place) },
      })),
    ]),
  ];
}

/** Rules for each service. */
function rules({ namespace }: World): ObjectDraft[] {
  const of = (name: string) => `${name}.${namespace}.svc.cluster.local`;
  const rule = (name: string, consecutive5xxErrors: number, more: Record<string, unknown> = {}) => ({
    ...{ apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { namespace, name } },
    spec: {
      host: of(name),
      trafficPolicy: {
        tls: { mode: "DISABLE" },
        outlierDetection: { consecutive5xxErrors, interval: "0.2s", baseEjectionTime: "600s", maxEjectionPercent: 100 },
        loadBalancer: { localityLbSetting: { enabled: true, ...more } },
      },
    },
  });
  const attempts = { attempts: 3, retryOn: "5xx" };
  return [
    rule("failover", 2),
    rule("spread", 1000, { distribute: [{ from: "r1/z1/*", to: { "r2/z2/*": 100 } }] }),
    rule("retry", 1000),
    {
      ...{ apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata: { namespace, name: "retry" } },
      spec: {
        hosts: [of("retry")],
        http: [
          {
            match: [{ uri: { prefix: "/anywhere" } }],
            route: [{ destination: { host: of("retry") } }],
            retries: { ...attempts, retryRemoteLocalities: true },
          },
          { route: [{ destination: { host: of("retry") } }], retries: { ...attempts, retryRemoteLocalities: false } },
        ],
      },
    },
  ];
}

/** Asserts that a draft has a name. */
function named(draft: ObjectDraft): ObjectDraft & ObjectId {
  const { name } = draft.metadata;
  assert.ok(name);
  return { ...draft, metadata: { ...draft.metadata, name } };
}

const yaml = (objects: readonly ObjectDraft[]) => objects.map((one) => JSON.stringify(one)).join("\n---\n");

/** How a registry gets its objects. */
interface Registry {
  readonly name: string;
  readonly files: (world: World) => Readonly<Record<string, string>>;
  readonly options: (server: ApiServer) => ServerChanges["options"];
  /** Writes objects that are not in files. */
  readonly write: (server: ApiServer, world: World) => Promise<void>;
}

const REGISTRIES: readonly Registry[] = [
  {
    name: "manifests of a folder",
    files: (world) => ({ "a.yaml": yaml([...nodes(), pod(world), ...services(world), ...rules(world)]) }),
    options: () => ({ manifestServices: true }),
    write: () => Promise.resolve(),
  },
  {
    name: "entries",
    files: (world) => ({ "a.yaml": yaml([...entries(world), ...rules(world)]) }),
    options: () => ({}),
    write: () => Promise.resolve(),
  },
  {
    name: "an orchestrator's API",
    files: (world) => ({ "a.yaml": yaml(rules(world)) }),
    options: ({ kubeconfig }) => {
      const place = { from: "files", files: [kubeconfig], by: "test" } as const;
      return { orch: { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: true } };
    },
    write: async ({ objects }, world) => {
      for (const node of nodes()) await objects.apply(named(node));
      const { status, ...made } = pod(world);
      const id = { ...made, metadata: { namespace: world.namespace, name: "client" } };
      await objects.apply(id);
      await objects.patch(id, { status: status as ApiJson }, "status");
      for (const one of services(world)) await objects.apply(named(one));
    },
  },
];

async function withWorld(
  { server, namespace }: { readonly server: ApiServer; readonly namespace: string },
  registry: Registry,
  run: (ask: (service: string, path?: string) => Promise<string>, near: PlacedServer) => Promise<void>,
): Promise<void> {
  await using near = new PlacedServer(NEAR);
  await using far = new PlacedServer(FAR);
  await withPorts(1, async ([port = 0]) => {
    const world: World = { namespace, port, near: near.port, far: far.port };
    await registry.write(server, world);
    await withServer(registry.files(world), async ({ ports }, folder) => {
      const envoy = await startEnvoy({
        ...{ binary: binary!, folder, discoveryPort: ports.grpc },
        // The node has neither a locality nor labels.
        identity: { type: "sidecar", name: "client", namespace, address: CLIENT, labels: {} },
      });
      try {
        await envoy.ready([`127.0.0.1:${port}`]);
        const ask = async (service: string, path = "/") => {
          const answer = await requestHost(port, `${service}.${namespace}.svc.cluster.local`, path);
          return typeof answer === "string" ? answer : `${answer.status} ${answer.body}`;
        };
        await run(ask, near);
      } finally {
        await envoy.stop();
      }
    }, { options: { ...registry.options(server) }, settings: { PILOT_DEBOUNCE_AFTER: 10 } });
  });
}

for (const registry of REGISTRIES) {
  test(`with ${registry.name}: a client whose place the registry knows fails over, is distributed and retries elsewhere`, async (world) => {
    if (binary === undefined) return;
    await withWorld(world, registry, async (ask, near) => {
      const become = (what: string, expected: string, service: string, path?: string) =>
        until(what, async () => await ask(service, path) === expected);
      await become("the near server answers", "200 near", "failover");
      await become("requests are distributed to the far one", "200 far", "spread");
      await become("the near server answers retries", "200 near", "retry");
      for (let at = 0; at < 20; at++) {
        assert.equal(await ask("failover"), "200 near", "while it is healthy the near server has all requests");
        assert.equal(await ask("spread"), "200 far", "the distribution is that of the client's place");
      }
      near.failing = true;
      for (let at = 0; at < 5; at++) {
        assert.equal(await ask("retry"), "503 near", "without leave no retry goes elsewhere");
        assert.equal(await ask("retry", "/anywhere"), "200 far", "with leave a retry goes to the far server");
      }
      await become("requests fail over to the far server", "200 far", "failover");
    });
  });
}
