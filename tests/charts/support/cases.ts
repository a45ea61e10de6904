/**
 * Sets of values for the charts, and the objects that `lib/install/` makes of each.
 *
 * Permissions: read of the repository.
 * @module
 */
import { parseAllDocuments } from "yaml";
import { GATEWAYS } from "../../../lib/install/objects/gateway.ts";
import { PLUGIN_DAEMON_SET, PLUGIN_RIGHTS } from "../../../lib/install/objects/plugin.ts";
import { ACCOUNT, RIGHTS } from "../../../lib/install/objects/rights.ts";
import { CONFIGURATION, DEPLOYMENT, PRIORITY_CLASS, PROTECTION, SERVICE } from "../../../lib/install/objects/server.ts";
import { NODE_TUNNEL } from "../../../lib/install/objects/tunnel.ts";
import { INJECTION, TAGS as TAG_NODES, VALIDATION } from "../../../lib/install/objects/webhooks.ts";
import { type InstallData } from "../../../lib/install/template/node.ts";
import { resolveNodes } from "../../../lib/install/template/resolve.ts";
import { withoutComments } from "../../../lib/install/template/resolved.ts";
import { readInstallValues } from "../../../lib/install/values/values.ts";

/** Values of a chart. */
export interface ChartCase {
  readonly name: string;
  readonly chart: string;
  /** Default: `mesh-system`. */
  readonly namespace?: string;
  readonly values: { readonly [path: string]: InstallData };
  /** The chart has no objects with these values. */
  readonly isEmpty?: true;
}

const TOLERATIONS = [{ key: "dedicated", operator: "Equal", value: "mesh", effect: "NoSchedule" }];
const AFFINITY = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{
        matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64", "arm64"] }],
      }],
    },
  },
};
const SPREAD = [{
  maxSkew: 2,
  topologyKey: "topology.kubernetes.io/zone",
  whenUnsatisfiable: "DoNotSchedule",
  labelSelector: { matchLabels: { app: "meshd" } },
}];
const PLACED = { nodeSelector: { pool: "mesh", zone: "1" }, tolerations: TOLERATIONS, affinity: AFFINITY };
const MESH_CONFIG = {
  accessLogFile: "",
  enableAutoMtls: false,
  trustDomain: "true",
  connectTimeout: "10s",
  defaultConfig: { concurrency: 0, proxyMetadata: { "ISTIO_META_X": "1e3", quoted: 'a "b": {{ c }} # d' } },
  outboundTrafficPolicy: { mode: "REGISTRY_ONLY" },
  large: 12345678,
};

const MESH: Readonly<Record<string, Omit<ChartCase, "name" | "chart">>> = {
  "the defaults": { values: {} },
  "a revision": { values: { revision: "canary" } },
  "autoscaling": { values: { meshd: { autoscaling: true, minReplicas: 3, maxReplicas: 9, targetCpu: 60 } } },
  "everything off": {
    values: {
      networkPolicy: false,
      gatewayApi: { deployments: false, classes: false },
      meshConfig: { accessLogFile: "" },
      meshd: { replicas: 0, minAvailable: 0, priorityClassName: "" },
    },
  },
  "more servers with other resources": {
    values: { meshd: { replicas: 5, minAvailable: 3, resources: { limits: { memory: "4Gi", cpu: 2 } } } },
  },
  "servers on chosen nodes": { values: { meshd: PLACED } },
  "servers spread over zones": { values: { meshd: { topologySpreadConstraints: SPREAD } } },
  "another priority class": { values: { meshd: { priorityClassName: "system-cluster-critical" } } },
  "variables and flags": {
    values: {
      meshd: {
        env: [
          { name: "PILOT_ENABLE_QUIC_LISTENERS", value: "true" },
          { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
        ],
        args: ["--log_output_level=default:debug", "--x={{ .Values }}"],
      },
    },
  },
  "a mesh configuration": { values: { meshConfig: MESH_CONFIG } },
  "a mesh configuration of a revision": { values: { revision: "1-20-3", meshConfig: MESH_CONFIG } },
  "networks": {
    values: { meshNetworks: { networks: { one: { endpoints: [{ fromRegistry: "one" }], gateways: [] } } } },
  },
  "an injector's configuration": {
    values: {
      injector: {
        config: { policy: "disabled", alwaysInjectSelector: [{ matchLabels: { app: "x" } }] },
        values: { global: { proxy: { privileged: false } }, hub: "x" },
      },
    },
  },
  "the plugin": { values: { plugin: { enabled: true } } },
  "the plugin with values, and the injector against it": {
    values: {
      plugin: {
        enabled: true,
        cniBinDir: "/srv/cni/bin",
        cniConfDir: "/var/lib/cni",
        env: [{ name: "REPAIR_LABEL_PODS", value: "true" }],
        resources: { limits: { memory: "200Mi" } },
      },
      injector: { values: { pilot: { cni: { enabled: false } } } },
    },
  },
  "ambient mode": { values: { ambient: { enabled: true } } },
  "ambient mode of a revision: the servers alone": { values: { revision: "canary", ambient: { enabled: true } } },
  "ambient mode with values, and a mesh configuration against it": {
    namespace: "control",
    values: {
      ambient: {
        enabled: true,
        enablementSelector: "- podSelector: { matchLabels: { team: checkout } }\n- namespaceSelector: {}\n",
        trustedNodeAccounts: "istio-system/ztunnel",
        dnsCapture: false,
        ipv6: false,
      },
      tunnel: {
        image: "registry.example:5000/ztunnel",
        tag: "own",
        clusterId: "east",
        network: "net-1",
        terminationGracePeriodSeconds: 90,
        env: [{ name: "RUST_LOG", value: "debug" }],
        resources: { limits: { memory: "1Gi" } },
      },
      imagePullPolicy: "Always",
      imagePullSecrets: [{ name: "registry" }],
      meshConfig: { defaultConfig: { proxyMetadata: { MESH_META_ENABLE_HBONE: "false" }, concurrency: 2 } },
    },
  },
  "images from another registry": {
    values: {
      hub: "registry.example:5000/mesh/x",
      tag: "1.0",
      imagePullPolicy: "Always",
      imagePullSecrets: [{ name: "registry" }],
      plugin: { enabled: true },
    },
  },
  "another suffix of names": { values: { domain: "mesh.example" } },
  "another namespace": { namespace: "control", values: {} },
  "a revision with autoscaling in another namespace": {
    namespace: "control",
    values: { revision: "next", meshd: { autoscaling: true, ...PLACED } },
  },
};

const TAGS: typeof MESH = {
  "no tag": { values: {}, isEmpty: true },
  "a tag of the default revision": { values: { tags: ["stable"] } },
  "two tags of a revision": { values: { tags: ["stable", "next"], revision: "canary" } },
  "a tag of a revision in another namespace": {
    namespace: "control",
    values: { tags: ["stable"], revision: "canary" },
  },
};

const GATEWAY_SETS: typeof MESH = {
  "the defaults": { namespace: "mesh-ingress", values: {} },
  "no gateway": { values: { gateways: [] }, isEmpty: true },
  "three gateways": {
    namespace: "edge",
    values: {
      imagePullSecrets: [{ name: "registry" }],
      gateways: [
        { name: "public", labels: { mesh: "public" }, serviceAnnotations: { "example.com/scheme": "internet" } },
        { name: "private", namespace: "inside", labels: { mesh: "private", tier: "2" }, serviceType: "ClusterIP" },
        { name: "east-west", labels: { mesh: "eastwest" }, ports: [{ name: "tls", port: 15443, targetPort: 15443 }] },
      ],
    },
  },
  "a gateway with everything off": {
    values: { gateways: [{ autoscaling: false, minAvailable: 0, replicas: 0, resources: {} }] },
  },
  "a gateway on chosen nodes, of a revision": {
    values: {
      revision: "canary",
      gateways: [{ ...PLACED, topologySpreadConstraints: SPREAD, priorityClassName: "high", minReplicas: 4 }],
    },
  },
};

/** All sets of values. */
export const CASES: readonly ChartCase[] = [
  ...casesOf("mesh", MESH),
  ...casesOf("mesh-tags", TAGS),
  ...casesOf("mesh-gateways", GATEWAY_SETS),
];

function casesOf(chart: string, cases: typeof MESH): readonly ChartCase[] {
  return Object.entries(cases).map(([name, one]) => ({ name, chart, ...one }));
}

/** The definitions of `manifests/`, with further annotations. */
export function definitionsOf(annotations: Readonly<Record<string, string>>): readonly ManifestObject[] {
  const text = Deno.readTextFileSync(new URL("../../../manifests/definitions.yaml", import.meta.url));
  return objectsOf(text).map((definition) => ({
    ...definition,
    metadata: { ...definition.metadata, annotations: { ...definition.metadata.annotations, ...annotations } },
  }));
}

/** The objects in a text of YAML documents. */
export function objectsOf(text: string): readonly ManifestObject[] {
  return parseAllDocuments(text).map((document) => document.toJS()).filter((object) => object !== null);
}

/** An object for the API. */
export interface ManifestObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** The objects that the source makes, without those that Helm or another chart makes. */
export function expectedObjects({ chart, namespace = "mesh-system", values }: ChartCase): readonly ManifestObject[] {
  const gateways = (values["gateways"] ?? [{}]) as readonly { readonly [key: string]: InstallData }[];
  const ofItems = gateways.map((item) => ({ namespace, ...item }));
  const read = readInstallValues({ ...values, namespace, ...(chart === "mesh-gateways" ? { gateways: ofItems } : {}) });
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  const isDefault = read.values.revision === "default";
  const isAmbient = read.values["ambient.enabled"] === true && isDefault;
  const nodes = {
    "mesh-tags": TAG_NODES,
    "mesh-gateways": GATEWAYS,
    mesh: [
      ...[ACCOUNT, ...RIGHTS, ...CONFIGURATION, SERVICE, ...PROTECTION, DEPLOYMENT, INJECTION],
      ...(isDefault ? [PRIORITY_CLASS, VALIDATION] : []),
      ...(read.values["plugin.enabled"] === true || isAmbient ? [...PLUGIN_RIGHTS, PLUGIN_DAEMON_SET] : []),
      ...(isAmbient ? NODE_TUNNEL : []),
    ],
  }[chart]!;
  const objects = resolveNodes(nodes, read.values).map(withoutComments) as unknown as readonly ManifestObject[];
  return objects.filter(({ kind }) => kind !== "Namespace").map(closed);
}

/** Webhooks of a chart fail closed from the start. */
function closed(object: ManifestObject): ManifestObject {
  if (object.kind !== "ValidatingWebhookConfiguration") return object;
  const webhooks = object["webhooks"] as readonly object[];
  return { ...object, webhooks: webhooks.map((webhook) => ({ ...webhook, failurePolicy: "Fail" })) };
}
