/**
 * Flags of `pilot-agent mesh-iptables`. Each flag pairs with a variable: the flag's name in capitals, dashes as
 * underscores.
 *
 * @module
 */
import { boolFlag, durationFlag, type FlagExtras, type FlagValues, intFlag, stringFlag } from "../../lib/cli/flag.ts";

/** Extras of a flag with a paired variable. `more` variables take precedence over the paired variable. */
function paired(name: string, extras: FlagExtras = {}, ...more: string[]): FlagExtras {
  return { ...extras, env: [name.toUpperCase().replaceAll("-", "_"), ...more] };
}

const ports = {
  "proxy-port": stringFlag("15001", "port that receives redirected outbound TCP", { short: "p", also: ["envoy-port"] }),
  "inbound-capture-port": stringFlag(
    "15006",
    "port that receives redirected inbound TCP",
    paired("inbound-capture-port", { short: "z" }),
  ),
  "inbound-tunnel-port": stringFlag("15008", "port of inbound tunnels", paired("inbound-tunnel-port", { short: "e" })),
  "iptables-probe-port": intFlag(
    "uint16",
    15002,
    "port on which the check of the rules listens",
    paired("iptables-probe-port"),
  ),
};

const inbound = {
  "mesh-exclude-interfaces": stringFlag(
    "",
    "network interfaces, comma separated, whose traffic is left alone",
    paired("mesh-exclude-interfaces", { short: "c", also: ["istio-exclude-interfaces"] }),
  ),
  "mesh-inbound-interception-mode": stringFlag(
    "",
    "how inbound connections reach the proxy: REDIRECT or TPROXY",
    paired("mesh-inbound-interception-mode", {
      short: "m",
      allowed: ["REDIRECT", "TPROXY"],
      also: ["istio-inbound-interception-mode"],
    }),
  ),
  "mesh-inbound-ports": stringFlag(
    "",
    "inbound ports, comma separated, that are redirected; * for all, empty for none",
    paired("mesh-inbound-ports", { short: "b", also: ["istio-inbound-ports"] }),
  ),
  "mesh-inbound-tproxy-mark": stringFlag(
    "1337",
    "packet mark of connections taken by TPROXY",
    paired("mesh-inbound-tproxy-mark", { short: "t", also: ["istio-inbound-tproxy-mark"] }),
  ),
  "mesh-inbound-tproxy-route-table": stringFlag(
    "133",
    "routing table of such connections",
    paired("mesh-inbound-tproxy-route-table", { short: "r", also: ["istio-inbound-tproxy-route-table"] }),
  ),
  "mesh-local-exclude-ports": stringFlag(
    "",
    "inbound ports, comma separated, that are left alone when all are redirected",
    paired("mesh-local-exclude-ports", { short: "d", also: ["istio-local-exclude-ports"] }),
  ),
  "orch-virt-interfaces": stringFlag(
    "",
    "virtual interfaces, comma separated, whose inbound traffic (of a virtual machine) counts as outbound",
    paired("orch-virt-interfaces", { short: "k", also: ["kube-virt-interfaces"] }),
  ),
};

const outbound = {
  "mesh-local-outbound-ports-exclude": stringFlag(
    "",
    "outbound ports, comma separated, that are left alone",
    paired("mesh-local-outbound-ports-exclude", { short: "o", also: ["istio-local-outbound-ports-exclude"] }),
  ),
  "mesh-outbound-ports": stringFlag(
    "",
    "outbound ports, comma separated, that are redirected for every address",
    paired("mesh-outbound-ports", { short: "q", also: ["istio-outbound-ports"] }),
  ),
  "mesh-service-cidr": stringFlag(
    "",
    "address ranges, comma separated, to which traffic is redirected; * for all, empty for none",
    paired("mesh-service-cidr", { short: "i", also: ["istio-service-cidr"] }),
  ),
  "mesh-service-exclude-cidr": stringFlag(
    "",
    "address ranges, comma separated, that are left alone when all are redirected",
    paired("mesh-service-exclude-cidr", { short: "x", also: ["istio-service-exclude-cidr"] }),
  ),
  "proxy-gid": stringFlag(
    "",
    "group whose traffic is not redirected; default as for --proxy-uid",
    paired("proxy-gid", { short: "g" }),
  ),
  "proxy-uid": stringFlag(
    "",
    "user whose traffic is not redirected: the proxy's; default the user $PROXY_USER, else 1337",
    paired("proxy-uid", { short: "u" }),
  ),
  "capture-all-dns": boolFlag(
    "redirect all DNS, not only that to the configured servers; with --redirect-dns",
    paired("capture-all-dns"),
  ),
  "redirect-dns": boolFlag("redirect DNS to the agent", paired("redirect-dns", {}, "MESH_META_DNS_CAPTURE")),
};

const working = {
  "cleanup-only": boolFlag("take rules away and make none", paired("cleanup-only")),
  "cni-mode": boolFlag("run as the node plugin does", paired("cni-mode")),
  "drop-invalid": boolFlag("drop packets of unknown connections", paired("drop-invalid", {}, "INVALID_DROP")),
  "dry-run": boolFlag("say what would be done and do nothing", paired("dry-run", { short: "n" })),
  "dual-stack": boolFlag("redirect IPv4 and IPv6", paired("dual-stack", {}, "MESH_DUAL_STACK")),
  "force-apply": boolFlag("apply even when nothing seems to differ", paired("force-apply")),
  "network-namespace": stringFlag("", "network namespace to which the rules apply", paired("network-namespace")),
  "probe-timeout": durationFlag("5s", "time for the check of the rules", paired("probe-timeout")),
  reconcile: boolFlag("replace rules that differ, instead of failing", paired("reconcile")),
  "run-validation": boolFlag("check that the rules work", paired("run-validation")),
  "skip-rule-apply": boolFlag("apply nothing", paired("skip-rule-apply")),
};

/** The command's own flags. */
export const iptablesFlags = { ...ports, ...inbound, ...outbound, ...working };

/** Values of the command's flags. */
export type IptablesFlagValues = FlagValues<typeof iptablesFlags>;
