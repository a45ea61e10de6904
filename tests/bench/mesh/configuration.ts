/**
 * The configuration for benchmarks: services with static endpoints in several namespaces. The first services are routed
 * by header and weight to two subsets. One file per namespace, as people usually organize files.
 *
 * @module
 */

import { gatewayFiles, type GatewayShape } from "./gateway_routes.ts";

/** How large a mesh is. */
export interface Shape {
  readonly services: number;
  /** Endpoints of each service. */
  readonly endpoints: number;
  readonly namespaces: number;
  /**
   * Number of services with a VirtualService, and a DestinationRule with two subsets, starting with the first service.
   */
  readonly routed: number;
  /** Number of services with an AuthorizationPolicy, starting with the first service. Absent: none. */
  readonly authorized?: number;
  /** Whether the whole mesh has metrics, access logs, spans and patches, and service 0 a separate Telemetry. */
  readonly extended?: boolean;
  /** A Gateway of the Gateway API with routes, in a namespace of its own (see `./gateway_routes.ts`). Absent: none. */
  readonly gateway?: GatewayShape;
}

/** The edits so far. */
export interface Edits {
  /** Header value in the match of service 0's rule. */
  readonly canary?: string;
  /** Address of the last endpoint of the last service. */
  readonly address?: string;
  /** Address of service 0. */
  readonly serviceAddress?: string;
  /** Path that the policy of service 0 admits. */
  readonly admitted?: string;
  /** Path of the logged requests of service 0. */
  readonly logged?: string;
  /** Header value in the match of the Gateway's first route. */
  readonly routed?: string;
}

/** Every service has the first port, and every fifth service has all ports. */
const PORTS = [
  { number: 80, name: "http", protocol: "HTTP" },
  { number: 9090, name: "grpc", protocol: "GRPC" },
  { number: 3306, name: "tcp", protocol: "TCP" },
] as const;

/** Names and addresses of a service. */
export function service(shape: Shape, index: number) {
  const namespace = `ns-${index % shape.namespaces}`;
  const low = `${index >> 8 & 255}.${index & 255}`;
  return {
    name: `svc-${index}`,
    namespace,
    host: `svc-${index}.${namespace}.svc.cluster.local`,
    address: `10.${1 + (index >> 16)}.${low}`,
    ports: index % 5 === 0 ? PORTS : PORTS.slice(0, 1),
    /** Address of an endpoint. */
    endpoint: (number: number) => `172.${16 + number % 16}.${low}`,
    file: `${namespace}.yaml`,
  };
}

/** The configuration file of a namespace. */
export function namespaceFile(shape: Shape, namespace: number, edits: Edits = {}): string {
  const documents: string[] = [];
  for (let index = namespace; index < shape.services; index += shape.namespaces) {
    documents.push(serviceEntry(shape, index, edits));
    if (index < (shape.authorized ?? 0)) documents.push(authorizationPolicy(shape, index, edits));
    if (index === 0 && shape.extended) documents.push(ownTelemetry(shape, edits));
    if (index < shape.routed) documents.push(destinationRule(shape, index), virtualService(shape, index, edits));
  }
  return documents.join("---\n");
}

/** All files by name. */
export function configuration(shape: Shape): Map<string, string> {
  const files = new Map<string, string>();
  for (let namespace = 0; namespace < shape.namespaces; namespace++) {
    files.set(`ns-${namespace}.yaml`, namespaceFile(shape, namespace));
  }
  if (shape.extended) files.set("root.yaml", EXTENSIONS);
  for (const [name, text] of gatewayFiles(shape)) files.set(name, text);
  return files;
}

/** The mesh configuration for `extended`: a collector of spans, which is the last service. */
export function extendedMesh(shape: Shape): string {
  const { host } = service(shape, shape.services - 1);
  return JSON.stringify({ extensionProviders: [{ name: "spans", zipkin: { service: host, port: 80 } }] });
}

function patch(name: string, configPatch: object): string {
  return `${head("ProxyFilter", name, "mesh-system")}  configPatches: ${JSON.stringify([configPatch])}\n`;
}

/** Telemetry and patches of the whole mesh. One of the patches is for routes. */
const EXTENSIONS = [
  `${head("Telemetry", "mesh", "mesh-system", "telemetry")}  metrics: [{providers: [{name: prometheus}]}]
  accessLogging: [{providers: [{name: envoy}]}]
  tracing: [{providers: [{name: spans}], randomSamplingPercentage: 10}]
`,
  patch("routes", {
    applyTo: "HTTP_ROUTE",
    match: { context: "SIDECAR_OUTBOUND" },
    patch: { operation: "MERGE", value: { response_headers_to_add: [{ header: { key: "x-mesh", value: "yes" } }] } },
  }),
  patch("clusters", {
    applyTo: "CLUSTER",
    match: { context: "SIDECAR_OUTBOUND" },
    patch: { operation: "MERGE", value: { per_connection_buffer_limit_bytes: 65536 } },
  }),
  patch("buffer", {
    applyTo: "HTTP_FILTER",
    match: {
      context: "SIDECAR_INBOUND",
      listener: {
        filterChain: {
          filter: {
            name: "envoy.filters.network.http_connection_manager",
            subFilter: { name: "envoy.filters.http.router" },
          },
        },
      },
    },
    patch: {
      operation: "INSERT_BEFORE",
      value: {
        name: "envoy.filters.http.buffer",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer",
          max_request_bytes: 1048576,
        },
      },
    },
  }),
].join("---\n");

function ownTelemetry(shape: Shape, edits: Edits): string {
  const { name, namespace } = service(shape, 0);
  const path = edits.logged ?? "/api";
  return `${head("Telemetry", name, namespace, "telemetry")}  selector: {matchLabels: {app: ${name}}}
  accessLogging: [{providers: [{name: envoy}], filter: {expression: "request.url_path == '${path}'"}}]
`;
}

function head(kind: string, name: string, namespace: string, group = "networking"): string {
  return `apiVersion: ${group}.mesh.io/v1
kind: ${kind}
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
`;
}

function serviceEntry(shape: Shape, index: number, edits: Edits): string {
  const { name, namespace, host, address, ports, endpoint } = service(shape, index);
  const own = index === 0 ? edits.serviceAddress ?? address : address;
  const last = index === shape.services - 1 ? shape.endpoints - 1 : -1;
  const endpoints = Array.from({ length: shape.endpoints }, (_, i) => {
    const at = i === last ? edits.address ?? endpoint(i) : endpoint(i);
    return `  - address: ${at}
    labels: {app: ${name}, version: v${1 + i % 2}}
    serviceAccount: default
`;
  });
  return `${head("ServiceEntry", name, namespace)}  hosts: [${host}]
  addresses: ["${own}"]
  location: MESH_INTERNAL
  resolution: STATIC
  ports:
${ports.map((p) => `  - {number: ${p.number}, name: ${p.name}, protocol: ${p.protocol}}\n`).join("")}  endpoints:
${endpoints.join("")}`;
}

function authorizationPolicy(shape: Shape, index: number, edits: Edits): string {
  const { name, namespace } = service(shape, index);
  const path = index === 0 ? edits.admitted ?? "/api" : "/api";
  return `${head("AuthorizationPolicy", name, namespace, "security")}  selector: {matchLabels: {app: ${name}}}
  rules:
  - from:
    - source: {principals: [cluster.local/ns/${namespace}/sa/default], namespaces: [${namespace}]}
    to:
    - operation: {methods: [GET, POST], paths: ["${path}", "${path}/*"]}
  - from:
    - source: {namespaces: [monitoring]}
    to:
    - operation: {paths: [/metrics]}
`;
}

function destinationRule(shape: Shape, index: number): string {
  const { name, namespace, host } = service(shape, index);
  return `${head("DestinationRule", name, namespace)}  host: ${host}
  subsets:
  - {name: v1, labels: {version: v1}}
  - {name: v2, labels: {version: v2}}
`;
}

function virtualService(shape: Shape, index: number, edits: Edits): string {
  const { name, namespace, host } = service(shape, index);
  const canary = index === 0 ? edits.canary ?? "true" : "true";
  return `${head("VirtualService", name, namespace)}  hosts: [${host}]
  http:
  - match:
    - headers: {x-canary: {exact: "${canary}"}}
    route:
    - destination: {host: ${host}, subset: v2}
  - route:
    - destination: {host: ${host}, subset: v1}
      weight: 90
    - destination: {host: ${host}, subset: v2}
      weight: 10
    timeout: 5s
    retries: {attempts: 3, perTryTimeout: 2s}
`;
}
