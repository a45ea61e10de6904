/**
 * Worlds of several clusters for tests of the resources of node tunnels.
 *
 * @module
 */
import { AddressSet } from "../../../lib/ambient/address_set.ts";
import { AmbientClusters } from "../../../lib/ambient/networks/clusters.ts";
import type { AmbientSettings } from "../../../lib/ambient/parts.ts";
import { unpaced } from "../../../lib/kernel/time/paced.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import type { EncodedResource } from "../../../lib/resource/encoded.ts";
import { ResourceTable } from "../../../lib/resource/set.ts";
import { tunnelAddresses } from "../../../lib/simulate/tunnel/addresses.ts";
import { type TunnelRoute, tunnelRoute } from "../../../lib/simulate/tunnel/outbound.ts";
import type { istio } from "../../../proto/gen/types.ts";
import { objectsOf, readableAddress, SETTINGS, type WorldObject } from "../support/world.ts";

/** Settings with the scope by the label `mesh.io/global` of services and namespaces. */
export const NETWORK_SETTINGS: AmbientSettings = {
  ...SETTINGS,
  isGlobal: ({ labels, namespaceLabels = {} }) =>
    labels["mesh.io/global"] === "true" || namespaceLabels["mesh.io/global"] === "true",
};

/** The clusters with their set. */
export class NetworkWorld {
  readonly clusters: AmbientClusters;
  readonly #set: AddressSet;

  constructor(settings: Partial<AmbientSettings> = {}) {
    this.clusters = new AmbientClusters({ ...NETWORK_SETTINGS, ...settings });
    this.#set = new AddressSet(this.clusters, new ResourceTable());
  }

  /** Puts the objects of a text into a cluster. */
  write(text: string, cluster?: string): this {
    return this.put(objectsOf(text), cluster);
  }

  put(objects: readonly WorldObject[], cluster?: string): this {
    for (const object of objects) this.clusters.put(object, cluster);
    return this;
  }

  /** The resources after all changes. */
  resources(): readonly EncodedResource[] {
    unpaced(this.#set.settle());
    return [...this.#set.set].sort((a, b) => a.name < b.name ? -1 : 1);
  }

  names(): string[] {
    return this.resources().map(({ name }) => name);
  }

  /** The readable resources by name. */
  readable(): Record<string, unknown> {
    return Object.fromEntries(this.resources().map((one) => [one.name, readableAddress(one)]));
  }

  messages(): istio.workload.Address[] {
    return this.resources().map(({ value }) => decode<istio.workload.Address>("istio.workload.Address", value));
  }

  /** The way of a connection, as a tunnel goes. @param client the name of a workload */
  route(client: string, ip: string, port: number): TunnelRoute {
    const addresses = tunnelAddresses(this.messages());
    const workload = addresses.workload(client);
    if (workload === undefined) throw new Error(`no workload ${client}`);
    return tunnelRoute(workload, { ip, port }, addresses);
  }
}

/** A namespace of the system with a network. */
export const network = (name: string) => `
apiVersion: v1
kind: Namespace
metadata: { name: mesh-system, labels: { topology.istio.io/network: ${name} } }
`;

/** A captured pod of namespace `shop`, with the account of its label `app`. */
export const pod = (name: string, app: string, ip: string, isReady = true) => `
apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: shop
  labels: { app: ${app} }
  annotations: { ambient.istio.io/redirection: enabled }
spec: { nodeName: n1, serviceAccountName: ${app}, containers: [] }
status: { phase: Running, podIP: ${ip}, conditions: [{ type: Ready, status: "${isReady ? "True" : "False"}" }] }
`;

/** A Service of namespace `shop` for the pods with its name as label `app`. */
export const service = (name: string, ip: string, labels = "{ istio.io/global: 'true' }") => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop, labels: ${labels} }
spec: { clusterIP: ${ip}, selector: { app: ${name} }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
`;

/** A Gateway with the label of a network and a listener for HBONE. */
export const gateway = (
  name: string,
  {
    to,
    of = "istio-remote",
    spec = "[]",
    status = "[]",
    port = 15008,
    protocol = "HBONE",
    annotations = "{}",
    namespace = "mesh-system",
    created = "2026-01-01T00:00:00Z",
  }: {
    readonly to: string;
    readonly namespace?: string;
    readonly created?: string;
    readonly of?: string;
    readonly spec?: string;
    readonly status?: string;
    readonly port?: number;
    readonly protocol?: string;
    readonly annotations?: string;
  },
) => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: ${name}
  namespace: ${namespace}
  creationTimestamp: "${created}"
  labels: { topology.istio.io/network: ${to} }
  annotations: ${annotations}
spec:
  gatewayClassName: ${of}
  addresses: ${spec}
  listeners: [{ name: mesh, port: ${port}, protocol: ${protocol} }]
status: { addresses: ${status} }
`;
