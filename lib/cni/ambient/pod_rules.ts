/**
 * From a pod's annotations to the rules in its network namespace. A wrong annotation is told and changes nothing: the
 * pod is captured as without it. Pure.
 *
 * @module
 */
import type { AmbientConfig } from "../../iptables/model/ambient_config.ts";
import { families, type Family } from "../../iptables/model/names.ts";
import type { WantedRules } from "../plugin/redirector.ts";
import type { Pod } from "../pods/pod.ts";
import { spellings } from "../enrolment/label_selector.ts";

/** The node's part of the rules. */
export interface NodeRules {
  /** Source address of the node's own probes (HOST_PROBE_SNAT_IP, HOST_PROBE_SNAT_IPV6). */
  readonly probeSource: Readonly<Record<Family, string>>;
  /** DNS goes to the tunnel unless the pod says otherwise (AMBIENT_DNS_CAPTURE). */
  readonly capturesDns: boolean;
  /** IPv6 has rules too (AMBIENT_IPV6). */
  readonly ipv6: boolean;
}

/** The rules of a pod, with remarks about its annotations. */
export interface PodRules extends WantedRules {
  readonly config: AmbientConfig;
  readonly warnings: readonly string[];
}

/** Annotation: the pod takes connections from outside of the mesh itself. */
const BYPASS_INBOUND = "ambient.istio.io/bypass-inbound-capture";
const DNS_CAPTURE = "ambient.istio.io/dns-capture";
const VIRTUAL_INTERFACES = "istio.io/reroute-virtual-interfaces";

/** Names of the kernel's devices. `+` at the end stands for any rest. */
const DEVICE = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,14}\+?$/;

/** The spellings of true and false. */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true])),
  ...Object.fromEntries(["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false])),
};

/** The wanted rules of a pod. */
export function podRules({ annotations }: Pick<Pod, "annotations">, node: NodeRules): PodRules {
  const warnings: string[] = [];
  const valueOf = (name: string) => {
    const key = spellings(name).find((one) => Object.hasOwn(annotations, one));
    return key === undefined ? undefined : { key, value: annotations[key] ?? "" };
  };
  const refuse = (key: string, value: string, expected: string) =>
    warnings.push(`annotation ${key}: got ${JSON.stringify(value.slice(0, 100))}, expected ${expected}; it is ignored`);
  const boolean = (name: string, otherwise: boolean) => {
    const found = valueOf(name);
    if (found === undefined) return otherwise;
    const read = Object.hasOwn(BOOLEANS, found.value) ? BOOLEANS[found.value] : undefined;
    if (read === undefined) refuse(found.key, found.value, "true or false");
    return read ?? otherwise;
  };
  const devices = () => {
    const found = valueOf(VIRTUAL_INTERFACES);
    const names = (found?.value ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
    const good = names.filter((name) => DEVICE.test(name));
    if (found !== undefined && good.length < names.length) {
      refuse(found.key, found.value, "names of devices, by commas");
    }
    return good;
  };
  const config: AmbientConfig = {
    kind: "ambient",
    families: node.ipv6 ? families : [4],
    probeSource: node.probeSource,
    capturesInbound: !boolean(BYPASS_INBOUND, false),
    capturesDns: boolean(DNS_CAPTURE, node.capturesDns),
    virtualInterfaces: devices(),
  };
  return { config, dualStack: false, warnings };
}

/** What rules send to the tunnel, for people. */
export function rulesText({ config }: Pick<PodRules, "config">): string {
  const { capturesInbound, capturesDns, families: own, virtualInterfaces } = config;
  const captured = ["outbound", ...capturesInbound ? ["inbound"] : [], ...capturesDns ? ["DNS"] : []].join(", ");
  const devices = virtualInterfaces.length === 0 ? "" : `, also of ${virtualInterfaces.join(", ")}`;
  return `${captured} to the tunnel, ${own.map((family) => `IPv${family}`).join(" and ")}${devices}`;
}
