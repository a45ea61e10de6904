/**
 * Cost of changes behind one waypoint of 500 services and 500 workloads, with two replicas:
 * `deno bench tests/bench/waypoint_bench.ts`. Each iteration is a change, from the object to the resources.
 */
import { TYPE } from "../../lib/translate/encode/encode.ts";
import { Fixture } from "../discovery/fixture.ts";

const SERVICES = 500;
const LABELS = { "istio.io/use-waypoint": "door" };

const address = (subnet: number, i: number) => `10.${subnet}.${i >> 8}.${i & 255}`;

const gateway = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { namespace: "shop", name: "door", labels: { "istio.io/waypoint-for": "all" } },
  spec: { gatewayClassName: "istio-waypoint", listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }] },
};

function service(i: number, weight = 1): object {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { namespace: "shop", name: `s${i}`, labels: LABELS },
    spec: {
      ...{ hosts: [`s${i}.test`], addresses: [address(96, i + 1)], location: "MESH_INTERNAL", resolution: "STATIC" },
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: address(2, i + 1), weight }],
    },
  };
}

function route(i: number, timeout: number): object {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "VirtualService",
    metadata: { namespace: "shop", name: `s${i}` },
    spec: {
      hosts: [`s${i}.test`],
      http: [{ timeout: `${timeout}s`, route: [{ destination: { host: `s${i}.test` } }] }],
    },
  };
}

function workload(i: number, last = i): object {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "WorkloadEntry",
    metadata: { namespace: "shop", name: `w${i}`, labels: { ...LABELS, "networking.istio.io/tunnel": "http" } },
    spec: { address: address(1, last + 1), serviceAccount: "web" },
  };
}

const fixture = new Fixture({ settings: { PILOT_ENABLE_AMBIENT: true, PILOT_ENABLE_AMBIENT_WAYPOINTS: true } });
const all = Array.from({ length: SERVICES }, (_, i) => [service(i), workload(i)]).flat();
fixture.put(gateway, ...all);
fixture.pipeline.flush();
const replicas = ["10.0.0.1", "10.0.0.2"].map((at) =>
  fixture.join({
    ...{ namespace: "shop", address: at, name: "door-1", type: "waypoint" },
    labels: { "gateway.networking.k8s.io/gateway-name": "door" },
    metadata: { PROXY_CONFIG: { stringValue: "{}" } },
  })
);

function change(tree: object): void {
  fixture.put(tree);
  fixture.pipeline.flush();
  for (const one of replicas) for (const type of Object.values(TYPE)) one.resourceSets(type);
}

let turn = 0;
Deno.bench("the endpoints of a service change", () => change(service(7, ++turn % 2 + 1)));
Deno.bench("the route of a service changes", () => change(route(7, ++turn % 2 + 1)));
Deno.bench("a workload gets another address", () => change(workload(7, ++turn % 2 === 0 ? 7 : 600)));
