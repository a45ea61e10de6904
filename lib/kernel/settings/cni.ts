/**
 * Variables that only install-cni reads. Most variables pair with a flag, and a given flag wins.
 *
 * @module
 */
import { bool, int, str } from "./define.ts";

/** Variables of `install-cni`. */
export const cniSettings = {
  AMBIENT_ENABLED: bool("C", false, "Run the ambient node agent."),
  AMBIENT_USE_SCOPED_XTABLES_LOCKING: bool("C", true, "Take the xtables lock per pod instead of per node."),
  CHAINED_CNI_PLUGIN: bool("C", true, "Add the plugin to the node's configuration; off: write one of its own."),
  CNI_AGENT_RUN_DIR: str("C", "/var/run/mesh-cni", "Folder of the node agent's sockets and files."),
  CNI_CONF_NAME: str("C", "", "File of the network configuration; empty: the first valid one."),
  CNI_NETWORK_CONFIG: str("C", "", "Template of the network configuration, as text."),
  CNI_NETWORK_CONFIG_FILE: str("C", "", "Template of the network configuration, as a file."),
  HOST_PROBE_SNAT_IP: str("C", "169.254.7.127", "Source address that marks probes of the node itself."),
  HOST_PROBE_SNAT_IPV6: str("C", "fd16:9254:7127:1337:ffff:ffff:ffff:ffff", "The same for IPv6."),
  ORCHCONFIG_MODE: int("C", 384, "Mode of the written orchestrator config file (384 is octal 0600).", {
    mode: true,
    min: 0,
    max: 0o7777,
  }),
  ORCH_CA_FILE: str("C", "", "CA in the written orchestrator config file; empty: the pod's."),
  LOG_LEVEL: str("C", "warn", "Level of the plugin's log when its configuration names none."),
  MONITORING_PORT: int("C", 15014, "Port of metrics.", { min: 0, max: 65535 }),
  MOUNTED_CNI_NET_DIR: str("C", "/host/etc/cni/net.d", "Folder, as seen by the installer, of network configurations."),
  NODE_NAME: str("C", "", "Node on which the installer runs."),
  REPAIR_BROKEN_POD_LABEL_KEY: str("C", "cni.mesh.io/uninitialized", "Label key that marks broken pods."),
  REPAIR_BROKEN_POD_LABEL_VALUE: str("C", "true", "Label value that marks broken pods."),
  REPAIR_DELETE_PODS: bool("C", false, "Delete broken pods."),
  REPAIR_ENABLED: bool("C", true, "Look for broken pods."),
  REPAIR_FIELD_SELECTORS: str("C", "", "Field selectors (`field=value`, comma separated) that limit that look."),
  REPAIR_INIT_CONTAINER_EXIT_CODE: int("C", 126, "Exit code by which a broken pod's init container ends.", {
    min: 0,
    max: 255,
  }),
  REPAIR_INIT_CONTAINER_NAME: str("C", "mesh-validation", "Name of that init container."),
  REPAIR_INIT_CONTAINER_TERMINATION_MESSAGE: str("C", "", "Message by which it ends; empty: any."),
  REPAIR_LABEL_PODS: bool("C", false, "Label broken pods."),
  REPAIR_LABEL_SELECTORS: str("C", "", "Label selectors (`label=value`, comma separated) that limit the look."),
  REPAIR_NODE_NAME: str("C", "", "Look at this node's pods only; empty: all nodes."),
  REPAIR_SIDECAR_ANNOTATION: str("C", "sidecar.mesh.io/status", "Annotation that a pod must carry to be looked at."),
  SKIP_TLS_VERIFY: bool("C", false, "The written orchestrator config does not check certificates."),
  SYSTEM_NAMESPACE: str("C", "mesh-system", "Namespace of the mesh's own parts."),
  ZTUNNEL_UDS_ADDRESS: str("C", "/var/run/ztunnel/ztunnel.sock", "Socket to which the node tunnel connects."),
};
