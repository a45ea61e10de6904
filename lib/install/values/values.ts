/**
 * The values of an installation: one row for each, with type, default and meaning.
 *
 * A value's path is its place in a file of values: `meshd.replicas` is the field `replicas` of `meshd`. The command
 * `manifests`, the chart and the pages take the rows from here.
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../../kernel/json/issues.ts";
import { VERSION } from "../../kernel/program/build_info.ts";
import { Ref } from "../template/node.ts";
import type { InstallData } from "../template/node.ts";

/** A value that an installation may set. */
export interface ValueRow {
  readonly schema: z.ZodType;
  readonly default: InstallData;
  /** One sentence or two, for files of values and for pages. */
  readonly doc: string;
}

/** A name of an object in the API: https://kubernetes.io/docs/concepts/overview/working-with-objects/names */
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
/** With the prefixes of the objects, a name of 63 characters is the longest. */
const shortName = z.string().regex(NAME).max(40);
const label = z.string().regex(/^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/);
const anyText = z.string({ error: "a text" }).max(1000);
/** A part of an image's name. */
const image = z.string().regex(/^[\w][\w./:-]*$/).max(500);
const fields = z.record(z.string(), z.json(), { error: "an object" });
const list = z.array(fields, { error: "a list of objects" });
const labels = z.record(z.string(), label, { error: "an object of texts" });
const count = z.int({ error: "a whole number" }).min(0).max(1000);
const percent = z.int({ error: "a whole number" }).min(1).max(100);
const flag = z.boolean({ error: "true or false" });

/** A text of a form. The refinement is for messages, and the pattern for readers of the JSON schema. */
function expecting(schema: z.ZodString, error: string): z.ZodType {
  const { pattern, maxLength } = z.toJSONSchema(schema);
  return z.string({ error }).refine((text) => schema.safeParse(text).success, { error }).meta({ pattern, maxLength });
}
const nameSchema = expecting(shortName, "a name of lower-case letters, digits and dashes, at most 40 characters");

const row = (schema: z.ZodType, value: InstallData, doc: string): ValueRow => ({ schema, default: value, doc });

/** What both a server's pods and a gateway's pods may be told about nodes. */
const PLACEMENT = {
  nodeSelector: row(labels, {}, "Labels of the nodes for the pods."),
  tolerations: row(list, [], "Taints of nodes that the pods tolerate."),
  affinity: row(fields, {}, "Affinity of the pods."),
} as const;

/** The values of each item of `gateways`, with the defaults of absent values. */
export const GATEWAY_VALUES = {
  name: row(nameSchema, "mesh-ingressgateway", "Name of the gateway's objects."),
  namespace: row(nameSchema, "mesh-ingress", "Namespace of the gateway."),
  createNamespace: row(flag, true, "The namespace is one of the objects, with the level `restricted` of PodSecurity."),
  labels: row(
    labels,
    { mesh: "ingressgateway" },
    "Labels of the pods, by which objects of the kind Gateway select them.",
  ),
  serviceType: row(z.enum(["LoadBalancer", "NodePort", "ClusterIP"]), "LoadBalancer", "Type of the service."),
  serviceAnnotations: row(z.record(z.string(), anyText), {}, "Annotations of the service."),
  ports: row(
    list,
    [{ name: "status-port", port: 15021 }, { name: "http2", port: 80 }, { name: "https", port: 443 }],
    "Ports of the service.",
  ),
  replicas: row(count, 2, "Pods of a gateway without autoscaling."),
  autoscaling: row(flag, true, "The number of pods follows the load. The cluster needs a metrics server."),
  minReplicas: row(count, 2, "Fewest pods, with autoscaling."),
  maxReplicas: row(count, 5, "Most pods, with autoscaling."),
  targetCpu: row(percent, 80, "Wanted use of the requested CPU in percent, with autoscaling."),
  minAvailable: row(count, 1, "Pods that a drain of nodes leaves; 0: no PodDisruptionBudget."),
  resources: row(
    fields,
    { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "1024Mi" } },
    "Requests and limits of the proxy.",
  ),
  priorityClassName: row(anyText, "", "Priority class of the pods; empty: none."),
  topologySpreadConstraints: row(list, [], "How the pods are spread over nodes and zones."),
  ...PLACEMENT,
} as const satisfies Readonly<Record<string, ValueRow>>;

export const VALUES = {
  namespace: row(nameSchema, "mesh-system", "Namespace of the control plane."),
  revision: row(
    nameSchema,
    "default",
    "Revision of the control plane. Another revision than `default` stands beside the default one.",
  ),
  tags: row(
    z.array(nameSchema),
    [],
    "Further names for the revision: a namespace labelled with a tag gets the revision's proxies.",
  ),
  hub: row(
    expecting(image, "the registry and the folder of images"),
    "docker.io/mesh",
    "Registry and folder of the images.",
  ),
  tag: row(expecting(image, "the tag of images"), VERSION, "Tag of the images."),
  imagePullPolicy: row(
    z.enum(["", "Always", "IfNotPresent", "Never"]),
    "",
    "When nodes pull the images; empty: as the cluster decides.",
  ),
  imagePullSecrets: row(list, [], "Secrets for the registry, as `- name: NAME`."),
  domain: row(anyText, "cluster.local", "DNS suffix of services."),
  podSecurity: row(
    z.enum(["", "privileged", "baseline", "restricted"]),
    "",
    "Level of PodSecurity that the control plane's namespace enforces; empty: no label. `restricted` admits the server. The node's plugin and the node tunnel in the same namespace need `privileged`.",
  ),
  "meshd.replicas": row(count, 2, "Servers without autoscaling."),
  "meshd.autoscaling": row(
    flag,
    false,
    "The number of servers follows the load. Connected proxies stay with their server for up to half an hour, so a new server helps new proxies first.",
  ),
  "meshd.minReplicas": row(count, 2, "Fewest servers, with autoscaling."),
  "meshd.maxReplicas": row(count, 5, "Most servers, with autoscaling."),
  "meshd.targetCpu": row(percent, 80, "Wanted use of the requested CPU in percent, with autoscaling."),
  "meshd.minAvailable": row(count, 1, "Servers that a drain of nodes leaves; 0: no PodDisruptionBudget."),
  "meshd.resources": row(
    fields,
    { requests: { cpu: "500m", memory: "512Mi" }, limits: { memory: "2Gi" } },
    "Requests and limits of a server. The largest measured mesh needs a quarter of this memory.",
  ),
  "meshd.priorityClassName": row(
    anyText,
    "mesh-control-plane",
    "Priority class of the servers; empty: none. `mesh-control-plane` is among the objects. Some clusters admit `system-cluster-critical` only in kube-system.",
  ),
  "meshd.topologySpreadConstraints": row(
    list,
    [],
    "How the servers are spread over nodes and zones; empty: over nodes, as far as possible.",
  ),
  "meshd.nodeSelector": PLACEMENT.nodeSelector,
  "meshd.tolerations": PLACEMENT.tolerations,
  "meshd.affinity": PLACEMENT.affinity,
  "meshd.env": row(list, [], "Further variables of the server, as `- { name: NAME, value: TEXT }`."),
  "meshd.args": row(z.array(anyText), [], "Further flags of the server."),
  networkPolicy: row(
    flag,
    true,
    "A NetworkPolicy leaves the port of the debug pages to the control plane's namespace.",
  ),
  meshConfig: row(fields, { accessLogFile: "/dev/stdout" }, "The mesh configuration."),
  meshNetworks: row(fields, { networks: {} }, "The networks of the mesh."),
  "injector.config": row(fields, { policy: "enabled" }, "Policy, templates and selectors of injection."),
  "injector.values": row(fields, {}, "Further values of injection, beside the registry and the tag."),
  "plugin.enabled": row(
    flag,
    false,
    "The node's plugin redirects the traffic of pods, instead of an init container in each pod.",
  ),
  "plugin.cniBinDir": row(anyText, "/opt/cni/bin", "Folder of the plugins on the node."),
  "plugin.cniConfDir": row(anyText, "/etc/cni/net.d", "Folder of the network configurations on the node."),
  "plugin.env": row(list, [], "Further variables of the installer, as `- { name: NAME, value: TEXT }`."),
  "plugin.resources": row(
    fields,
    { requests: { cpu: "100m", memory: "100Mi" } },
    "Requests and limits of the installer.",
  ),
  "ambient.enabled": row(
    flag,
    false,
    "Ambient mode: servers serve node tunnels and waypoints, and every node has the node agent and the tunnel. Sidecars that start from then on also take connections of tunnels.",
  ),
  "ambient.enablementSelector": row(
    anyText,
    "",
    "Which pods are in ambient mode, as the YAML text of AMBIENT_ENABLEMENT_SELECTOR; empty: pods, and pods of namespaces, with the label `mesh.io/dataplane-mode: ambient`.",
  ),
  "ambient.dnsCapture": row(flag, true, "The tunnel answers DNS of pods in ambient mode."),
  "ambient.ipv6": row(flag, true, "Pods in ambient mode have rules for IPv6 too."),
  "ambient.trustedNodeAccounts": row(
    anyText,
    "",
    "Further accounts of node tunnels that may ask for the certificates of pods on their node, as `NAMESPACE/NAME`, comma separated. The tunnel below is among them.",
  ),
  "tunnel.image": row(
    expecting(image, "the name of an image"),
    "docker.io/istio/ztunnel",
    "Image of the node tunnel, without its tag: Istio's ztunnel, or your copy of it.",
  ),
  "tunnel.tag": row(expecting(image, "the tag of an image"), "1.27.0", "Tag of the image of the node tunnel."),
  "tunnel.clusterId": row(
    expecting(label, "the name of a cluster"),
    "Orch",
    "Name of the cluster, which must be the name that the servers have (CLUSTER_ID).",
  ),
  "tunnel.network": row(
    expecting(label, "the name of a network"),
    "",
    "Network of the cluster's pods, which must be the label `topology.mesh.io/network` of the control plane's namespace; empty: the default network.",
  ),
  "tunnel.terminationGracePeriodSeconds": row(
    z.int({ error: "a whole number" }).min(6).max(86400),
    30,
    "Seconds that an ending tunnel has. Open connections are reset five seconds before the end.",
  ),
  "tunnel.env": row(list, [], "Further variables of the tunnel, as `- { name: NAME, value: TEXT }`."),
  "tunnel.resources": row(
    fields,
    { requests: { cpu: "200m", memory: "512Mi" } },
    "Requests and limits of the tunnel.",
  ),
  "gatewayApi.deployments": row(
    flag,
    true,
    "The servers deploy managed Gateways of the Gateway API. For this they may make Deployments, Services and accounts in every namespace.",
  ),
  "gatewayApi.classes": row(flag, true, "The servers make the built-in classes of Gateways when they are missing."),
  gateways: row(z.array(fields), [], "Gateways, each with the values of a gateway."),
} as const satisfies Readonly<Record<string, ValueRow>>;

export type ValuePath = keyof typeof VALUES;

/** All values by path; the items of `gateways` are complete too. */
export type InstallValues = Readonly<Record<ValuePath, InstallData>>;

/** A value in the objects. */
export function value(path: ValuePath): Ref {
  return new Ref("values", path);
}

/** Values, or why there are none: a line for each problem. */
export type ReadInstallValues = { readonly values: InstallValues } | { readonly problems: readonly string[] };

/**
 * Completes values with the defaults. The fields of an object are completed too, except in the items of a list.
 *
 * @param tree A file of values, as JSON.
 * @param more Values by path. They replace those of the tree.
 */
export function readInstallValues(tree: unknown = {}, more: Partial<InstallValues> = {}): ReadInstallValues {
  const found: Record<string, unknown> = {};
  const problems = [...collectByPath(tree ?? {}, "", found)];
  const overDefaults = Object.entries({ ...found, ...more }).map(([path, given]) =>
    [path, Object.hasOwn(VALUES, path) ? merged(VALUES[path as ValuePath].default, given) : given] as const
  );
  const read = completed(VALUES, Object.fromEntries(overDefaults), []);
  problems.push(...read.problems);
  const gateways = Array.isArray(read.values["gateways"]) ? read.values["gateways"] : [];
  const complete = gateways.map((item, index) => {
    const gateway = completed(GATEWAY_VALUES, item, ["gateways", index]);
    const unknown = Object.keys(item).filter((key) => !Object.hasOwn(GATEWAY_VALUES, key));
    problems.push(...gateway.problems, ...unknown.map((key) => unknownValue(`gateways[${index}].${key}`)));
    return gateway.values;
  });
  if (problems.length > 0) return { problems };
  const values = { ...read.values, gateways: complete } as Readonly<Record<string, InstallData>> as InstallValues;
  const refused = contradictions(values);
  return refused.length > 0 ? { problems: refused } : { values };
}

/** The values that an installation has without a word of the operator. */
export function defaultValues(changes: Partial<InstallValues> = {}): InstallValues {
  const read = readInstallValues({}, changes);
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  return read.values;
}

/** Sorts the values of a tree by path, and yields the values that no row has. */
function* collectByPath(tree: unknown, path: string, found: Record<string, unknown>): Generator<string> {
  if (typeof tree !== "object" || tree === null || Array.isArray(tree)) {
    return yield `${path || "the values"}: got ${JSON.stringify(tree)}, expected an object`;
  }
  for (const [key, inner] of Object.entries(tree)) {
    const at = path === "" ? key : `${path}.${key}`;
    if (Object.hasOwn(VALUES, at)) found[at] = inner;
    else if (Object.keys(VALUES).some((known) => known.startsWith(`${at}.`))) yield* collectByPath(inner, at, found);
    else yield unknownValue(at);
  }
}

function unknownValue(path: string): string {
  return `${path}: there is no such value`;
}

function completed(
  rows: Readonly<Record<string, ValueRow>>,
  given: Readonly<Record<string, unknown>>,
  above: readonly PropertyKey[],
) {
  const problems: string[] = [];
  const values = Object.fromEntries(
    Object.entries(rows).map(([path, { schema, default: otherwise }]) => {
      const got = given[path];
      if (got === undefined || got === null) return [path, otherwise];
      const read = schema.safeParse(got, { reportInput: true });
      if (read.success) return [path, read.data as InstallData];
      const lines = issueLines(
        read.error.issues.map((issue) => ({ ...issue, path: [...above, ...path.split("."), ...issue.path] })),
      );
      problems.push(...lines);
      return [path, otherwise];
    }),
  );
  return { values, problems };
}

/**
 * Reserved revisions: objects of such a revision would have the names of other objects. `mesh-leader` is a lock. The
 * charts have the text of the expression, so only the common part of JavaScript's and Go's syntax may be used.
 */
export const RESERVED_REVISION =
  /^(?:ca-(?:root-cert|secret)|(?:(?:gateway-)?status-|analyze-)?leader|ip-autoallocate|auto-registration|node-untaint|signing)$|-election$|^(?:sidecar-injector|status-report|tag-)/;

/** Why a reserved revision is refused. */
export const EXPECTED_REVISION = "a name that no object of the default revision ends with";

function isFieldsData(data: unknown): data is { readonly [key: string]: InstallData } {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}

/** An object over its default, in all depths, as Helm reads files of values: null removes a field. */
function merged(base: InstallData | undefined, over: unknown): unknown {
  if (!isFieldsData(base) || !isFieldsData(over)) return over;
  const changed = Object.entries(over).map(([key, data]) => [key, merged(base[key], data)]);
  const fields = Object.entries({ ...base, ...Object.fromEntries(changed) });
  return Object.fromEntries(fields.filter(([, data]) => data !== null));
}

/** Values that contradict each other. */
function contradictions(values: InstallValues): string[] {
  const { revision, tags } = values as { readonly revision: string; readonly tags: readonly string[] } & InstallValues;
  const problems = tags.filter((tag) => tag === revision || tag === "default").map((tag) =>
    `tags: got ${
      JSON.stringify(tag)
    }, expected a name that is neither the revision nor default: two webhooks would ask about a pod`
  );
  if (RESERVED_REVISION.test(revision)) {
    problems.push(`revision: got ${JSON.stringify(revision)}, expected ${EXPECTED_REVISION}`);
  }
  const address = discoveryAddressOf(values.meshConfig);
  if (revision !== "default" && address !== undefined) {
    problems.push(
      `meshConfig.defaultConfig.discoveryAddress: got ${
        JSON.stringify(address)
      }, expected none: proxies of the revision ask the revision's own service`,
    );
  }
  return problems;
}

function discoveryAddressOf(meshConfig: InstallData): InstallData | undefined {
  const config = (meshConfig as { readonly defaultConfig?: { readonly discoveryAddress?: InstallData } }).defaultConfig;
  return typeof config === "object" && config !== null ? config.discoveryAddress : undefined;
}
