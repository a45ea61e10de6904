/**
 * The waypoints of services, and whether connections really go through them, as of one request.
 *
 * @module
 */
import { carriesLabels } from "../config/schema/labels.ts";
import { WorkloadStatus } from "../../proto/gen/enums.ts";
import type { istio } from "../../proto/gen/types.ts";
import {
  type Bindable,
  type BindableService,
  type Binding,
  unboundText,
  userOf,
  waypointBinding,
  wayText,
} from "../ambient/binding.ts";
import { selectorOf } from "../ambient/objects.ts";
import { podName } from "../ambient/workloads.ts";
import { closingTargets, targetsOf, WAYPOINT_POLICIES, WaypointPolicies } from "../mesh/waypoints/policies.ts";
import { waypointAddress } from "../mesh/waypoints/address.ts";
import { decode } from "../pb/reflect.ts";
import { hostnameOf } from "../registry/orch/service.ts";
import type { ServiceKey } from "../registry/types.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import { ADDRESS } from "../xds/protocol/types.ts";
import type { StateWord } from "./list_page.ts";
import type { DebugView } from "./view.ts";

/** The waypoint of a service or of a pod's own address, and its way. */
export interface BoundService {
  readonly binding: Binding;
  /** Ready instances of the waypoint. */
  readonly instances: number;
  /** Whether connections of tunnels pass through the waypoint. */
  readonly isOnTheWay: boolean;
  /** The way, and the reason. */
  readonly sentence: string;
  /** Keys of the policies that the waypoint enforces, or should enforce, for the service or pod. */
  readonly policies: readonly string[];
}

/** The waypoints of services and pods. Each is looked up once. */
export class Bindings {
  readonly #view: DebugView;
  readonly #policies = new WaypointPolicies();
  readonly #bound = new Map<string, BoundService | undefined>();
  readonly #instances = new Map<string, number>();

  constructor(view: DebugView) {
    this.#view = view;
    const { rootNamespace } = view.translator.mesh.config;
    for (const kind of WAYPOINT_POLICIES) {
      for (const policy of view.store.list(kind)) this.#policies.put(policy.key, targetsOf(policy, rootNamespace));
    }
  }

  /** The waypoint of an object. Undefined: the object asks for no waypoint, or can have none. */
  of(object: Bindable): BoundService | undefined {
    return this.#bound.getOrInsertComputed(object.key, () => this.#make(object));
  }

  /** The waypoint of the object behind a service. */
  ofService(key: ServiceKey): BoundService | undefined {
    const cause = this.#view.services.service(key)?.cause;
    const object = cause === undefined ? undefined : this.#object(cause);
    return object && this.of(object);
  }

  #object(key: string): BindableService | undefined {
    const [kind, namespace = "", name = ""] = key.split("/");
    if (kind === "Service") return this.#view.facts.get("Service", namespace, name);
    return kind === "ServiceEntry" ? this.#view.store.get("ServiceEntry", namespace, name) : undefined;
  }

  #make(object: Bindable): BoundService | undefined {
    const { store, facts, tunnels } = this.#view;
    const binding = waypointBinding(object, {
      namespaceLabels: (namespace) => facts.get("Namespace", "", namespace)?.meta.labels ?? {},
      gateway: (namespace, name) => store.get("ApiGateway", namespace, name),
      gatewayClass: (name) => store.get("GatewayClass", "", name),
      policyOn: (target) => this.#policies.first(target),
      opensWithoutWaypoint: tunnels?.opensWithoutWaypoint ?? false,
    });
    if (binding === undefined) return undefined;
    const { waypoint, found, way } = binding;
    const targets = closingTargets(userOf(object), waypoint, found);
    const instances = this.#instances.getOrInsertComputed(waypoint, () => this.#readyInstances(waypoint));
    return {
      binding,
      instances,
      isOnTheWay: way === "waypoint" && instances > 0,
      sentence: sentenceOf(binding, object.meta.namespace, instances),
      policies: [...new Set(targets.flatMap((target) => this.#policies.on(target)))],
    };
  }

  /** Ready pods of the Service that the Gateway's status names, as tunnels see them. */
  #readyInstances(waypoint: string): number {
    const { store, facts, domain } = this.#view;
    const [namespace = "", name = ""] = waypoint.split("/");
    const address = waypointAddress(store.get("ApiGateway", namespace, name)?.status);
    if (address === undefined) return 0;
    const service = facts.list("Service", namespace).find((one) =>
      "hostname" in address
        ? hostnameOf(one, { domain }) === address.hostname
        : one.spec.clusterIPs.includes(address.ip)
    );
    const selector = service && selectorOf(service)?.selector;
    if (service === undefined || selector === undefined) return 0;
    const host = `${namespace}/${hostnameOf(service, { domain })}`;
    return facts.list("Pod", namespace).filter(({ meta, spec: { labels } }) =>
      carriesLabels(labels, selector) &&
      this.#isReady(meta.name, namespace, host)
    ).length;
  }

  #isReady(pod: string, namespace: string, host: string): boolean {
    const resource = podResource(this.#view, namespace, pod);
    if (resource === undefined) return false;
    const { workload } = decode<istio.workload.Address>("istio.workload.Address", resource.value);
    return workload?.status !== WorkloadStatus.UNHEALTHY && Object.hasOwn(workload?.services ?? {}, host);
  }
}

/** The resource of a pod. Undefined: tunnels do not get the pod. */
export function podResource({ tunnels }: DebugView, namespace: string, name: string): EncodedResource | undefined {
  if (tunnels === undefined) return undefined;
  const uid = podName(tunnels.clusterId, namespace, name);
  return tunnels.sets(ADDRESS)?.flatMap((set) => set.get(uid) ?? [])[0];
}

function sentenceOf(binding: Binding, namespace: string, instances: number): string {
  const why = unboundText(binding, namespace);
  const way = wayText(binding);
  if (binding.way === "waypoint" && instances === 0) {
    return `No instance of the waypoint ${binding.waypoint} is ready: node tunnels refuse connections.`;
  }
  return why === "" ? way : `The waypoint is not used: ${why}. ${way}`;
}

/** The way of a service's connections, in short. Undefined: the service asks for no waypoint. */
export function wayCell(bound: BoundService | undefined): StateWord | { readonly dim: string } {
  if (bound === undefined) return { dim: "no waypoint" };
  const { binding: { way }, isOnTheWay, instances } = bound;
  if (isOnTheWay) return { tone: "good", word: `through the waypoint (${instances} ready)` };
  if (way === "direct") return { tone: "warn", word: "direct" };
  return way === "pods" ? { tone: "warn", word: "to the pods" } : { tone: "bad", word: "closed" };
}

/** The way of a service's connections for programs: `waypoint`, `direct`, `pods` or `closed`. */
export function wayOf({ binding: { way }, isOnTheWay }: BoundService): string {
  return way === "waypoint" && !isOnTheWay ? "closed" : way;
}
