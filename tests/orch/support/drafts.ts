/** Objects of an orchestrator in short, for tests over several feeds. */
import type { ObjectDraft, ObjectId } from "./server/objects.ts";

type Draft = ObjectDraft & ObjectId;
type Words = Readonly<Record<string, string>>;

/** A namespace with labels. */
export function namespaceDraft(name: string, labels: Words = {}): Draft {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

/** A service with port 80. */
export function serviceDraft(
  namespace: string,
  name: string,
  { labels = {}, annotations = {}, spec = {}, status }: {
    readonly labels?: Words;
    readonly annotations?: Words;
    readonly spec?: Readonly<Record<string, unknown>>;
    readonly status?: unknown;
  } = {},
): Draft {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace, name, labels, annotations },
    spec: { ports: [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }], ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

/** The slice of a service, of addresses without pods. */
export function sliceDraft(namespace: string, service: string, addresses: readonly string[]): Draft {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { namespace, name: `${service}-1`, labels: { "kubernetes.io/service-name": service } },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  };
}

/** An object of a kind of the mesh, in our group unless another is named. */
export function meshDraft(
  kind: "DestinationRule" | "Gateway" | "ServiceEntry" | "VirtualService" | "WorkloadEntry",
  namespace: string,
  name: string,
  spec: Readonly<Record<string, unknown>>,
  labels: Words = {},
): Draft {
  return { apiVersion: "networking.mesh.io/v1", kind, metadata: { namespace, name, labels }, spec };
}
