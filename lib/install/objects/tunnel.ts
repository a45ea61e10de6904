/**
 * The node tunnel of ambient mode on every node: Istio's ztunnel, whose image is the operator's choice.
 *
 * The names of variables, files and ports are those that the tunnel knows.
 *
 * @module
 */
import { fieldOf, NAMESPACE, ofSystem, TUNNEL } from "./names.ts";
import { given, type Node, noted, Spread, text, when } from "../template/node.ts";
import { value } from "../values/values.ts";

/** The node agent leaves pods with this label in the control plane's namespace alone. */
const LABELS = { app: TUNNEL };

/** Address of the default revision's servers: discovery and certificates. */
const SERVER = text`https://meshd.${NAMESPACE}.svc:15012`;

const CLUSTER = value("tunnel.clusterId");
const NETWORK = value("tunnel.network");
const GRACE = value("tunnel.terminationGracePeriodSeconds");

const METRICS = 15020;

/** Folders that the tunnel opens. */
const MOUNTS: readonly Node[] = [
  { name: "token", mountPath: "/var/run/secrets/tokens", readOnly: true },
  { name: "roots", mountPath: "/var/run/secrets/istio", readOnly: true },
  { name: "agent", mountPath: "/var/run/ztunnel" },
  { name: "tmp", mountPath: "/tmp" },
];

const ENV: readonly Node[] = [
  { name: "XDS_ADDRESS", value: SERVER },
  { name: "CA_ADDRESS", value: SERVER },
  { name: "CLUSTER_ID", value: CLUSTER },
  { name: "ISTIO_META_CLUSTER_ID", value: CLUSTER },
  when({ filled: NETWORK }, { name: "NETWORK", value: NETWORK }),
  when({ filled: NETWORK }, { name: "ISTIO_META_NETWORK", value: NETWORK }),
  { name: "INPOD_ENABLED", value: "true" },
  { name: "TERMINATION_GRACE_PERIOD_SECONDS", value: text`${GRACE}` },
  fieldOf("POD_NAME", "metadata.name"),
  fieldOf("POD_NAMESPACE", "metadata.namespace"),
  fieldOf("NODE_NAME", "spec.nodeName"),
  fieldOf("INSTANCE_IP", "status.podIP"),
  fieldOf("SERVICE_ACCOUNT", "spec.serviceAccountName"),
  new Spread(value("tunnel.env")),
];

const CONTAINER: Node = {
  name: "istio-proxy",
  image: text`${value("tunnel.image")}:${value("tunnel.tag")}`,
  imagePullPolicy: given(value("imagePullPolicy")),
  args: ["proxy", "ztunnel"],
  ports: [{ name: "http-monitoring", containerPort: METRICS }],
  readinessProbe: { httpGet: { path: "/healthz/ready", port: 15021 } },
  env: ENV,
  resources: value("tunnel.resources"),
  securityContext: noted("The tunnel opens its sockets in the network namespaces of the node's pods.", {
    privileged: false,
    // The API refuses `false` beside SYS_ADMIN.
    allowPrivilegeEscalation: true,
    capabilities: { drop: ["ALL"], add: ["NET_ADMIN", "SYS_ADMIN", "NET_RAW"] },
    readOnlyRootFilesystem: true,
    runAsNonRoot: false,
    runAsUser: 0,
    runAsGroup: 1337,
  }),
  volumeMounts: MOUNTS,
};

const VOLUMES: readonly Node[] = [
  {
    name: "token",
    projected: {
      sources: [{ serviceAccountToken: { audience: "istio-ca", expirationSeconds: 43200, path: "istio-token" } }],
    },
  },
  noted("The servers write this config map. Until then the pod waits.", {
    name: "roots",
    configMap: { name: "mesh-ca-root-cert" },
  }),
  noted("The node agent listens here.", {
    name: "agent",
    hostPath: { path: "/var/run/ztunnel", type: "DirectoryOrCreate" },
  }),
  { name: "tmp", emptyDir: {} },
];

const DAEMON_SET: Node = {
  ...{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: ofSystem(TUNNEL, LABELS) },
  spec: {
    selector: { matchLabels: LABELS },
    updateStrategy: noted("The next tunnel of a node starts before the old one ends.", {
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    }),
    template: {
      metadata: {
        labels: { ...LABELS, "sidecar.mesh.io/inject": "false", "mesh.io/dataplane-mode": "none" },
        annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": String(METRICS) },
      },
      spec: {
        serviceAccountName: TUNNEL,
        imagePullSecrets: given(value("imagePullSecrets")),
        nodeSelector: { "kubernetes.io/os": "linux" },
        priorityClassName: "system-node-critical",
        tolerations: [{ operator: "Exists" }],
        terminationGracePeriodSeconds: GRACE,
        containers: [CONTAINER],
        volumes: VOLUMES,
      },
    },
  },
};

/** The tunnel's account and its pods. The account has no rights at the API. */
export const NODE_TUNNEL: readonly Node[] = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: ofSystem(TUNNEL) },
  DAEMON_SET,
];
