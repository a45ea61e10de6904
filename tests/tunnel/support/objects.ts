/**
 * Pods and services at the orchestrator's API, without a kubelet and without controllers.
 *
 * Permissions: net (the API server).
 *
 * @module
 */
import type { ApiServer } from "../../orch/support/server/api_server.ts";
import type { PodNetwork } from "./network.ts";

/** The node of all pods. */
export const NODE = "n1";

/** Annotation of pods that a node agent has captured. */
export const CAPTURED = { "ambient.istio.io/redirection": "enabled" };

/** A pod with its uid. */
export interface Placed {
  readonly network: PodNetwork;
  readonly uid: string;
}

/** A running, ready pod without a kubelet. @returns its uid */
export async function makePod(
  api: ApiServer,
  namespace: string,
  { name, address }: Pick<PodNetwork, "name" | "address">,
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
  account = name,
): Promise<string> {
  await api.users.account(namespace, account);
  const id = { apiVersion: "v1", kind: "Pod", metadata: { namespace, name } };
  const { metadata: { uid } } = await api.objects.create({
    ...id,
    metadata: { ...id.metadata, labels: { ...labels }, annotations: { ...annotations } },
    spec: { serviceAccountName: account, nodeName: NODE, containers: [{ name: "main", image: "none" }] },
  });
  const conditions = [{ type: "Ready", status: "True" }];
  await api.objects.patch(
    id,
    { status: { phase: "Running", podIP: address, podIPs: [{ ip: address }], conditions } },
    "status",
  );
  return uid;
}

/** A service to be made. */
export interface ServiceDraft {
  /** Default: `shop`. */
  readonly namespace?: string;
  readonly name: string;
  readonly selector: Readonly<Record<string, string>>;
  /** The pods of the selector. None: the service has no slice. */
  readonly pods?: readonly Placed[];
  readonly port: { readonly name: string; readonly port: number; readonly targetPort: number };
  readonly waypoint?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The service has no address. */
  readonly headless?: boolean;
}

/** A service, with a slice if it has pods. @returns the service's address */
export async function makeService(
  api: ApiServer,
  { namespace = "shop", name, selector, pods = [], port, waypoint, labels: own = {}, headless }: ServiceDraft,
): Promise<string> {
  const labels = { ...own, ...waypoint === undefined ? {} : { "istio.io/use-waypoint": waypoint } };
  const { spec } = await api.objects.create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace, name, labels },
    spec: { selector: { ...selector }, ports: [port], ...headless ? { clusterIP: "None" } : {} },
  });
  const address = (spec as { readonly clusterIP: string }).clusterIP;
  if (pods.length === 0) return address;
  await api.objects.create({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { namespace, name, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: port.name, port: port.targetPort, protocol: "TCP" }],
    endpoints: pods.map(({ network, uid }) => ({
      addresses: [network.address],
      conditions: { ready: true },
      targetRef: { kind: "Pod", namespace, name: network.name, uid },
    })),
  });
  return address;
}
