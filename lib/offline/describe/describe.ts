/**
 * Descriptions of pods and services.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import { captureOf } from "../../ambient/capture.ts";
import type { DescribedTls, MeshServiceDescription, PodDescription } from "../../debug/description.ts";
import { selectableWorkload } from "../../debug/policy_workload.ts";
import { callerName } from "../../graph/caller.ts";
import { ServiceGuards } from "../../graph/guard.ts";
import { serviceTargets } from "../../registry/inbound.ts";
import { type Service, serviceKey } from "../../registry/types.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";
import { type ImpliedProxy, NO_ADDRESS } from "../workloads.ts";
import { spelledKey } from "./parts.ts";
import { policiesAt, policiesAtWaypoint } from "./policies.ts";
import { describedGateway, describedService } from "./service.ts";
import type { DescribedWorld } from "./world.ts";

/** Describes a pod. @param note how its name was read; absent: nothing to say */
export function describePod(pod: ImpliedProxy, world: DescribedWorld, note?: string): PodDescription {
  const { namespace, name, address, labels, type, account } = pod;
  const { mesh, facts } = world;
  const workload = selectableWorkload({ namespace, labels, type }, mesh);
  const services = servicesOf(pod, world);
  const parts = services.map((service) => describedService(service, world, labels));
  const own = policiesAt(workload, world);
  const behind = services.map((service) => policiesAtWaypoint(service, world));
  const { gateways, library, waypoint } = profileOf(type);
  const serves = gateways && !waypoint ? mesh.gateways.select(namespace, labels) : [];
  const fact = facts.get("Pod", namespace, name);
  const ambient = fact && captureOf(fact, facts.get("Namespace", "", namespace)?.meta.labels ?? {});
  const notes = [...note === undefined ? [] : [note], ...services.length === 0 ? [noService(pod, world)] : []];
  return {
    pod: `${namespace}/${name}`,
    ...{ type, labels, containerPorts: containerPorts(pod, world) },
    ...address === NO_ADDRESS || address === "" ? {} : { address },
    ...account === undefined ? {} : { account },
    proxy: library ? "a gRPC library in place of a proxy" : world.proxyText(pod),
    ...ambient === undefined ? {} : { ambient: `${ambient.state}: ${ambient.why}` },
    services: parts.map(({ part }) => part),
    serves: serves.map(({ meta }) => describedGateway(`${meta.namespace}/${meta.name}`, world)),
    ...gateways ? {} : { tls: tlsOf(pod, world) },
    policies: [...own.part, ...behind.flatMap(({ part }) => part)],
    keys: [
      ...new Set([
        ...pod.cause === "" ? [] : [pod.cause],
        ...[...parts, own, ...behind].flatMap(({ keys }) => keys),
        ...serves.map(({ key }) => key),
      ]),
    ],
    notes,
  };
}

/** Describes a service. @param note how its name was read; absent: nothing to say */
export function describeService(service: Service, world: DescribedWorld, note?: string): MeshServiceDescription {
  const { mesh, endpoints } = world;
  const { part, keys } = describedService(service, world);
  const placed = endpoints.endpoints(serviceKey(service));
  const guard = new ServiceGuards(mesh).of(service);
  const policies = policiesAtWaypoint(service, world);
  const pods = world.workloads.filter((pod) =>
    isSelected(pod, service, world) || servicesAt(pod, world).includes(service)
  );
  const held = heldPolicies(pods, world);
  return {
    service: part,
    addresses: [...service.addresses, ...service.autoAllocatedAddresses ?? []],
    endpoints: { all: placed.length, healthy: placed.filter(({ health }) => health === "healthy").length },
    workloads: pods.map(({ namespace, name }) => `${namespace}/${name}`),
    tls: guard.tls,
    callers: guard.callers.map(({ caller, verdict: { result, conditions } }) => ({
      caller: callerName(caller),
      ...{ result, conditions },
    })),
    policies: [...policies.part, ...held.part],
    keys: [...new Set([...keys, ...policies.keys, ...held.keys])],
    notes: note === undefined ? [] : [note],
  };
}

/** The policies at the workloads of a service, each once. */
function heldPolicies(pods: readonly ImpliedProxy[], world: DescribedWorld) {
  const all = pods.map((pod) => policiesAt(selectableWorkload(pod, world.mesh), world));
  const byObject = new Map(all.flatMap(({ part }) => part).map((policy) => [policy.object, policy]));
  return { part: [...byObject.values()], keys: all.flatMap(({ keys }) => keys) };
}

/** The services of a workload: by its address, or by the selectors that choose its labels. */
function servicesOf(pod: ImpliedProxy, world: DescribedWorld): Service[] {
  const found = new Set(servicesAt(pod, world));
  for (const service of world.services.services()) if (isSelected(pod, service, world)) found.add(service);
  return [...found];
}

/** The services with an endpoint at the address of a workload. */
function servicesAt({ namespace, address }: ImpliedProxy, { endpoints, services }: DescribedWorld): Service[] {
  if (address === NO_ADDRESS || address === "") return [];
  const place = { addresses: [address], namespace, clusterId: "" };
  return serviceTargets(place, endpoints, services).map(({ service }) => service);
}

/** Whether the selector of a Service chooses the labels of a workload. */
function isSelected({ namespace, labels }: ImpliedProxy, { cause }: Service, { facts }: DescribedWorld): boolean {
  const start = `Service/${namespace}/`;
  if (!cause.startsWith(start)) return false;
  const selector = facts.get("Service", namespace, cause.slice(start.length))?.spec.selector ?? {};
  return Object.keys(selector).length > 0 && carriesLabels(labels, selector);
}

/** Why a workload has no service. */
function noService({ namespace }: ImpliedProxy, { facts, services }: DescribedWorld): string {
  const written = facts.list("Service", namespace).length;
  const known = [...services.services()].filter((one) => one.namespace === namespace).length;
  if (written > 0 && known === 0) return `the Services of namespace ${namespace} are not part of this mesh`;
  return "no service selects the workload: other workloads cannot call it by a name";
}

function containerPorts({ namespace, cause }: ImpliedProxy, { facts }: DescribedWorld): string[] {
  const [kind, , name = ""] = cause.split("/");
  const fact = kind === "Pod" || kind === "Deployment" || kind === "StatefulSet" || kind === "DaemonSet" ||
      kind === "ReplicaSet" || kind === "Job" || kind === "CronJob"
    ? facts.get(kind, namespace, name)
    : undefined;
  return (fact?.spec.containers ?? []).flatMap((container) =>
    container.ports.map(({ name, port }) => `${port}${name === "" ? "" : ` ${name}`} (${container.name})`)
  );
}

function tlsOf({ namespace, labels }: ImpliedProxy, world: DescribedWorld): DescribedTls {
  const { mode, ports, causes } = world.mesh.peerAuthentications.of({ namespace, labels });
  return {
    mode,
    ports: Object.fromEntries([...ports].map(([port, own]) => [String(port), own])),
    objects: causes.map((key) => spelledKey(key, world)),
  };
}
