/**
 * The server: configuration, service, pods, and the objects for the protection of the pods.
 *
 * @module
 */
import {
  AMBIENT,
  DEPLOYS_GATEWAYS,
  fieldOf,
  IS_CANARY,
  MAKES_CLASSES,
  NAMESPACE,
  ofSystem,
  revised,
  REVISION,
  SERVER_LABELS,
  TUNNEL,
} from "./names.ts";
import { given, MergedNode, type Node, not, noted, Spread, text, when, YamlText } from "../template/node.ts";
import { value } from "../values/values.ts";

const NAME = revised("meshd");

/** Metadata of most objects of the server. */
const HEAD = ofSystem(NAME, SERVER_LABELS);

/** The priority class of the servers. All revisions share the class. */
export const PRIORITY_CLASS: Node = noted(
  "A node short of resources evicts other pods before the servers. The servers never displace running pods: during a rollout the new servers wait for room. system-cluster-critical would displace pods, and some clusters admit that class in kube-system alone.",
  {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: "mesh-control-plane" },
    value: 1_000_000_000,
    preemptionPolicy: "Never",
    description: "Servers of the mesh's control plane.",
  },
);

/** The mesh configuration and the configuration of the injector. */
export const CONFIGURATION: readonly Node[] = [
  {
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: ofSystem(revised("mesh")) },
    data: {
      mesh: noted(
        "Settings of the whole mesh; a change is in force without a restart.",
        new YamlText(
          new MergedNode([
            // The default address is the service of the default revision.
            when(IS_CANARY, { defaultConfig: { discoveryAddress: text`${NAME}.${NAMESPACE}.svc:15012` } }, {}),
            // Node tunnels reach a sidecar with the mode STRICT only if the sidecar takes HBONE.
            when(AMBIENT, { defaultConfig: { proxyMetadata: { MESH_META_ENABLE_HBONE: "true" } } }, {}),
            value("meshConfig"),
          ]),
        ),
      ),
      meshNetworks: new YamlText(value("meshNetworks")),
    },
  },
  noted("What injection adds to pods (docs/users/injection.md). Without this config map, pods get the same defaults.", {
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: ofSystem(revised("mesh-sidecar-injector")) },
    data: {
      config: new YamlText(value("injector.config")),
      values: new YamlText(
        new MergedNode([
          { global: { hub: value("hub"), tag: value("tag") } },
          when({ filled: value("plugin.enabled") }, { pilot: { cni: { enabled: true } } }, {}),
          value("injector.values"),
        ]),
      ),
    },
  }),
];

export const SERVICE: Node = {
  ...{ apiVersion: "v1", kind: "Service", metadata: HEAD },
  spec: {
    selector: SERVER_LABELS,
    ports: [
      { name: "grpc-xds", port: 15010 },
      { name: "https-dns", port: 15012 },
      { name: "https-webhook", port: 15017 },
      { name: "http-monitoring", port: 15014 },
    ],
  },
};

/** The objects that keep servers running, and the network policy that keeps callers away from the debug pages. */
export const PROTECTION: readonly Node[] = [
  when({ filled: value("meshd.minAvailable") }, {
    ...{ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: ofSystem(NAME) },
    spec: { minAvailable: value("meshd.minAvailable"), selector: { matchLabels: SERVER_LABELS } },
  }),
  when({ filled: value("meshd.autoscaling") }, {
    ...{ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata: ofSystem(NAME) },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: NAME },
      minReplicas: value("meshd.minReplicas"),
      maxReplicas: value("meshd.maxReplicas"),
      metrics: [{
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: value("meshd.targetCpu") } },
      }],
    },
  }),
  when(
    { filled: value("networkPolicy") },
    noted("Who may connect to the servers. A network plugin without policies ignores this.", {
      ...{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: ofSystem(NAME) },
      spec: {
        podSelector: { matchLabels: SERVER_LABELS },
        policyTypes: ["Ingress"],
        ingress: [
          noted(
            "Callers that a selector cannot name: the API (15017), machines and other clusters (15012), and readers of metrics (15014; pages on this port need a proven identity).",
            { ports: [{ port: 15012 }, { port: 15014 }, { port: 15017 }] },
          ),
          noted("Discovery in plain text: pods of the cluster.", {
            ports: [{ port: 15010 }],
            from: [{ namespaceSelector: {} }],
          }),
          noted("Debug pages: pods of this namespace. Probes of the kubelet come from the node, and always pass.", {
            ports: [{ port: 8080 }],
            from: [{ podSelector: {} }],
          }),
        ],
      },
    }),
  ),
];

/** Accounts of other tunnels, such as those of another control plane. */
const FURTHER_TUNNELS = when(
  { filled: value("ambient.trustedNodeAccounts") },
  text`,${value("ambient.trustedNodeAccounts")}`,
);

/** Variables of the server. */
const ENV: readonly Node[] = [
  { name: "REVISION", value: REVISION },
  fieldOf("POD_NAME", "metadata.name"),
  fieldOf("POD_NAMESPACE", "metadata.namespace"),
  fieldOf("SERVICE_ACCOUNT", "spec.serviceAccountName"),
  { name: "ORCH_INGRESS_NS", value: "mesh-ingress" },
  { name: "PILOT_CERT_PROVIDER", value: "meshd" },
  when(IS_CANARY, { name: "INJECTION_WEBHOOK_CONFIG_NAME", value: revised("mesh-sidecar-injector") }),
  when(
    IS_CANARY,
    noted("The default revision validates the objects of all revisions.", {
      ...{ name: "VALIDATION_WEBHOOK_CONFIG_NAME", value: "" },
    }),
    when(not({ is: NAMESPACE, text: "mesh-system" }), {
      ...{ name: "VALIDATION_WEBHOOK_CONFIG_NAME", value: text`mesh-${NAMESPACE}` },
    }),
  ),
  when(not(DEPLOYS_GATEWAYS), { name: "PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER", value: "false" }),
  when(not(MAKES_CLASSES), { name: "PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER", value: "false" }),
  when(AMBIENT, { name: "PILOT_ENABLE_AMBIENT", value: "true" }),
  when(
    AMBIENT,
    noted("Node tunnels ask for the certificates of the pods on their node.", {
      ...{ name: "CA_TRUSTED_NODE_ACCOUNTS", value: text`${NAMESPACE}/${TUNNEL}${FURTHER_TUNNELS}` },
    }),
  ),
  new Spread(value("meshd.env")),
];

const CONTAINER: Node = {
  name: "discovery",
  image: text`${value("hub")}/pilot-discovery:${value("tag")}`,
  imagePullPolicy: given(value("imagePullPolicy")),
  args: [
    "discovery",
    text`--domain=${value("domain")}`,
    "--keepaliveMaxServerConnectionAge=30m",
    new Spread(value("meshd.args")),
  ],
  ports: [
    { name: "http-debug", containerPort: 8080 },
    { name: "grpc-xds", containerPort: 15010 },
    { name: "tls-xds", containerPort: 15012 },
    { name: "https-webhooks", containerPort: 15017 },
    { name: "http-monitoring", containerPort: 15014 },
  ],
  readinessProbe: {
    httpGet: { path: "/ready", port: 8080 },
    initialDelaySeconds: 1,
    periodSeconds: 3,
    timeoutSeconds: 5,
  },
  env: ENV,
  resources: value("meshd.resources"),
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    runAsUser: 1337,
    runAsGroup: 1337,
  },
  volumeMounts: [
    { name: "token", mountPath: "/var/run/secrets/tokens", readOnly: true },
    { name: "cacerts", mountPath: "/etc/cacerts", readOnly: true },
    { name: "tmp", mountPath: "/tmp" },
  ],
};

const POD: Node = {
  serviceAccountName: NAME,
  imagePullSecrets: given(value("imagePullSecrets")),
  priorityClassName: given(value("meshd.priorityClassName")),
  terminationGracePeriodSeconds: noted("Streams move to the other replicas while this one ends.", 60),
  securityContext: { fsGroup: 1337, seccompProfile: { type: "RuntimeDefault" } },
  nodeSelector: given(value("meshd.nodeSelector")),
  tolerations: given(value("meshd.tolerations")),
  affinity: given(value("meshd.affinity")),
  topologySpreadConstraints: when(
    { filled: value("meshd.topologySpreadConstraints") },
    value("meshd.topologySpreadConstraints"),
    [{
      maxSkew: 1,
      topologyKey: "kubernetes.io/hostname",
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: SERVER_LABELS },
    }],
  ),
  containers: [CONTAINER],
  volumes: [
    {
      name: "token",
      projected: {
        sources: [{ serviceAccountToken: { audience: "mesh-ca", expirationSeconds: 43200, path: "mesh-token" } }],
      },
    },
    noted(
      "Your certificate authority. Without this secret the server makes an authority, in the secret mesh-ca-secret.",
      {
        name: "cacerts",
        secret: { secretName: "cacerts", optional: true },
      },
    ),
    noted("The runtime reads the image's compiled code from a folder with write access.", {
      name: "tmp",
      emptyDir: { sizeLimit: "64Mi" },
    }),
  ],
};

export const DEPLOYMENT: Node = {
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: HEAD },
  spec: {
    replicas: when(not({ filled: value("meshd.autoscaling") }), value("meshd.replicas")),
    strategy: { rollingUpdate: { maxSurge: "100%", maxUnavailable: 0 } },
    selector: { matchLabels: SERVER_LABELS },
    template: {
      metadata: {
        labels: { ...SERVER_LABELS, "sidecar.mesh.io/inject": "false" },
        annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "15014" },
      },
      spec: POD,
    },
  },
};
