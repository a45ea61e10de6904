/**
 * How a pod's traffic is redirected: annotations over values, checked by the rules of `pilot-agent mesh-iptables`.
 *
 * @module
 */
import { type Input, InputError, readInputs, type RedirectionInputs } from "../iptables/input.ts";
import type { ProxySettings } from "../config/mesh/types.ts";
import type { AnnotationReader } from "./annotation_reader.ts";
import type { Texts } from "./spelling.ts";
import type { InjectionValues } from "./values.ts";

/** Redirection of one pod, as texts of annotations and flags. */
export interface PodTraffic {
  /** `NONE`: nothing is redirected. */
  readonly mode: (typeof MODES)[number];
  /** Port of the agent; 0: the agent has no port. */
  readonly statusPort: number;
  readonly inboundPorts: string;
  readonly inboundPortsExcluded: string;
  readonly outboundPorts: string;
  readonly outboundPortsExcluded: string;
  readonly outboundRanges: string;
  readonly outboundRangesExcluded: string;
  readonly interfacesExcluded: string;
  readonly virtualInterfaces: string;
}

/** Annotations by field. */
export const TRAFFIC_ANNOTATIONS = {
  inboundPorts: "traffic.sidecar.mesh.io/includeInboundPorts",
  inboundPortsExcluded: "traffic.sidecar.mesh.io/excludeInboundPorts",
  outboundPorts: "traffic.sidecar.mesh.io/includeOutboundPorts",
  outboundPortsExcluded: "traffic.sidecar.mesh.io/excludeOutboundPorts",
  outboundRanges: "traffic.sidecar.mesh.io/includeOutboundIPRanges",
  outboundRangesExcluded: "traffic.sidecar.mesh.io/excludeOutboundIPRanges",
  interfacesExcluded: "traffic.sidecar.mesh.io/excludeInterfaces",
} as const;
/** Interfaces of virtual machines: the present and the earlier name of the annotation. */
const VIRTUAL_INTERFACES = ["mesh.io/reroute-virtual-interfaces", "traffic.sidecar.mesh.io/kubevirtInterfaces"];
/** How inbound traffic reaches the proxy. */
export const MODE = "sidecar.mesh.io/interceptionMode";
const MODES = ["REDIRECT", "TPROXY", "NONE"] as const;
/** The port of the agent; 0: none. */
export const STATUS_PORT = "status.sidecar.mesh.io/port";

/** The port of health and metrics that the node's plugin exempts by default. */
const USUAL_STATUS_PORT = 15020;

/** The proxy's own ports for metrics and readiness. Connections to these ports are not redirected. */
const PROXY_PORTS = ["15090", "15021"];

/** Reads the redirection. The reader keeps the mistakes. */
export function podTraffic(reader: AnnotationReader, values: InjectionValues, proxy: ProxySettings): PodTraffic {
  const { annotations } = reader;
  const given = values.global.proxy;
  const at = (field: keyof typeof TRAFFIC_ANNOTATIONS, otherwise: string) =>
    annotations[TRAFFIC_ANNOTATIONS[field]] ?? otherwise;
  const traffic: PodTraffic = {
    mode: reader.choice(MODE, MODES, proxy.interceptionMode),
    statusPort: reader.port(STATUS_PORT, proxy.statusPort),
    inboundPorts: at("inboundPorts", given.includeInboundPorts),
    inboundPortsExcluded: at("inboundPortsExcluded", given.excludeInboundPorts),
    outboundPorts: at("outboundPorts", given.includeOutboundPorts),
    outboundPortsExcluded: at("outboundPortsExcluded", given.excludeOutboundPorts),
    outboundRanges: at("outboundRanges", given.includeIPRanges),
    outboundRangesExcluded: at("outboundRangesExcluded", given.excludeIPRanges),
    interfacesExcluded: at("interfacesExcluded", given.excludeInterfaces),
    virtualInterfaces: VIRTUAL_INTERFACES.map((key) => annotations[key]).find((text) => text !== undefined) ?? "",
  };
  reader.problems.push(...(tooLong(traffic) ?? refusals(traffic, annotations)));
  return traffic;
}

/** Longest list of ports, ranges or interfaces, in characters. Each item becomes a rule. */
const MAX_LIST = 16_384;

/** Problems of overlong lists, one per line; undefined: every list is short enough. */
function tooLong(traffic: PodTraffic): string[] | undefined {
  const found = Object.entries(TRAFFIC_ANNOTATIONS).flatMap(([field, key]) => {
    const { length } = traffic[field as keyof typeof TRAFFIC_ANNOTATIONS];
    return length > MAX_LIST ? [`annotation ${key}: got ${length} characters, expected at most ${MAX_LIST}`] : [];
  });
  return found.length > 0 ? found : undefined;
}

/** Flags of `pilot-agent mesh-iptables`. */
export function redirectionFlags(
  traffic: PodTraffic,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): string[] {
  const { mode, statusPort, virtualInterfaces, interfacesExcluded, outboundPorts, outboundPortsExcluded } = traffic;
  const own = [...PROXY_PORTS, ...(statusPort > 0 ? [String(statusPort)] : [])];
  const given = (flag: string, text: string) => text === "" ? [] : [flag, text];
  return [
    ...["-p", "15001", "-z", "15006", "-u", String(uid), ...(gid === uid ? [] : ["-g", String(gid)]), "-m", mode],
    ...["-i", traffic.outboundRanges, "-x", traffic.outboundRangesExcluded, "-b", traffic.inboundPorts],
    ...["-d", withPorts(own, traffic.inboundPortsExcluded)],
    ...given("-q", outboundPorts),
    ...given("-o", outboundPortsExcluded),
    ...given("-k", virtualInterfaces),
    ...given("-c", interfacesExcluded),
  ];
}

/** Puts ports in front of a list, each once: an injected pod may be injected again. */
function withPorts(own: readonly string[], list: string): string {
  const listed = list.split(",").map((port) => port.trim()).filter((port) => port !== "");
  return [...new Set([...own, ...listed])].join(",");
}

/** Annotations with which the node's plugin makes the same redirection as the flags. */
export function redirectionAnnotations(traffic: PodTraffic): Record<string, string> {
  const annotations: Record<string, string> = { [MODE]: traffic.mode };
  for (const [field, key] of Object.entries(TRAFFIC_ANNOTATIONS)) {
    annotations[key] = traffic[field as keyof typeof TRAFFIC_ANNOTATIONS];
  }
  const { statusPort } = traffic;
  // Without an agent on the usual port, the port may be the application's, and must be redirected.
  if (statusPort !== USUAL_STATUS_PORT) annotations[STATUS_PORT] = String(statusPort);
  // Other plugins do not read the annotation of the status port.
  const own = statusPort === 0 || statusPort === USUAL_STATUS_PORT ? [] : [String(statusPort)];
  annotations[TRAFFIC_ANNOTATIONS.inboundPortsExcluded] = withPorts(own, traffic.inboundPortsExcluded);
  if (traffic.virtualInterfaces !== "") annotations[VIRTUAL_INTERFACES[0]!] = traffic.virtualInterfaces;
  return annotations;
}

/** The values that `pilot-agent mesh-iptables` would refuse, one per line. */
function refusals(traffic: PodTraffic, annotations: Texts): string[] {
  const fixed = (value: string): Input => ({ name: "", value });
  const named = (field: keyof typeof TRAFFIC_ANNOTATIONS): Input => {
    const key = TRAFFIC_ANNOTATIONS[field];
    return {
      name: `${annotations[key] === undefined ? "the value behind annotation" : "annotation"} ${key}`,
      value: traffic[field],
    };
  };
  const inputs: RedirectionInputs = {
    ...{ proxyPort: fixed("15001"), inboundPort: fixed("15006"), tunnelPort: fixed("15008") },
    ...{ proxyUid: fixed("1337"), proxyGid: fixed("1337"), inboundMode: fixed("REDIRECT") },
    ...{ tproxyMark: fixed("1337"), tproxyTable: fixed("133"), groups: fixed("*"), groupsExcluded: fixed("") },
    inboundPorts: named("inboundPorts"),
    inboundPortsExcluded: named("inboundPortsExcluded"),
    outboundPorts: named("outboundPorts"),
    outboundPortsExcluded: named("outboundPortsExcluded"),
    outboundRanges: named("outboundRanges"),
    outboundRangesExcluded: named("outboundRangesExcluded"),
    interfacesExcluded: named("interfacesExcluded"),
    virtualInterfaces: { name: `annotation ${VIRTUAL_INTERFACES[0]}`, value: traffic.virtualInterfaces },
    ...{ loopback: fixed("127.0.0.1/32"), dnsAddress: fixed(""), proxyUser: "" },
    ...{ captureDns: false, captureAllDns: false, dropInvalid: false },
  };
  try {
    readInputs(inputs, { passwd: undefined, group: undefined, nameServers: [] });
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.problems.map((p) => `${p.name}: got ${JSON.stringify(p.value.slice(0, 120))}, expected ${p.expected}`);
  }
}
