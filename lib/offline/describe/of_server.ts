/**
 * Descriptions of pods and services by a running server.
 *
 * @module
 */
import type { AnyConfigObject } from "../../config/types.ts";
import type { MeshServiceDescription, PodDescription } from "../../debug/description.ts";
import type { AskedServer, DescribeAsked } from "../../debug/runners.ts";
import { canonicalIp, isIp } from "../../registry/address.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";
import { connected, podsOf } from "../server_workloads.ts";
import { bindingWorld } from "../waypoints.ts";
import { impliedProxies, type ImpliedProxy } from "../workloads.ts";
import { describePod, describeService } from "./describe.ts";
import { findPod } from "./find_pod.ts";
import { findService } from "./find_service.ts";
import type { DescribedWorld } from "./world.ts";

/**
 * Describes a pod or a service.
 *
 * @throws {NoSuchProxy} or `NoSuchService` for an unknown name
 */
export function describeAtServer(
  { pod, service = "" }: DescribeAsked,
  server: AskedServer,
  domain: string,
): PodDescription | MeshServiceDescription {
  if (pod === undefined) {
    const world = worldOfServer(server, domain, () => false);
    const found = findService(service, world);
    const known = worldOfServer(server, domain, (namespace) => namespace === found.namespace);
    return describeService(found, known);
  }
  // Most pods of a large mesh are in other namespaces.
  const isAsked = (namespace: string, name: string, addresses: readonly string[], owner: string) =>
    pod.startsWith(`${namespace}/`) || pod.endsWith(`.${namespace}`) || pod === name || pod === owner ||
    pod.endsWith(`/${name}`) || isIp(pod) && addresses.includes(canonicalIp(pod));
  const world = worldOfServer(server, domain, isAsked);
  const { proxy, note } = findPod(pod, world.workloads, { domain, gatewaysInNamespace: false });
  return describePod(proxy, world, note);
}

type WorkloadChoice = (namespace: string, name: string, addresses: readonly string[], owner: string) => boolean;

function worldOfServer(server: AskedServer, domain: string, isAsked: WorkloadChoice): DescribedWorld {
  const { store, facts, services, endpoints, translator } = server;
  const proxies = [...translator.proxies()].map(connected);
  const connectedNames = new Set(proxies.map(({ namespace, name }) => `${namespace}/${name}`));
  const pods = podsOf(
    facts,
    ({ meta: { namespace, name }, spec: { addresses = [], owner = "" } }) =>
      isAsked(namespace, name, addresses, owner.slice(owner.indexOf("/") + 1)),
  );
  const byName = new Map(pods.map((one) => [`${one.namespace}/${one.name}`, one]));
  const entries = [...store.list("WorkloadEntry"), ...store.list("ServiceEntry")].filter(({ meta }) =>
    isAsked(meta.namespace, meta.name, [], "")
  ) as readonly AnyConfigObject[];
  const written = impliedProxies(entries, { domain, gatewaysInNamespace: false }).filter(({ cause }) => cause !== "");
  const others = [...pods, ...written].filter((one) => !connectedNames.has(`${one.namespace}/${one.name}`));
  return {
    ...{ domain, store, facts, services, endpoints, mesh: translator.mesh, layersPolicies: translator.layersPolicies },
    bindings: bindingWorld({
      ...{ facts, store, rootNamespace: server.mesh.rootNamespace },
      ...{ opensWithoutWaypoint: server.tunnels?.opensWithoutWaypoint ?? false, assumesReady: false },
    }),
    // A connected proxy knows its labels; its pod knows the object and the workload's name.
    workloads: [...proxies.map((one) => withPod(one, byName)), ...others],
    proxyText: ({ type, namespace, name, runs }) => {
      if (connectedNames.has(`${namespace}/${name}`)) return `${profileOf(type).noun}, connected to this server`;
      if (runs === undefined) return "nothing says whether a proxy runs beside it";
      return runs ? "a proxy runs beside it, and is not connected to this server" : "no proxy runs beside it";
    },
  };
}

function withPod(proxy: ImpliedProxy, pods: ReadonlyMap<string, ImpliedProxy>): ImpliedProxy {
  const pod = pods.get(`${proxy.namespace}/${proxy.name}`);
  if (pod === undefined) return proxy;
  const { cause, account, entry } = pod;
  return {
    ...proxy,
    cause,
    ...account === undefined ? {} : { account },
    ...entry === undefined ? {} : { entry },
  };
}
