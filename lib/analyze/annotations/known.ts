/**
 * Known annotations of the mesh's domains, in our spelling: the kinds that use an annotation, and the annotation's
 * maturity.
 *
 * @module
 */
import { ROLLOUT_ANNOTATIONS } from "../../rollout/plan.ts";

export interface KnownAnnotation {
  /** Kinds that use the annotation. `Pod` stands for every kind that makes pods. Absent: any kind. */
  readonly on?: readonly string[];
  readonly status: "alpha" | "beta" | "stable";
  readonly deprecated?: true;
}

const POD = ["Pod"] as const;
const alpha = (...on: readonly string[]): KnownAnnotation => ({ on, status: "alpha" });
const pods = (domain: string, ...names: readonly string[]): [string, KnownAnnotation][] =>
  names.map((name) => [`${domain}/${name}`, { on: POD, status: "alpha" }]);
const old = (domain: string, ...names: readonly string[]): [string, KnownAnnotation][] =>
  names.map((name) => [`${domain}/${name}`, { on: POD, status: "alpha", deprecated: true }]);

/** All known annotations, by name. */
export const KNOWN_ANNOTATIONS: ReadonlyMap<string, KnownAnnotation> = new Map<string, KnownAnnotation>([
  ["galley.mesh.io/analyze-suppress", { status: "alpha" }],
  ["gateway.mesh.io/controller-version", { status: "alpha" }],
  ["mesh.io/dry-run", alpha("AuthorizationPolicy")],
  ...ROLLOUT_ANNOTATIONS.map((name): [string, KnownAnnotation] => [name, { status: "alpha" }]),
  ["sidecar.mesh.io/inject", { on: POD, status: "beta", deprecated: true }],
  ["proxy.mesh.io/config", { on: POD, status: "beta" }],
  ["ambient.mesh.io/redirection", { on: POD, status: "beta" }],
  ["traffic.mesh.io/nodeSelector", { on: ["Service"], status: "stable" }],
  ["networking.mesh.io/exportTo", alpha("Service")],
  ["networking.mesh.io/service-type", alpha("Gateway")],
  ["networking.mesh.io/traffic-distribution", alpha("Namespace", "Service", "ServiceEntry")],
  ["mesh.io/use-waypoint-canary-weight", alpha("Namespace", "Service", "ServiceEntry")],
  ["topology.mesh.io/controlPlaneClusters", alpha("Namespace")],
  ["alpha.mesh.io/kubernetes-serviceaccounts", { on: ["Service"], status: "alpha", deprecated: true }],
  ["alpha.mesh.io/canonical-serviceaccounts", { on: ["Service"], status: "alpha", deprecated: true }],
  ["gateway.mesh.io/service-account", alpha("Gateway")],
  ["gateway.mesh.io/name-override", alpha("Gateway")],
  ["ambient.mesh.io/waypoint-inbound-binding", alpha("Gateway", "GatewayClass")],
  ["experimental.mesh.io/disable-gateway-port-translation", alpha("Service")],
  ...["autoRegistrationGroup", "workloadController", "connectedAt", "disconnectedAt"].map((
    name,
  ): [string, KnownAnnotation] => [`mesh.io/${name}`, alpha("WorkloadEntry")]),
  ["proxy.mesh.io/health-checks-enabled", alpha("WorkloadEntry")],
  ...pods("prometheus.mesh.io", "merge-metrics"),
  ...pods("mesh.io", "rev", "reroute-virtual-interfaces"),
  ...pods("proxy.mesh.io", "overrides"),
  ...pods("inject.mesh.io", "templates"),
  ...pods("ambient.mesh.io", "bypass-inbound-capture", "dns-capture"),
  ...pods("status.sidecar.mesh.io", "port"),
  ...pods("sidecar.mesh.io", "status", "rewriteAppHTTPProbers", "proxyImage", "proxyImageType", "proxyCPU"),
  ...pods("sidecar.mesh.io", "proxyCPULimit", "proxyMemory", "proxyMemoryLimit", "interceptionMode"),
  ...pods("sidecar.mesh.io", "bootstrapOverride", "statsHistogramBuckets", "statsFlushInterval"),
  ...pods("sidecar.mesh.io", "statsEvictionInterval", "statsHistogramBins", "userVolume", "userVolumeMount"),
  ...pods("sidecar.mesh.io", "logLevel", "componentLogLevel", "agentLogLevel", "nativeSidecar"),
  ...pods("readiness.status.sidecar.mesh.io", "initialDelaySeconds", "periodSeconds", "failureThreshold"),
  ...pods("readiness.status.sidecar.mesh.io", "applicationPorts"),
  ...pods("traffic.sidecar.mesh.io", "includeOutboundIPRanges", "excludeOutboundIPRanges", "includeInboundPorts"),
  ...pods("traffic.sidecar.mesh.io", "excludeInboundPorts", "excludeInterfaces", "includeOutboundPorts"),
  ...pods("traffic.sidecar.mesh.io", "excludeOutboundPorts"),
  ...old("traffic.sidecar.mesh.io", "kubevirtInterfaces"),
  ...old("sidecar.mesh.io", "discoveryAddress", "statsInclusionPrefixes", "statsInclusionSuffixes"),
  ...old("sidecar.mesh.io", "statsInclusionRegexps", "extraStatTags", "statsCompression"),
]);
