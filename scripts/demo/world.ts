/**
 * The demo's configuration: a service in two versions behind a gateway, in files as a user would write them.
 *
 * @module
 */

/** Addresses and ports of the demo. */
export interface DemoWorld {
  readonly gatewayPort: number;
  /** The addresses of the sidecars, and the application behind each. */
  readonly sidecars: readonly {
    readonly version: string;
    readonly address: string;
    readonly port: number;
    readonly appPort: number;
  }[];
}

/** The shares of requests, in percent by version; a bad number is the demo's bad edit. */
export type Weights = Readonly<Record<string, number | string>>;

/** `service.yaml`: the service with its workloads, and the inbound settings of their sidecars. */
export function serviceFile({ sidecars }: DemoWorld): string {
  const entry = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: hello, namespace: demo }
spec:
  hosts: [hello.demo.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports:
  - { number: 80, name: http, protocol: HTTP }
  endpoints:
${
    sidecars.map((s) =>
      `  - { address: ${s.address}, ports: { http: ${s.port} }, labels: { app: hello, version: ${s.version} } }`
    ).join("\n")
  }
---
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: hello, namespace: demo }
spec:
  host: hello.demo.svc.cluster.local
  subsets:
${sidecars.map((s) => `  - { name: ${s.version}, labels: { version: ${s.version} } }`).join("\n")}
`;
  const ingress = sidecars.map((s) =>
    `apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: hello-${s.version}, namespace: demo }
spec:
  workloadSelector: { labels: { app: hello, version: ${s.version} } }
  ingress:
  - port: { number: ${s.port}, name: http, protocol: HTTP }
    bind: ${s.address}
    defaultEndpoint: 127.0.0.1:${s.appPort}
  egress:
  - hosts: ["./*"]
`
  );
  return [entry, ...ingress].join("---\n");
}

/** `gateway.yaml`: the way in. */
export function gatewayFile({ gatewayPort }: DemoWorld): string {
  return `apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers:
  - port: { number: ${gatewayPort}, name: http, protocol: HTTP }
    hosts: ["*"]
`;
}

/** `routes.yaml`: the rule that the demo edits. */
export function routesFile(weights: Weights): string {
  const route = Object.entries(weights).map(([version, weight]) =>
    `    - { destination: { host: hello.demo.svc.cluster.local, subset: ${version} }, weight: ${weight} }`
  );
  return `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: hello, namespace: demo }
spec:
  hosts: ["*"]
  gateways: [door]
  http:
  - route:
${route.join("\n")}
`;
}
