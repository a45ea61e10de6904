/**
 * The mesh's annotations of an orchestrator's objects: where they belong, what they hold, how settled they are.
 *
 * Source of the facts: `annotation/annotations.yaml` of github.com/istio/api.
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

/** Facts about one annotation. */
export interface AnnotationRow {
  /** Kinds that it belongs to; `Pod` stands for templates of pods too. */
  readonly kinds: readonly string[];
  /** It may change or go. */
  readonly isAlpha: boolean;
  /** It is not to be used any more; the text says what to write instead. */
  readonly deprecated?: string;
  readonly check?: CheckAnnotation;
}

type Extra = Partial<Omit<AnnotationRow, "kinds">>;

function of(
  kinds: readonly string[],
  names: Readonly<Record<string, Extra>>,
  isAlpha = true,
): [string, AnnotationRow][] {
  return Object.entries(names).map(([name, extra]) => [name, { kinds, isAlpha, ...extra }]);
}

const GONE = "nothing: it does nothing any more";
const STATS = "proxyStatsMatcher in the settings of the proxy";

const POD = of(["Pod"], {
  "prometheus.mesh.io/merge-metrics": { check: isBoolean },
  "alpha.mesh.io/identity": { deprecated: GONE },
  "sidecar.mesh.io/rewriteAppHTTPProbers": {},
  "sidecar.mesh.io/controlPlaneAuthPolicy": { deprecated: GONE, isAlpha: false },
  "sidecar.mesh.io/discoveryAddress": { deprecated: "discoveryAddress in the settings of the proxy" },
  "sidecar.mesh.io/proxyImage": {},
  "sidecar.mesh.io/proxyCPU": { check: isQuantity },
  "sidecar.mesh.io/proxyCPULimit": { check: isQuantity },
  "sidecar.mesh.io/proxyMemory": { check: isQuantity },
  "sidecar.mesh.io/proxyMemoryLimit": { check: isQuantity, isAlpha: false },
  "sidecar.mesh.io/interceptionMode": { check: isInterception },
  "sidecar.mesh.io/bootstrapOverride": {},
  "sidecar.mesh.io/statsInclusionPrefixes": { deprecated: STATS },
  "sidecar.mesh.io/statsInclusionSuffixes": { deprecated: STATS },
  "sidecar.mesh.io/statsInclusionRegexps": { deprecated: STATS },
  "sidecar.mesh.io/extraStatTags": {},
  "sidecar.mesh.io/userVolume": {},
  "sidecar.mesh.io/userVolumeMount": { isAlpha: false },
  "sidecar.mesh.io/enableCoreDump": {},
  "sidecar.mesh.io/logLevel": {},
  "sidecar.mesh.io/componentLogLevel": {},
  "sidecar.mesh.io/agentLogLevel": {},
  "status.sidecar.mesh.io/port": { check: isPort },
  "readiness.status.sidecar.mesh.io/initialDelaySeconds": { check: isCount },
  "readiness.status.sidecar.mesh.io/periodSeconds": { check: isCount },
  "readiness.status.sidecar.mesh.io/failureThreshold": { check: isCount },
  "readiness.status.sidecar.mesh.io/applicationPorts": {},
  "traffic.sidecar.mesh.io/includeOutboundIPRanges": { check: isRangeListOrAll },
  "traffic.sidecar.mesh.io/excludeOutboundIPRanges": { check: isRangeList },
  "traffic.sidecar.mesh.io/includeInboundPorts": { check: isPortListOrAll, isAlpha: false },
  "traffic.sidecar.mesh.io/excludeInboundPorts": { check: isPortList },
  "traffic.sidecar.mesh.io/includeOutboundPorts": { check: isPortListOrAll },
  "traffic.sidecar.mesh.io/excludeOutboundPorts": { check: isPortList },
  "traffic.sidecar.mesh.io/excludeInterfaces": {},
  "traffic.sidecar.mesh.io/kubevirtInterfaces": { deprecated: "annotation mesh.io/reroute-virtual-interfaces" },
  "mesh.io/reroute-virtual-interfaces": {},
  "inject.mesh.io/templates": {},
});

const SETTLED = of(["Pod"], {
  "sidecar.mesh.io/inject": { deprecated: "label sidecar.mesh.io/inject" },
  "proxy.mesh.io/config": { check: isProxySettings },
}, false);

const SERVICE = of(["Service"], {
  "networking.mesh.io/exportTo": {},
  "alpha.mesh.io/kubernetes-serviceaccounts": { deprecated: GONE },
  "alpha.mesh.io/canonical-serviceaccounts": { deprecated: GONE },
});

const OTHERS = [
  ...of(["Namespace"], { "topology.mesh.io/controlPlaneClusters": {} }),
  ...of(["AuthorizationPolicy"], { "mesh.io/dry-run": {} }),
  ...of(["Ingress"], { "kubernetes.io/ingress.class": {} }, false),
  ...of(["WorkloadEntry"], {
    "mesh.io/autoRegistrationGroup": {},
    "mesh.io/workloadController": {},
    "mesh.io/connectedAt": {},
    "mesh.io/disconnectedAt": {},
  }),
];

/** By name, in our spelling. Those that programs write themselves are left out. */
export const ANNOTATIONS: ReadonlyMap<string, AnnotationRow> = new Map([...POD, ...SETTLED, ...SERVICE, ...OTHERS]);
