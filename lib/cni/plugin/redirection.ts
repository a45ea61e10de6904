/**
 * From a pod's annotations and the proxy's variables to a configuration of redirection. Every text is read by its type.
 * A wrong text is refused by name, and no text of a user reaches a rule.
 *
 * @module
 */
import type { RedirectionConfig } from "../../iptables/model/config.ts";
import { type Input, InputError, readInputs } from "../../iptables/input.ts";
import type { Container, Pod } from "../pods/pod.ts";
import { isTrue, modeKeys } from "./decide.ts";
import { CniError, codes } from "./protocol.ts";

/** The redirection of a pod. */
export interface PodRedirection {
  readonly config: RedirectionConfig;
  readonly dualStack: boolean;
  /** Remarks for people that are not mistakes. */
  readonly warnings: readonly string[];
}

/** Default port of merged metrics and health. */
const USUAL_STATUS_PORT = "15020";

/** The proxy's own ports for other machines: readiness, and the proxy's metrics. */
const PROXY_PORTS = "15021,15090";

/** Spellings of annotations, ours first. */
const spellings = {
  mode: modeKeys,
  statusPort: ["status.sidecar.mesh.io/port", "status.sidecar.istio.io/port"],
  inboundPorts: traffic("includeInboundPorts"),
  inboundPortsExcluded: traffic("excludeInboundPorts"),
  outboundPorts: traffic("includeOutboundPorts"),
  outboundPortsExcluded: traffic("excludeOutboundPorts"),
  outboundRanges: traffic("includeOutboundIPRanges"),
  outboundRangesExcluded: traffic("excludeOutboundIPRanges"),
  interfacesExcluded: traffic("excludeInterfaces"),
  virtualInterfaces: [
    "mesh.io/reroute-virtual-interfaces",
    "istio.io/reroute-virtual-interfaces",
    ...traffic("kubevirtInterfaces"),
  ],
} as const;

function traffic(key: string): string[] {
  return [`traffic.sidecar.mesh.io/${key}`, `traffic.sidecar.istio.io/${key}`];
}

/**
 * The redirection of a pod.
 * @throws {CniError} Code 100, with every wrong annotation or variable, its value, and the expectation.
 */
export function podRedirection(pod: Pod, proxy: Container): PodRedirection {
  const at = (keys: readonly string[], otherwise: string): Input => {
    const key = keys.find((name) => Object.hasOwn(pod.annotations, name));
    return key === undefined
      ? { name: keys[0] ?? "", value: otherwise }
      : { name: `annotation ${key}`, value: pod.annotations[key] ?? "" };
  };
  const fixed = (name: string, value: string): Input => ({ name, value });
  const owner = (name: string, id: number | undefined) => fixed(name, String(id === undefined || id === 0 ? 1337 : id));
  const ofProxy = (name: string, otherwise: string) =>
    fixed(`MESH_${name} of container ${proxy.name}`, envOf(proxy, name) ?? otherwise);
  const inboundExcluded = at(spellings.inboundPortsExcluded, "");
  const status = at(spellings.statusPort, USUAL_STATUS_PORT);
  const wrong = isPortOrNone(status.value) ? [] : [{ ...status, expected: "a port number, or 0 for none" }];
  const dns = isTrue(envOf(proxy, "META_DNS_CAPTURE"));
  try {
    const { config, warnings } = readInputs({
      proxyPort: fixed("proxy port", "15001"),
      inboundPort: fixed("inbound port", "15006"),
      tunnelPort: fixed("tunnel port", "15008"),
      proxyUid: owner(`user of container ${proxy.name}`, proxy.runAsUser),
      proxyGid: owner(`group of container ${proxy.name}`, proxy.runAsGroup),
      inboundMode: at(spellings.mode, "REDIRECT"),
      tproxyMark: fixed("mark", "1337"),
      tproxyTable: fixed("routing table", "133"),
      inboundPorts: at(spellings.inboundPorts, "*"),
      inboundPortsExcluded: { ...inboundExcluded, value: withAgentPorts(inboundExcluded.value, status.value) },
      outboundPorts: at(spellings.outboundPorts, ""),
      outboundPortsExcluded: at(spellings.outboundPortsExcluded, USUAL_STATUS_PORT),
      outboundRanges: at(spellings.outboundRanges, "*"),
      outboundRangesExcluded: at(spellings.outboundRangesExcluded, ""),
      interfacesExcluded: at(spellings.interfacesExcluded, ""),
      virtualInterfaces: at(spellings.virtualInterfaces, ""),
      groups: ofProxy("OUTBOUND_OWNER_GROUPS", "*"),
      groupsExcluded: ofProxy("OUTBOUND_OWNER_GROUPS_EXCLUDE", ""),
      loopback: fixed("loopback range", envOf(proxy, "OUTBOUND_IPV4_LOOPBACK_CIDR") ?? "127.0.0.1/32"),
      proxyUser: "",
      dnsAddress: fixed(`DNS_PROXY_ADDR of container ${proxy.name}`, proxy.env["DNS_PROXY_ADDR"] ?? ""),
      captureDns: dns,
      // The pod's own resolv.conf cannot be seen from here, so all DNS is taken.
      captureAllDns: dns,
      dropInvalid: isTrue(proxy.env["INVALID_DROP"]),
    }, { passwd: undefined, group: undefined, nameServers: [] });
    if (wrong.length > 0) throw new InputError(wrong);
    return { config, dualStack: isTrue(envOf(proxy, "DUAL_STACK")), warnings };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const said = [...new Set([...wrong, ...error.problems])].map((p) =>
      `${p.name}: got ${shown(p.value)}, expected ${p.expected}`
    );
    throw new CniError(codes.annotation, "the pod asks for redirection that cannot be", said.join("; "));
  }
}

/** An empty text says nothing, as for injection. */
function isPortOrNone(text: string): boolean {
  return text === "" || (/^\d{1,5}$/.test(text) && Number(text) <= 65535);
}

/** `*` excludes everything already; else the agent's own ports are never redirected. An agent may have no status port. */
function withAgentPorts(ports: string, status: string): string {
  const own = Number(status || USUAL_STATUS_PORT);
  return [ports.trim(), own === 0 ? "" : String(own), PROXY_PORTS].filter((text) => text !== "").join(",");
}

/** A variable of the proxy in either spelling. */
function envOf(proxy: Container, name: string): string | undefined {
  return proxy.env[`MESH_${name}`] ?? proxy.env[`ISTIO_${name}`];
}

/** A hostile value must neither flood an error nor break its line. */
function shown(value: string): string {
  return JSON.stringify(value.length > 120 ? `${value.slice(0, 120)}...` : value);
}
