/**
 * Variables of the proxy's container for its agent.
 *
 * @module
 */
import { proxyConfigVariable } from "../proxy_settings.ts";
import type { PodContainer } from "../pod.ts";
import { YES } from "../decision.ts";
import { ownTexts } from "../spelling.ts";
import { bytesOf } from "./image.ts";
import type { SidecarInput } from "./input.ts";

/** Label of a pod or a namespace: `true` or `false`. */
const ON_DEMAND_LABEL = "mesh.io/on-demand";

export type Variable = NonNullable<PodContainer["env"]>[number];

const fixed = (name: string, value: string): Variable => ({ name, value });
const field = (name: string, fieldPath: string): Variable => ({ name, valueFrom: { fieldRef: { fieldPath } } });
const given = (name: string, value: string): Variable[] => value === "" ? [] : [fixed(name, value)];

/** The part of the container's memory for the agent's heap, and the smallest heap in MiB. Envoy has the rest. */
const HEAP_PART = 1 / 4;
const LEAST_HEAP = 64;

/** The variables of a proxy. */
export function proxyEnv(input: SidecarInput, resources: PodContainer["resources"]): Variable[] {
  const { settings, request: { parameters }, owner, proxy, traffic, reader, own } = input;
  const applications = [...input.applications, ...input.companions];
  const limits = { ...resources?.limits, ...own?.resources?.limits };
  const { values: { global } } = settings;
  const cluster = parameters?.cluster || global.multiCluster.clusterName || settings.clusterId;
  const network = parameters?.network || input.labels["topology.mesh.io/network"] || global.network;
  const signer = /^(?:orch|k8s)\.io\/(.+)$/.exec(settings.certProvider)?.[1] ?? "";
  const variables: Variable[] = [
    fixed("PILOT_CERT_PROVIDER", settings.certProvider),
    fixed("CA_ADDR", global.caAddress || proxy.discoveryAddress),
    field("POD_NAME", "metadata.name"),
    field("POD_NAMESPACE", "metadata.namespace"),
    field("INSTANCE_IP", "status.podIP"),
    field("SERVICE_ACCOUNT", "spec.serviceAccountName"),
    field("HOST_IP", "status.hostIP"),
    ...(limits["cpu"] === undefined ? [] : [resource("MESH_CPU_LIMIT", "limits.cpu")]),
    fixed("PROXY_CONFIG", proxyConfigVariable(proxy)),
    fixed("MESH_META_POD_PORTS", portsOf(applications)),
    fixed("MESH_META_APP_CONTAINERS", applications.map(({ name }) => name).join(",")),
    fixed("MESH_META_CLUSTER_ID", cluster),
    field("MESH_META_NODE_NAME", "spec.nodeName"),
    ...(input.role === "sidecar" ? [fixed("MESH_META_INTERCEPTION_MODE", traffic.mode)] : []),
    ...given("MESH_META_NETWORK", network),
    ...given("MESH_META_WORKLOAD_NAME", owner.name),
    fixed("MESH_META_OWNER", owner.uri),
    ...given("MESH_META_MESH_ID", proxy.meshId ?? (global.meshID || settings.mesh.trustDomain)),
    ...given("MESH_META_CERT_SIGNER", signer),
    ...given("COMPLIANCE_POLICY", settings.compliancePolicy),
    fixed("TRUST_DOMAIN", settings.mesh.trustDomain),
    ...heapOf(limits["memory"]),
    ...(reader.annotations["sidecar.mesh.io/bootstrapOverride"]
      ? [fixed("MESH_BOOTSTRAP_OVERRIDE", "/etc/mesh/custom-bootstrap/custom_bootstrap.json")]
      : []),
    ...(global.proxy.enableCoreDump ? [fixed("MESH_PROXY_ENABLE_CORE_DUMP", "true")] : []),
  ];
  const set = {
    ...onDemandByDefault(input),
    ...proxy.proxyMetadata,
    ...parameters?.variables,
    ...onDemandByLabel(input),
  };
  const names = new Set(Object.keys(set));
  return [
    ...variables.filter(({ name }) => !names.has(name)),
    ...Object.entries(set).map(([name, value]) => fixed(name, value)),
  ];
}

/** Tells the server that the sidecar asks for what its workload calls. Fixed for the life of a pod, as Envoy's state is. */
const ON_DEMAND = "MESH_META_ON_DEMAND";

function onDemandByDefault({ role, settings }: SidecarInput): Record<string, string> {
  return role === "sidecar" && settings.onDemand ? { [ON_DEMAND]: "true" } : {};
}

/** The label of the pod, or of its namespace, decides. */
function onDemandByLabel({ role, labels, request: { namespaceLabels } }: SidecarInput): Record<string, string> {
  const written = labels[ON_DEMAND_LABEL] || ownTexts(namespaceLabels)[ON_DEMAND_LABEL];
  return role === "sidecar" && written ? { [ON_DEMAND]: String(YES.test(written)) } : {};
}

function resource(name: string, path: string): Variable {
  return { name, valueFrom: { resourceFieldRef: { resource: path } } };
}

/** Ports of the application, for gateways and pages. */
function portsOf(applications: readonly PodContainer[]): string {
  const ports = applications.flatMap(({ ports = [] }) =>
    ports.map(({ containerPort, name, protocol }) => ({
      ...(name !== undefined && { name }),
      containerPort,
      ...(protocol !== undefined && { protocol }),
    }))
  );
  return JSON.stringify(ports);
}

/** With a heap limit, V8 ends an agent that needs too much memory before the orchestrator kills the whole container. */
function heapOf(limit: string | number | undefined): Variable[] {
  const bytes = bytesOf(limit);
  if (bytes === undefined) return [];
  const heap = Math.max(LEAST_HEAP, Math.floor(bytes * HEAP_PART / 2 ** 20));
  return [fixed("DENO_V8_FLAGS", `--max-old-space-size=${heap}`)];
}
