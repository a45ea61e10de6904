/**
 * Flags of `install-cni`. Most pair with a variable of the same name; the flag wins when it is given.
 *
 * @module
 */
import { boolFlag, type FlagValues, intFlag, stringFlag } from "../../lib/cli/flag.ts";
import { logFlags, vklogFlag } from "../../lib/cli/log_flags.ts";

const plugin = {
  "ambient-enabled": boolFlag("run the ambient node agent; when not given, $AMBIENT_ENABLED"),
  "chained-cni-plugin": boolFlag(
    "add the plugin to the node's configuration instead of writing one of its own; when not given, $CHAINED_CNI_PLUGIN, which is true",
  ),
  "cni-agent-run-dir": stringFlag("/var/run/mesh-cni", "folder of the node agent's sockets and files", {
    complete: "folder",
  }),
  "cni-conf-name": stringFlag("", "file of the network configuration; empty: the first valid one"),
  "cni-network-config": stringFlag("", "template of the network configuration, as text"),
  "cni-network-config-file": stringFlag("", "template of the network configuration, as a file", { complete: "file" }),
  "log-level": stringFlag("warn", "level of the plugin's log when its configuration names none"),
  "mounted-cni-net-dir": stringFlag("/host/etc/cni/net.d", "folder, as seen here, of network configurations", {
    complete: "folder",
  }),
  "ztunnel-uds-address": stringFlag("/var/run/ztunnel/ztunnel.sock", "socket to which the node tunnel connects"),
  "monitoring-port": intFlag("int", 15014, "port of metrics"),
};

const orchestrator = {
  "orch-ca-file": stringFlag("", "CA in the written orchestrator config file; empty: the pod's", {
    complete: "file",
    also: ["kube-ca-file"],
  }),
  "orchconfig-mode": intFlag("int", 384, "mode of the written orchestrator config file (384 is octal 0600)", {
    also: ["kubeconfig-mode"],
  }),
  "skip-tls-verify": boolFlag("let the written orchestrator config not check certificates"),
};

const repair = {
  "repair-broken-pod-label-key": stringFlag("cni.mesh.io/uninitialized", "label key that marks broken pods"),
  "repair-broken-pod-label-value": stringFlag("true", "label value that marks broken pods"),
  "repair-delete-pods": boolFlag("delete broken pods"),
  "repair-enabled": boolFlag("look for broken pods; when not given, $REPAIR_ENABLED, which is true"),
  "repair-field-selectors": stringFlag("", "field selectors, field=value, comma separated, that limit that look"),
  "repair-init-container-exit-code": intFlag("int", 126, "exit code by which a broken pod's init container ends"),
  "repair-init-container-name": stringFlag("mesh-validation", "name of that init container"),
  "repair-init-container-termination-message": stringFlag("", "message by which it ends; empty: any"),
  "repair-label-pods": boolFlag("label broken pods"),
  "repair-label-selectors": stringFlag("", "label selectors, label=value, comma separated, that limit the look"),
  "repair-node-name": stringFlag("", "look at this node's pods only; empty: all nodes"),
  "repair-sidecar-annotation": stringFlag("sidecar.mesh.io/status", "annotation that a pod must carry to be looked at"),
};

/** Flags of the root command alone. */
export const installFlags = { ...plugin, ...orchestrator, ...repair };

/** Flags of the commands that look at one node: `doctor`, `uninstall`. */
export const nodeFlags = {
  "cni-agent-run-dir": plugin["cni-agent-run-dir"],
  "mounted-cni-net-dir": plugin["mounted-cni-net-dir"],
  output: stringFlag("", "json: the findings, for programs", { short: "o", allowed: ["", "json"] }),
};

export type NodeFlagValues = FlagValues<typeof nodeFlags>;

export const doctorFlags = {
  ...nodeFlags,
  "probe-here": boolFlag(
    "only dial through the redirection of this network namespace, as doctor does in a scratch one",
  ),
};

export type DoctorFlagValues = FlagValues<typeof doctorFlags>;

/** Flags of every command of the program. */
export const installGlobals = {
  ctrlz_address: stringFlag("localhost", "address of the introspection pages; * for all addresses"),
  ctrlz_port: intFlag("uint16", 9876, "port of the introspection pages"),
  ...logFlags("install-cni"),
  ...vklogFlag,
};

/** Values of all of them. */
export type InstallFlagValues = FlagValues<typeof installFlags> & FlagValues<typeof installGlobals>;
