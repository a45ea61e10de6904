/**
 * Versions of objects for random worlds of several clusters.
 *
 * @module
 */
import { objectsOf, type WorldObject } from "../support/world.ts";
import { gateway, network, pod, service } from "./world.ts";

/** The clusters of random worlds, the own cluster first. */
export const CLUSTERS = ["Kubernetes", "north", "west"] as const;

const namespace = (labels: string) => `
apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: ${labels} }
`;

const workloadEntry = (spec: string) => `
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: vm, namespace: shop }
spec: ${spec}
`;

const entry = (endpoints: string) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: db, namespace: shop }
spec:
  hosts: [db.example]
  addresses: [240.0.0.1]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: ${endpoints}
`;

const ADDRESSES = ["192.0.2.1", "192.0.2.2"];
const at = (ip: string) => `[{ type: IPAddress, value: ${ip} }]`;

const TEXTS = [
  ...["east", "west", "north"].map(network),
  "apiVersion: v1\nkind: Namespace\nmetadata: { name: mesh-system }\n",
  namespace("{}"),
  namespace("{ istio.io/global: 'true' }"),
  ...["a", "b"].flatMap((name, i) => [
    service(name, `10.96.0.${i}`),
    service(name, `10.97.0.${i}`, "{}"),
    service(name, `10.97.0.${i}`).replace("port: 80", "port: 81"),
  ]),
  ...["a", "b"].flatMap((app, i) => [pod("p1", app, `10.1.0.${i}`), pod("p2", app, "10.1.0.9", i === 0)]),
  workloadEntry("{ address: 10.1.0.7, labels: { app: a }, weight: 3 }"),
  workloadEntry("{ address: 10.1.0.7, labels: { app: b }, network: west, serviceAccount: vm }"),
  entry("[{ address: 10.1.0.5, network: west }, { address: 10.1.0.6 }]"),
  entry("[{ address: 10.1.0.5, network: north }]"),
  ...ADDRESSES.flatMap((ip) => [
    gateway("g", { to: "west", spec: at(ip) }),
    gateway("g", { to: "north", of: "istio-east-west", status: at(ip) }),
    gateway("h", { to: "west", of: "doors", spec: at(ip), status: at("192.0.2.3") }),
  ]),
  gateway("g", { to: "east", spec: "[{ type: Hostname, value: lb.example }]" }),
  ...["istio.io/unmanaged-gateway", "istio.io/eastwest-controller"].map((controller) => `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: doors }
spec: { controllerName: ${controller} }
`),
];

/** Versions of objects, several of each key. */
export const VARIANTS: readonly WorldObject[] = objectsOf(TEXTS.join("\n---\n"));

const BEGIN: readonly (readonly [cluster: string, text: string])[] = [
  ["Kubernetes", [network("east"), service("a", "10.96.0.0"), pod("p1", "a", "10.1.0.0")].join("---")],
  ["Kubernetes", gateway("g", { to: "west", spec: at("192.0.2.1") })],
  ["west", [network("west"), service("a", "10.96.0.0"), pod("p1", "a", "10.1.0.0")].join("---")],
  ["north", [network("north"), service("a", "10.96.0.0"), pod("p2", "a", "10.1.0.9")].join("---")],
  ["north", gateway("g", { to: "north", of: "istio-east-west", status: at("192.0.2.2") })],
];
/** The begin of each world: each cluster in its network, with workloads of a global service. */
export const FIRST = BEGIN.flatMap(([cluster, text]) => objectsOf(text).map((object) => ({ cluster, object })));
