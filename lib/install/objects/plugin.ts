/**
 * The node's plugin: the account, the rights and the installer on every node.
 *
 * @module
 */
import { AMBIENT, fieldOf, granted, ofSystem } from "./names.ts";
import { given, type Node, noted, Spread, text, when } from "../template/node.ts";
import { value } from "../values/values.ts";
import { rule } from "./rights.ts";

/** Variables of the node agent of ambient mode. */
const AGENT_ENV: readonly Node[] = [
  { name: "AMBIENT_ENABLED", value: "true" },
  { name: "AMBIENT_DNS_CAPTURE", value: when({ filled: value("ambient.dnsCapture") }, "true", "false") },
  { name: "AMBIENT_IPV6", value: when({ filled: value("ambient.ipv6") }, "true", "false") },
];

const LABELS = { "k8s-app": "mesh-cni-node" };

export const PLUGIN_RIGHTS: readonly Node[] = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: ofSystem("mesh-cni") },
  ...granted("ClusterRole", "mesh-cni", "mesh-cni", [
    noted(
      "The plugin reads the starting pod. The repair watches the pods of the node.",
      rule([""], ["pods"], ["get", "list", "watch", "delete"]),
    ),
    rule([""], ["pods/status"], ["patch"]),
    rule([""], ["namespaces"], ["get"]),
    when(
      AMBIENT,
      noted(
        "The labels of namespaces say which pods are in ambient mode.",
        rule([""], ["namespaces"], ["list", "watch"]),
      ),
    ),
    rule([""], ["events"], ["create"]),
  ]),
  ...granted("Role", "mesh-cni", "mesh-cni", [
    noted(
      "An ending installer looks whether its DaemonSet stays. If not, the installer removes the plugin.",
      rule(["apps"], ["daemonsets"], ["get"]),
    ),
  ]),
];

const CONTAINER: Node = {
  name: "install-cni",
  image: text`${value("hub")}/install-cni:${value("tag")}`,
  imagePullPolicy: given(value("imagePullPolicy")),
  ports: [
    { name: "readyz", containerPort: 8000 },
    { name: "http-monitoring", containerPort: 15014 },
  ],
  readinessProbe: { httpGet: { path: "/readyz", port: 8000 }, periodSeconds: 5 },
  env: [
    fieldOf("POD_NAME", "metadata.name"),
    fieldOf("POD_NAMESPACE", "metadata.namespace"),
    fieldOf("NODE_NAME", "spec.nodeName"),
    { name: "CHAINED_CNI_PLUGIN", value: "true" },
    ...AGENT_ENV.map((variable) => when(AMBIENT, variable)),
    when({ all: [AMBIENT, { filled: value("ambient.enablementSelector") }] }, {
      ...{ name: "AMBIENT_ENABLEMENT_SELECTOR", value: value("ambient.enablementSelector") },
    }),
    { name: "REPAIR_ENABLED", value: "true" },
    { name: "REPAIR_DELETE_PODS", value: "true" },
    fieldOf("REPAIR_NODE_NAME", "spec.nodeName"),
    new Spread(value("plugin.env")),
  ],
  resources: value("plugin.resources"),
  securityContext: noted("The installer enters the network namespaces of pods and writes to the node's file system.", {
    privileged: true,
    runAsUser: 0,
    runAsGroup: 0,
    runAsNonRoot: false,
  }),
  volumeMounts: [
    { name: "cni-bin-dir", mountPath: "/host/opt/cni/bin" },
    { name: "cni-net-dir", mountPath: "/host/etc/cni/net.d" },
    { name: "cni-socket-dir", mountPath: "/var/run/mesh-cni" },
    { name: "host-proc", mountPath: "/host/proc", readOnly: true },
    { name: "cni-netns-dir", mountPath: "/var/run/netns", mountPropagation: "HostToContainer" },
    when(AMBIENT, { name: "ztunnel-socket-dir", mountPath: "/var/run/ztunnel" }),
  ],
};

export const PLUGIN_DAEMON_SET: Node = {
  ...{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: ofSystem("mesh-cni-node", LABELS) },
  spec: {
    selector: { matchLabels: LABELS },
    updateStrategy: { rollingUpdate: { maxUnavailable: 1 } },
    template: {
      metadata: {
        labels: { ...LABELS, "sidecar.mesh.io/inject": "false", "mesh.io/dataplane-mode": "none" },
        annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "15014" },
      },
      spec: {
        serviceAccountName: "mesh-cni",
        imagePullSecrets: given(value("imagePullSecrets")),
        hostNetwork: true,
        nodeSelector: { "kubernetes.io/os": "linux" },
        priorityClassName: "system-node-critical",
        tolerations: [{ operator: "Exists" }],
        terminationGracePeriodSeconds: 5,
        containers: [CONTAINER],
        volumes: [
          { name: "cni-bin-dir", hostPath: { path: value("plugin.cniBinDir") } },
          { name: "cni-net-dir", hostPath: { path: value("plugin.cniConfDir") } },
          { name: "cni-socket-dir", hostPath: { path: "/var/run/mesh-cni", type: "DirectoryOrCreate" } },
          { name: "host-proc", hostPath: { path: "/proc", type: "Directory" } },
          { name: "cni-netns-dir", hostPath: { path: "/var/run/netns", type: "DirectoryOrCreate" } },
          when(AMBIENT, {
            name: "ztunnel-socket-dir",
            hostPath: { path: "/var/run/ztunnel", type: "DirectoryOrCreate" },
          }),
        ],
      },
    },
  },
};
