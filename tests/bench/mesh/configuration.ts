/**
 * The configuration that the benchmarks serve: services with static endpoints over some namespaces, the first of them
 * routed by header and weight over two subsets. One file a namespace, as people keep them.
 *
 * @module
 */

/** How large a mesh is. */
export interface Shape {
  readonly services: number;
  /** Endpoints of each service. */
  readonly endpoints: number;
  readonly namespaces: number;
  /** Services with a VirtualService, and a DestinationRule with two subsets: the first ones. */
  readonly routed: number;
  /** Services with an AuthorizationPolicy: the first ones; absent: none. */
  readonly authorized?: number;
}

/** What an edit changed so far. */
export interface Edits {
  /** Value of the header that the rule of service 0 matches. */
  readonly canary?: string;
  /** Address of the last endpoint of the last service. */
  readonly address?: string;
  /** Address of service 0 itself. */
  readonly serviceAddress?: string;
  /** Path that the policy of service 0 admits. */
  readonly admitted?: string;
}

/** Every service has the first port, every fifth all of them. */
const PORTS = [
  { number: 80, name: "http", protocol: "HTTP" },
  { number: 9090, name: "grpc", protocol: "GRPC" },
  { number: 3306, name: "tcp", protocol: "TCP" },
] as const;

/** Names and addresses of one service. */
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

/** The file of configuration of one namespace. */
export function namespaceFile(shape: Shape, namespace: number, edits: Edits = {}): string {
  const documents: string[] = [];
  for (let index = namespace; index < shape.services; index += shape.namespaces) {
    documents.push(serviceEntry(shape, index, edits));
    if (index < (shape.authorized ?? 0)) documents.push(authorizationPolicy(shape, index, edits));
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
  return files;
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
