/**
 * The Gateway of the Gateway API for benchmarks: HTTPRoutes over some hosts, and the proxies that serve the Gateway.
 *
 * @module
 */
import type { Edits, Shape } from "./configuration.ts";
import { service } from "./configuration.ts";

/** The routes at the Gateway. */
export interface GatewayShape {
  readonly routes: number;
  /** Hostnames that share the routes: route i belongs to host i modulo their number. */
  readonly hosts: number;
  /** Proxies of the Gateway. */
  readonly proxies: number;
}

/** Name and namespace of the Gateway. */
export const GATEWAY = { name: "edge", namespace: "ingress" } as const;

/** Routes in a file. */
const FILE = 100;

/** Routes that a grant opens, and routes that the label of a namespace admits. */
export const ADMITTED = 100;

/** The granted service, which receives requests of {@linkcode ADMITTED} routes of another namespace. */
const VAULT = { name: "vault", namespace: "bank", host: "vault.bank.svc.cluster.local" } as const;

/** The namespace that its label admits. */
const TENANT = "tenant";

/** Text in the resources of proxies while the grant is there. */
export const GRANTED_MARKER = `outbound|80||${VAULT.host}`;

/** Text in the resources of proxies while the label is there. */
export const LABELLED_MARKER = `last.${TENANT}.example`;

/** Address of a proxy of the Gateway. */
export function doorAddress(index: number): string {
  return `172.48.${index >> 8}.${index & 255}`;
}

/** All files of the Gateway by name; none if the shape has no Gateway. */
export function gatewayFiles(shape: Shape): Map<string, string> {
  const files = new Map<string, string>();
  const { gateway } = shape;
  if (gateway === undefined) return files;
  const doors = Array.from({ length: gateway.proxies }, (_, index) => door(index));
  files.set("gateway.yaml", [yaml(gatewayObject()), ...doors].join("---\n"));
  files.set("admitted.yaml", admittedRoutes());
  files.set("grant.yaml", grantFile(false));
  files.set("tenant.yaml", tenantFile(false));
  for (let first = 0; first < gateway.routes; first += FILE) {
    files.set(`routes-${first / FILE}.yaml`, routesFile(shape, first / FILE));
  }
  return files;
}

/** A file of routes. */
export function routesFile(shape: Shape, file: number, edits: Edits = {}): string {
  const { routes = 0 } = shape.gateway ?? {};
  const documents: string[] = [];
  for (let index = file * FILE; index < Math.min(routes, (file + 1) * FILE); index++) {
    documents.push(yaml(routeObject(shape, index, edits)));
  }
  return documents.join("---\n");
}

/** The granted service, and the routes that a grant and a label admit. */
function admittedRoutes(): string {
  const hosts = Array.from({ length: ADMITTED }, (_, index) => index === 0 ? "last" : `host-${index}`);
  const route = (name: string, namespace: string, spec: object) => ({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name, namespace },
    spec: { parentRefs: [GATEWAY], ...spec },
  });
  const vault = {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: VAULT.name, namespace: VAULT.namespace },
    spec: {
      ...{ hosts: [VAULT.host], location: "MESH_INTERNAL", resolution: "STATIC" },
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: "172.49.0.1" }],
    },
  };
  const backend = (namespace?: string) => ({
    rules: [{ backendRefs: [{ name: VAULT.name, port: 80, ...namespace && { namespace } }] }],
  });
  return [
    vault,
    ...hosts.map((host) =>
      route(`granted-${host}`, "ns-0", { hostnames: [`${host}.granted.example`], ...backend(VAULT.namespace) })
    ),
    ...hosts.map((host) =>
      route(`labelled-${host}`, TENANT, { hostnames: [`${host}.${TENANT}.example`], ...backend() })
    ),
  ].map(yaml).join("---\n");
}

/** The file of the grant. Without the grant the file is empty. */
export function grantFile(granted: boolean): string {
  if (!granted) return "";
  return yaml({
    apiVersion: "gateway.networking.k8s.io/v1beta1",
    kind: "ReferenceGrant",
    metadata: { name: "shop", namespace: VAULT.namespace },
    spec: {
      from: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "ns-0" }],
      to: [{ group: "", kind: "Service" }],
    },
  });
}

/** The file of the namespace that its label admits. */
export function tenantFile(labelled: boolean): string {
  const metadata = { name: TENANT, labels: labelled ? { team: "shops" } : {} };
  return yaml({ apiVersion: "v1", kind: "Namespace", metadata });
}

/** The Gateway. */
export function gatewayObject() {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: GATEWAY,
    spec: {
      gatewayClassName: "mesh",
      listeners: [
        { name: "http", port: 80, protocol: "HTTP", allowedRoutes: { namespaces: { from: "All" } } },
        {
          ...{ name: "tenants", port: 80, protocol: "HTTP", hostname: `*.${TENANT}.example` },
          allowedRoutes: { namespaces: { from: "Selector", selector: { matchLabels: { team: "shops" } } } },
        },
      ],
    },
  };
}

/** A route of the Gateway: its own path and a header at its host, to a service of its own namespace. */
export function routeObject(shape: Shape, index: number, { routed }: Pick<Edits, "routed"> = {}) {
  const { name, namespace } = service(shape, index % shape.services);
  const host = index % (shape.gateway?.hosts ?? 1);
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: `route-${index}`, namespace },
    spec: {
      parentRefs: [GATEWAY],
      hostnames: [`host-${host}.example.com`],
      rules: [{
        matches: [{
          path: { type: "PathPrefix", value: `/route-${index}` },
          headers: [{ name: "x-canary", value: index === 0 ? routed ?? "true" : "true" }],
        }, { path: { type: "PathPrefix", value: `/route-${index}` } }],
        backendRefs: [{ name, port: 80 }],
      }],
    },
  };
}

/** A workload that serves the Gateway. */
function door(index: number): string {
  return yaml({
    apiVersion: "networking.mesh.io/v1",
    kind: "WorkloadEntry",
    metadata: { name: `door-${index}`, namespace: GATEWAY.namespace },
    spec: { address: doorAddress(index), labels: doorLabels() },
  });
}

/** Labels of the proxies of the Gateway. */
export function doorLabels(): Record<string, string> {
  return { "gateway.networking.k8s.io/gateway-name": GATEWAY.name };
}

/** JSON is YAML. */
function yaml(object: object): string {
  return `${JSON.stringify(object)}\n`;
}
