/**
 * Descriptions of pods and services in a mesh of texts.
 *
 * @module
 */
import type { MeshServiceDescription, PodDescription } from "../../debug/description.ts";
import type { DescribeAsked } from "../../debug/runners.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";
import type { OfflineMesh } from "../offline_mesh.ts";
import { bindingWorld } from "../waypoints.ts";
import { type ImpliedProxy, proxiesOf } from "../workloads.ts";
import { describePod, describeService } from "./describe.ts";
import { findPod } from "./find_pod.ts";
import { findService } from "./find_service.ts";
import type { DescribedWorld } from "./world.ts";

/**
 * Describes a pod or a service.
 *
 * @throws {NoSuchProxy} or `NoSuchService` for an unknown name
 */
export function describeInMesh(
  { pod, service = "" }: DescribeAsked,
  mesh: OfflineMesh,
): PodDescription | MeshServiceDescription {
  const { proxies, options } = proxiesOf(mesh);
  const { store, facts, pipeline: { aggregate, endpoints, translator } } = mesh;
  const world: DescribedWorld = {
    ...{ domain: mesh.domain, store, facts, services: aggregate, endpoints, mesh: translator.mesh },
    layersPolicies: translator.layersPolicies,
    workloads: proxies,
    bindings: bindingWorld({
      ...{ facts, store, rootNamespace: mesh.mesh.rootNamespace },
      ...{ opensWithoutWaypoint: mesh.settings.MESH_WAYPOINT_FAIL_OPEN, assumesReady: true },
    }),
    proxyText,
  };
  if (pod === undefined) return describeService(findService(service, world), world);
  const { proxy, note } = findPod(pod, proxies, options);
  return describePod(proxy, world, note);
}

function proxyText({ type, runs, standsIn }: ImpliedProxy): string {
  const { gateways, noun } = profileOf(type);
  if (gateways) return `it is itself a ${noun}${standsIn ? ", which no text describes beside a Gateway" : ""}`;
  if (runs === undefined) return "nothing says whether a proxy runs beside it";
  return runs ? `a ${noun} runs beside it` : "no proxy runs beside it";
}
