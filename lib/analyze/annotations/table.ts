/**
 * The values that annotations may hold, and the successors of those that are deprecated.
 *
 * @module
 */
import {
  type CheckAnnotation,
  isBoolean,
  isCount,
  isInterception,
  isPort,
  isPortList,
  isPortListOrAll,
  isProxySettings,
  isQuantity,
  isRangeList,
  isRangeListOrAll,
} from "./values.ts";

/** Checks of values by name, in our spelling; others may hold anything. */
export const ANNOTATION_VALUES: ReadonlyMap<string, CheckAnnotation> = new Map([
  ["prometheus.mesh.io/merge-metrics", isBoolean],
  ["proxy.mesh.io/config", isProxySettings],
  ["sidecar.mesh.io/interceptionMode", isInterception],
  ["sidecar.mesh.io/proxyCPU", isQuantity],
  ["sidecar.mesh.io/proxyCPULimit", isQuantity],
  ["sidecar.mesh.io/proxyMemory", isQuantity],
  ["sidecar.mesh.io/proxyMemoryLimit", isQuantity],
  ["status.sidecar.mesh.io/port", isPort],
  ["readiness.status.sidecar.mesh.io/initialDelaySeconds", isCount],
  ["readiness.status.sidecar.mesh.io/periodSeconds", isCount],
  ["readiness.status.sidecar.mesh.io/failureThreshold", isCount],
  ["traffic.sidecar.mesh.io/includeOutboundIPRanges", isRangeListOrAll],
  ["traffic.sidecar.mesh.io/excludeOutboundIPRanges", isRangeList],
  ["traffic.sidecar.mesh.io/includeInboundPorts", isPortListOrAll],
  ["traffic.sidecar.mesh.io/excludeInboundPorts", isPortList],
  ["traffic.sidecar.mesh.io/excludeOutboundPorts", isPortList],
]);

const STATS = "proxyStatsMatcher in the settings of the proxy";

/** Successors of deprecated annotations; others have none. */
export const ANNOTATION_SUCCESSORS: ReadonlyMap<string, string> = new Map([
  ["sidecar.mesh.io/inject", "label sidecar.mesh.io/inject"],
  ["sidecar.mesh.io/discoveryAddress", "discoveryAddress in the settings of the proxy"],
  ["sidecar.mesh.io/statsInclusionPrefixes", STATS],
  ["sidecar.mesh.io/statsInclusionSuffixes", STATS],
  ["sidecar.mesh.io/statsInclusionRegexps", STATS],
  ["traffic.sidecar.mesh.io/kubevirtInterfaces", "annotation mesh.io/reroute-virtual-interfaces"],
]);

/** Annotations that programs write, about which nothing is reported. */
export const WRITTEN_BY_PROGRAMS: ReadonlySet<string> = new Set([
  "sidecar.mesh.io/status",
  "gateway.mesh.io/controller-version",
  "mesh.io/rev",
]);
