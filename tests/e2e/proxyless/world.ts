/**
 * A mesh with a service for applications with gRPC, and the bootstrap with which they find the server.
 *
 * Permissions: write (a temporary folder).
 *
 * @module
 */

/** Host of the service. */
export const HOST = "echo.shop.svc.cluster.local";
/** The target that clients dial. */
export const TARGET = "xds:///echo:7070";

/** Where the versions of the service are. */
export interface Versions {
  readonly v1: number;
  readonly v2: number;
}

/** The service: each version on a port of this machine, as a subset. */
export function echoService({ v1, v2 }: Versions, policy = "{ loadBalancer: { simple: ROUND_ROBIN } }"): string {
  return `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: echo, namespace: shop }
spec:
  hosts: [${HOST}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 7070, name: grpc, protocol: GRPC }]
  endpoints:
    - { address: 127.0.0.1, ports: { grpc: ${v1} }, labels: { app: echo, version: v1 }, serviceAccount: echo }
    - { address: 127.0.0.1, ports: { grpc: ${v2} }, labels: { app: echo, version: v2 }, serviceAccount: echo }
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: echo, namespace: shop }
spec:
  host: ${HOST}
  trafficPolicy: ${policy}
  subsets:
    - { name: v1, labels: { version: v1 } }
    - { name: v2, labels: { version: v2 } }
`;
}

/** Rules: a subset by header, an abort, a timeout, and shares of the versions for all else. */
export function echoRules(shares: Readonly<Record<"v1" | "v2", number>>): string {
  return `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: echo, namespace: shop }
spec:
  hosts: [${HOST}]
  http:
    - match: [{ headers: { user: { exact: tester } } }]
      route: [{ destination: { host: ${HOST}, subset: v2 } }]
    - match: [{ headers: { user: { exact: unlucky } } }]
      fault: { abort: { grpcStatus: DATA_LOSS, percentage: { value: 100 } } }
      route: [{ destination: { host: ${HOST} } }]
    - match: [{ headers: { user: { exact: answered } } }]
      directResponse: { status: 403 }
    - match: [{ uri: { exact: /test.Echo/Wait } }]
      timeout: 0.5s
      route: [{ destination: { host: ${HOST} } }]
    - route:
        - { destination: { host: ${HOST}, subset: v1 }, weight: ${shares.v1} }
        - { destination: { host: ${HOST}, subset: v2 }, weight: ${shares.v2} }
`;
}

/** Files of a workload's certificate. */
export interface WorkloadFiles {
  readonly chain: string;
  readonly key: string;
  readonly roots: string;
}

/** Writes a bootstrap like the agent's, except for the server's address. Returns the path. */
export async function writeBootstrap(
  folder: string,
  server: string,
  { name = "client", files, labels = {} }: {
    readonly name?: string;
    readonly files?: WorkloadFiles;
    readonly labels?: Readonly<Record<string, string>>;
  } = {},
): Promise<string> {
  const path = `${folder}/${name}.json`;
  const watcher = files && {
    plugin_name: "file_watcher",
    config: { certificate_file: files.chain, private_key_file: files.key, ca_certificate_file: files.roots },
  };
  const bootstrap = {
    xds_servers: [{ server_uri: server, channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] }],
    node: {
      id: `sidecar~127.0.0.1~${name}.shop~shop.svc.cluster.local`,
      metadata: { GENERATOR: "grpc", NAMESPACE: "shop", LABELS: labels },
      locality: {},
    },
    ...(watcher && { certificate_providers: { default: watcher } }),
    server_listener_resource_name_template: "xds.istio.io/grpc/lds/inbound/%s",
  };
  await Deno.writeTextFile(path, JSON.stringify(bootstrap));
  return path;
}
