/**
 * A registry of the orchestrator's objects with a recording sink, and the objects in short, for tests.
 * @module
 */
import type { AnyFact, FactKind } from "../../../lib/config/facts/types.ts";
import type { OrchRegistryOptions } from "../../../lib/registry/orch/options.ts";
import { OrchRegistry } from "../../../lib/registry/orch/registry.ts";
import type { ServiceKey } from "../../../lib/registry/types.ts";
import { fact, manifest } from "../../config/facts/manifests.ts";
import { RecordingSink } from "../objects.ts";

/** The default settings of a process. */
export const ORCH_OPTIONS: OrchRegistryOptions = {
  clusterId: "c1",
  domain: "cluster.local",
  systemNamespace: "mesh-system",
  trustDomain: () => "cluster.local",
  networkOf: () => "",
  namedGateways: () => [],
  selectWorkloadEntries: true,
  dualStack: false,
  stickyLabels: ["mesh.io/persistent-session", "mesh.io/persistent-session-header"],
  shared: undefined,
  drainingLabel: "mesh.io/draining",
};

/** Fields of an object beside its kind and name. */
type More = Parameters<typeof manifest>[3];

/** An object of the namespace `shop`, or of none. */
export function object(kind: FactKind, name: string, more: More = {}): AnyFact {
  return fact(manifest(kind, kind === "Node" || kind === "Namespace" ? "" : "shop", name, more));
}

/** A service with HTTP port 80 to port 8080 of its pods `app=NAME`. */
export function service(name: string, spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) {
  const ports = [{ name: "http", port: 80, targetPort: 8080 }];
  return object("Service", name, {
    metadata,
    spec: { clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1"], selector: { app: name }, ports, ...spec },
  });
}

/** An endpoint of a slice, with or without the name of a pod. */
export function at(address: string, pod?: string, more: Record<string, unknown> = {}) {
  return { addresses: [address], ...(pod === undefined ? {} : { targetRef: { kind: "Pod", name: pod } }), ...more };
}

/** A slice of a service. */
export function slice(name: string, of: string, endpoints: unknown[], more: Record<string, unknown> = {}) {
  const labels = { "kubernetes.io/service-name": of };
  return object("EndpointSlice", name, {
    metadata: { labels },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080 }],
    endpoints,
    ...more,
  });
}

/** A ready pod. */
export function pod(name: string, address: string, labels: Record<string, string>, more: {
  readonly metadata?: Record<string, unknown>;
  readonly spec?: Record<string, unknown>;
  readonly status?: Record<string, unknown>;
} = {}) {
  return object("Pod", name, {
    metadata: { labels, ...more.metadata },
    spec: { serviceAccountName: "account", containers: [], ...more.spec },
    status: {
      phase: "Running",
      podIP: address,
      podIPs: [{ ip: address }],
      conditions: [{ type: "Ready", status: "True" }],
      ...more.status,
    },
  });
}

/** A started registry, the reports, and the settings. */
export function cluster(objects: readonly AnyFact[] = [], options: Partial<OrchRegistryOptions> = {}) {
  const registry = new OrchRegistry({ ...ORCH_OPTIONS, ...options });
  const sink = new RecordingSink();
  void registry.start(sink);
  registry.apply(objects, []);
  return { registry, sink };
}

/** Key of a service in the namespace `shop`. */
export function keyOf(name: string): ServiceKey {
  return `shop/${name}.shop.svc.cluster.local`;
}
