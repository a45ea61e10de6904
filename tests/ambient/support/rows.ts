/**
 * Tests by rows: objects, and the fields that they give a resource.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { AmbientSettings } from "../../../lib/ambient/parts.ts";
import { objectsOf, TunnelWorld } from "./world.ts";

/** Fields of a resource, of its service or workload too. */
type Fields = Readonly<Record<string, unknown>>;

/** A rule, with the objects and the expected fields. */
export interface Row {
  readonly title: string;
  readonly objects: readonly string[];
  readonly settings?: Partial<AmbientSettings>;
  /** Name of the resource. Default: the pod's. */
  readonly at?: string;
  /** Expected fields. Undefined: the field is absent. */
  readonly fields: Fields;
  /** Names that no resource has. */
  readonly absent?: readonly string[];
}

const POD = "Kubernetes//Pod/shop/cart";
/** Name of the Service. */
export const SERVICE = "shop/cart.shop.svc.cluster.local";
/** Name of the WorkloadEntry. */
export const ENTRY = "Kubernetes/networking.istio.io/WorkloadEntry/shop/vm";
/** Name of the host of the ServiceEntry. */
export const HOST = "shop/api.example.com";
/** Begin of the names of the slice's endpoints. */
export const SLICE = "Kubernetes/discovery.k8s.io/EndpointSlice/shop/manual-1";
/** Name of an endpoint that the ServiceEntry lists. */
export const endpoint = (address: string) => `Kubernetes/networking.istio.io/ServiceEntry/shop/api/${address}`;

/** The pod `cart`. */
export const pod = (meta = "", spec = "", status = "podIP: 10.1.0.1") => `
apiVersion: v1
kind: Pod
metadata: { name: cart, namespace: shop, ${meta} }
spec: { nodeName: n1, containers: [{ name: app, ports: [{ name: web, containerPort: 8081 }] }], ${spec} }
status: { phase: Running, conditions: [{ type: Ready, status: "True" }], ${status} }`;
/** The Service `cart`. */
export const service = (spec = "", meta = "") => `
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop, ${meta} }
spec: { clusterIP: 10.96.0.1, ports: [{ name: http, port: 80, targetPort: web }], ${spec} }`;
/** A slice of the Service. */
export const slice = (endpoints: string, more = "addressType: IPv4, ports: [{ name: http, port: 8080 }]") => `
{ apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, ${more}, endpoints: [${endpoints}],
  metadata: { name: manual-1, namespace: shop, labels: { kubernetes.io/service-name: cart } } }`;
/** The ServiceEntry `api`. */
export const entry = (spec: string, meta = "", port = "{ number: 80, name: http, protocol: HTTP }") => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: api, namespace: shop, ${meta} }
spec: { hosts: [api.example.com], ports: [${port}], ${spec} }`;
/** The WorkloadEntry `vm`. */
export const vm = (spec = "", meta = "labels: { app: vm }") => `
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: vm, namespace: shop, ${meta} }
spec: { address: 10.3.0.1, ${spec} }`;
/** A namespace. */
export const namespace = (name: string, meta: string) => `
{ apiVersion: v1, kind: Namespace, metadata: { name: ${name}, ${meta} } }`;
/** The pod's node. */
export const node = (labels: string) => `
{ apiVersion: v1, kind: Node, metadata: { name: n1, labels: { ${labels} } } }`;
/** A Gateway with an address, for all namespaces. */
export const gateway = (labels = "istio.io/waypoint-for: all", name = "gate", of = "shop") => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: ${of}, labels: { ${labels} } }
spec:
  gatewayClassName: istio-waypoint
  listeners: [{ name: mesh, port: 15008, protocol: HBONE, allowedRoutes: { namespaces: { from: All } } }]
status: { addresses: [{ type: IPAddress, value: 10.96.9.9 }] }`;

/** The cluster has a network. */
export const EAST = namespace("mesh-system", "labels: { topology.istio.io/network: east }");
/** Metadata that asks for the Gateway. */
export const USE = "labels: { istio.io/use-waypoint: gate }";
/** The Gateway, as tunnels get it. */
export const WAYPOINT = { address: { address: "10.96.9.9" }, hbone_mtls_port: 15008 };
/** Metadata that opts out. */
export const NONE = "labels: { app: vm, istio.io/use-waypoint: none }";

/** Registers a test for each row. */
export function testRows(rows: readonly Row[]): void {
  for (const { title, objects, settings = {}, at = POD, fields, absent = [] } of rows) {
    Deno.test(title, () => {
      const found = new TunnelWorld(settings).put(...objects.flatMap((text) => objectsOf(text))).readable();
      for (const name of absent) assert.ok(!Object.hasOwn(found, name), name);
      const { workload, service, ...around } = found[at] as Readonly<Record<string, Fields>>;
      const all: Fields = { ...around, ...workload, ...service };
      assert.ok(workload !== undefined || service !== undefined, `${at} is not among ${Object.keys(found)}`);
      assert.deepEqual(Object.fromEntries(Object.keys(fields).map((name) => [name, all[name]])), fields);
    });
  }
}
