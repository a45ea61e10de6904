/**
 * Flags of `install-cni`. Most flags pair with a variable of the same name. A given flag takes precedence.
 *
 * @module
 */
import { boolFlag, type FlagValues, intFlag, stringFlag } from "../../lib/cli/flag.ts";
import { logFlags, vklogFlag } from "../../lib/cli/log_flags.ts";
import { option, orNone } from "../../lib/cli/option.ts";
import { type Level, levels } from "../../lib/kernel/log/level.ts";

/** A label's name, or the name behind the domain, and a label's value. */
const LABEL_NAME = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const LABEL_DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function isLabelKey(key: string): boolean {
  const [name = "", domain, ...more] = key.split("/").reverse();
  return LABEL_NAME.test(name) && (domain === undefined || domain.length <= 253 && LABEL_DOMAIN.test(domain)) &&
    more.length === 0;
}

const upTo = (max: number, expected: string) => ({ good: (value: number) => value >= 0 && value <= max, expected });

const plugin = {
  "ambient-enabled": option(
    "ambientEnabled",
    boolFlag("run the ambient node agent; when not given, $AMBIENT_ENABLED"),
    { variable: "AMBIENT_ENABLED" },
  ),
  "chained-cni-plugin": option(
    "chainedPlugin",
    boolFlag(
      "add the plugin to the node's configuration instead of writing one of its own; when not given, $CHAINED_CNI_PLUGIN, which is true",
    ),
    { variable: "CHAINED_CNI_PLUGIN" },
  ),
  "cni-agent-run-dir": option(
    "agentRunDir",
    stringFlag("/var/run/mesh-cni", "folder of the node agent's sockets and files", {
      complete: "folder",
    }),
    {
      variable: "CNI_AGENT_RUN_DIR",
      check: {
        good: (path) => path.startsWith("/"),
        expected: "an absolute path, the same here and on the node",
      },
    },
  ),
  "cni-conf-name": option("confName", stringFlag("", "file of the network configuration; empty: the first valid one"), {
    variable: "CNI_CONF_NAME",
    read: orNone,
  }),
  "cni-network-config": option("networkConfig", stringFlag("", "template of the network configuration, as text"), {
    variable: "CNI_NETWORK_CONFIG",
    read: orNone,
  }),
  "cni-network-config-file": option(
    "networkConfigFile",
    stringFlag("", "template of the network configuration, as a file", { complete: "file" }),
    { variable: "CNI_NETWORK_CONFIG_FILE", read: orNone },
  ),
  "log-level": option(
    "pluginLogLevel",
    stringFlag("warn", "level of the plugin's log when its configuration names none"),
    {
      variable: "LOG_LEVEL",
      check: {
        good: (level) => levels.includes(level as Level),
        expected: `one of ${levels.join(", ")}`,
      },
    },
  ),
  "mounted-cni-net-dir": option(
    "mountedNetDir",
    stringFlag("/host/etc/cni/net.d", "folder, as seen here, of network configurations", {
      complete: "folder",
    }),
    { variable: "MOUNTED_CNI_NET_DIR" },
  ),
  "ztunnel-uds-address": option(
    "ztunnelSocket",
    stringFlag("/var/run/ztunnel/ztunnel.sock", "socket to which the node tunnel connects"),
    {
      variable: "ZTUNNEL_UDS_ADDRESS",
      check: { good: (path) => path.startsWith("/"), expected: "an absolute path" },
    },
  ),
  "monitoring-port": option("monitoringPort", intFlag("int", 15014, "port of metrics"), {
    variable: "MONITORING_PORT",
    check: upTo(65535, "a port from 0 to 65535"),
  }),
};

const orchestrator = {
  "orch-ca-file": option(
    "orchCaFile",
    stringFlag("", "CA in the written orchestrator config file; empty: the pod's", {
      complete: "file",
      also: ["kube-ca-file"],
    }),
    { variable: "ORCH_CA_FILE", read: orNone },
  ),
  "orchconfig-mode": option(
    "orchconfigMode",
    intFlag("int", 384, "mode of the written orchestrator config file (384 is octal 0600)", {
      also: ["kubeconfig-mode"],
    }),
    { variable: "ORCHCONFIG_MODE", check: upTo(0o7777, "a file mode from 0 to 07777") },
  ),
  "skip-tls-verify": option("skipTlsVerify", boolFlag("let the written orchestrator config not check certificates"), {
    variable: "SKIP_TLS_VERIFY",
  }),
};

/** Flags of the repair of broken pods. */
export const repairRows = {
  "repair-broken-pod-label-key": option(
    "labelKey",
    stringFlag("cni.mesh.io/uninitialized", "label key that marks broken pods"),
    { variable: "REPAIR_BROKEN_POD_LABEL_KEY", check: { good: isLabelKey, expected: "a label's key: [domain/]name" } },
  ),
  "repair-broken-pod-label-value": option("labelValue", stringFlag("true", "label value that marks broken pods"), {
    variable: "REPAIR_BROKEN_POD_LABEL_VALUE",
    check: {
      good: (value) => value === "" || LABEL_NAME.test(value),
      expected: "a label's value: at most 63 letters, digits, -, _ and ., the first and the last a letter or digit",
    },
  }),
  "repair-delete-pods": option("deletePods", boolFlag("delete broken pods"), { variable: "REPAIR_DELETE_PODS" }),
  "repair-enabled": option(
    "enabled",
    boolFlag("look for broken pods; when not given, $REPAIR_ENABLED, which is true"),
    { variable: "REPAIR_ENABLED" },
  ),
  "repair-field-selectors": option(
    "fieldSelectors",
    stringFlag("", "field selectors, field=value, comma separated, that limit that look"),
    { variable: "REPAIR_FIELD_SELECTORS" },
  ),
  "repair-init-container-exit-code": option(
    "initContainerExitCode",
    intFlag("int", 126, "exit code by which a broken pod's init container ends"),
    { variable: "REPAIR_INIT_CONTAINER_EXIT_CODE", check: upTo(255, "an exit code from 0 to 255") },
  ),
  "repair-init-container-name": option(
    "initContainerName",
    stringFlag("mesh-validation", "name of that init container"),
    { variable: "REPAIR_INIT_CONTAINER_NAME" },
  ),
  "repair-init-container-termination-message": option(
    "terminationMessage",
    stringFlag("", "message by which it ends; empty: any"),
    { variable: "REPAIR_INIT_CONTAINER_TERMINATION_MESSAGE", read: orNone },
  ),
  "repair-label-pods": option("labelPods", boolFlag("label broken pods"), { variable: "REPAIR_LABEL_PODS" }),
  "repair-label-selectors": option(
    "labelSelectors",
    stringFlag("", "label selectors, label=value, comma separated, that limit the look"),
    { variable: "REPAIR_LABEL_SELECTORS" },
  ),
  "repair-node-name": option("nodeName", stringFlag("", "look at this node's pods only; empty: all nodes"), {
    variable: "REPAIR_NODE_NAME",
    read: orNone,
  }),
  "repair-sidecar-annotation": option(
    "sidecarAnnotation",
    stringFlag("sidecar.mesh.io/status", "annotation that a pod must carry to be looked at"),
    { variable: "REPAIR_SIDECAR_ANNOTATION" },
  ),
};

/** Flags of the installation with their options. */
export const installRows = { ...plugin, ...orchestrator };

/** Flags of only the root command. */
export const installFlags = { ...installRows, ...repairRows };

/** Flags of the commands for one node: `doctor`, `uninstall`. */
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
  dial: stringFlag("", "only dial these addresses of a pod, by commas, as the node agent does for doctor"),
};

export type DoctorFlagValues = FlagValues<typeof doctorFlags>;

/** Flags of the socket process. */
export const zdsFlags = {
  "ztunnel-uds-address": plugin["ztunnel-uds-address"],
};

/** Flags of every command of the program. */
export const installGlobals = {
  ctrlz_address: stringFlag("localhost", "address of the introspection pages; * for all addresses"),
  ctrlz_port: intFlag("uint16", 9876, "port of the introspection pages"),
  ...logFlags("install-cni"),
  ...vklogFlag,
};

export type InstallFlagValues = FlagValues<typeof installFlags> & FlagValues<typeof installGlobals>;
