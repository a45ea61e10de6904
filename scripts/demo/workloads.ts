/**
 * Configuration of a service behind sidecars, called through a client's sidecar: all in the namespace `demo`.
 *
 * @module
 */

/** A workload of the service. */
export interface ServiceWorkload {
  /** Name of the sidecar, also the label `app`. */
  readonly name: string;
  /** Port on which the sidecar accepts requests. */
  readonly port: number;
  /** Port of the application. */
  readonly application: number;
}

/** The service `app.test` on a port of the client's sidecar, with the present endpoints. */
export function serviceFile(client: number, endpoints: readonly Pick<ServiceWorkload, "port">[]): string {
  const entries = endpoints.map(({ port }) =>
    `  - { address: 127.0.0.1, ports: { http: ${port} }, labels: { security.istio.io/tlsMode: istio } }`
  );
  return `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: app, namespace: demo }
spec:
  hosts: [app.test]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${client}, protocol: HTTP, name: http }]
  endpoints:
${entries.join("\n")}
  subjectAltNames: ["spiffe://cluster.local/ns/demo/sa/server"]
`;
}

/**
 * The Sidecar of a workload. The sidecar sees no service, because otherwise it would also listen on the client's port.
 */
export function sidecarFile({ name, port, application }: ServiceWorkload): string {
  return `
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: ${name}, namespace: demo }
spec:
  workloadSelector: { labels: { instance: ${name} } }
  egress: [{ hosts: ["~/*"] }]
  ingress:
  - port: { number: ${port}, protocol: HTTP, name: http }
    defaultEndpoint: "127.0.0.1:${application}"
    bind: 127.0.0.1
    captureMode: NONE
`;
}

/** The PeerAuthentication of the namespace, which admits or refuses plain text. */
export function peersFile(mode: "STRICT" | "PERMISSIVE"): string {
  return `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: demo }
spec: { mtls: { mode: ${mode} } }
`;
}

/** The AuthorizationPolicy: only one account of the namespace may call the workloads. */
export function callersFile(account: string): string {
  return `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: callers, namespace: demo }
spec:
  rules:
  - from: [{ source: { principals: [cluster.local/ns/demo/sa/${account}] } }]
`;
}

/** Calls of the service over short-lived connections, for continuous handshakes. */
export function shortConnectionsFile(requests: number): string {
  return `
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: app, namespace: demo }
spec:
  host: app.test
  trafficPolicy: { connectionPool: { http: { maxRequestsPerConnection: ${requests} } } }
`;
}

/** A client and the service's workload `server`: both sidecars, and the policy. */
export function pairFiles(
  { client, server, application, mode }: {
    /** Port of the client's sidecar. */
    readonly client: number;
    /** Port of the server's. */
    readonly server: number;
    readonly application: number;
    readonly mode: "STRICT" | "PERMISSIVE";
  },
): Record<string, string> {
  return {
    "service.yaml": serviceFile(client, [{ port: server }]),
    "sidecar.yaml": sidecarFile({ name: "server", port: server, application }),
    "peers.yaml": peersFile(mode),
  };
}
