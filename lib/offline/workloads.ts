/**
 * The proxies implied by a mesh of texts: a sidecar for each named workload of entries and manifests, and the gateways
 * selected by Gateway objects. In a namespace without a named workload, a stand-in represents any workload.
 *
 * @module
 */
import { compareTexts } from "../kernel/text/compare.ts";
import type { AnyConfigObject, ConfigObject } from "../config/types.ts";
import type { Fact, WorkloadKind } from "../config/facts/types.ts";
import { WORKLOAD_KINDS } from "../config/facts/workload_data.ts";
import { apiGatewayBehind } from "../config/derive/made_of_gateway_api.ts";
import { isServedBy } from "../config/kinds/gateway/workloads.ts";
import type { WorkloadEntrySpec } from "../config/kinds/kinds.ts";
import type { OfflineMesh, ProxyNode } from "./offline_mesh.ts";
import { canonicalIp, isIp } from "../registry/address.ts";
import { type Labels, takesHbone } from "../registry/labels.ts";
import { runsBeside, runsBesidePods } from "./beside.ts";
import { type NodeType, profileOf } from "../translate/reader/proxy_profile.ts";

/** A proxy implied by the texts. */
export interface ImpliedProxy {
  readonly type: NodeType;
  readonly namespace: string;
  readonly name: string;
  readonly address: string;
  readonly labels: Labels;
  /**
   * Key of the object that names the workload. If only a Gateway implies the workload: the Gateway's key. Empty for a
   * stand-in of a namespace.
   */
  readonly cause: string;
  /** Name of the ServiceEntry that lists the workload as an endpoint. */
  readonly entry?: string;
  /** The workload's service account; absent: no text names the account. */
  readonly account?: string;
  /** Whether a proxy runs beside the workload. False: texts say that no proxy runs. Absent: nothing says. */
  readonly runs?: boolean;
  /** The proxy stands for any workload of the namespace: no text names a workload. */
  readonly standsIn: boolean;
  readonly node: ProxyNode;
}

/**
 * An address for documentation (RFC 5737), used by no workload. It stands for a proxy without an address in the texts.
 */
export const NO_ADDRESS = "192.0.2.1";

/** Options of implied proxies. */
export interface ImpliedOptions {
  readonly domain: string;
  /** `PILOT_SCOPE_GATEWAY_TO_NAMESPACE`: a Gateway is only for workloads of its own namespace. */
  readonly gatewaysInNamespace: boolean;
}

/** The proxies, by namespace and name. */
export function impliedProxies(
  objects: Iterable<AnyConfigObject>,
  options: ImpliedOptions,
  facts: Iterable<Fact<WorkloadKind>> = [],
  namespaceLabels: (name: string) => Labels | undefined = () => undefined,
): ImpliedProxy[] {
  const all = [...objects];
  const gateways = all.filter((object): object is ConfigObject<"Gateway"> & AnyConfigObject =>
    object.kind === "Gateway"
  );
  const isGateway = (namespace: string, labels: Labels) =>
    gateways.some((gateway) =>
      (!options.gatewaysInNamespace || gateway.meta.namespace === namespace) &&
      Object.keys(gateway.spec.selector ?? {}).length > 0 && isServedBy(gateway, { namespace, labels })
    );
  const found = new Map<string, ImpliedProxy>();
  const add = (proxy: Omit<ImpliedProxy, "node" | "type">, type?: ImpliedProxy["type"]) => {
    const full = proxyOf(proxy, type ?? (isGateway(proxy.namespace, proxy.labels) ? "router" : "sidecar"), options);
    const key = `${proxy.namespace}/${proxy.name}`;
    if (!found.has(key)) found.set(key, full);
  };
  for (const workload of all.flatMap(workloadsOf)) add(workload);
  for (const workload of manifested([...facts], namespaceLabels)) add(workload);
  for (const gateway of gateways) {
    const selector = gateway.spec.selector ?? {};
    const served = [...found.values()].some((proxy) =>
      profileOf(proxy.type).gateways && isServedBy(gateway, proxy) &&
      (!options.gatewaysInNamespace || proxy.namespace === gateway.meta.namespace)
    );
    if (!served) add({ ...standIn(gateway.meta.namespace, nameOf(gateway), selector), cause: gateway.key }, "router");
  }
  const namespaces = new Set(
    [...found.values()].filter(({ type }) => profileOf(type).sidecarsApply).map((one) => one.namespace),
  );
  for (const { meta: { namespace } } of all) {
    if (!namespaces.has(namespace)) add(standIn(namespace, "any-workload", {}), "sidecar");
    namespaces.add(namespace);
  }
  return [...found.values()].sort((a, b) => compareTexts(a.namespace, b.namespace) || compareTexts(a.name, b.name));
}

/** The proxies implied by a mesh, and the options for them. */
export function proxiesOf(mesh: OfflineMesh): { readonly proxies: ImpliedProxy[]; readonly options: ImpliedOptions } {
  const options = { domain: mesh.domain, gatewaysInNamespace: mesh.settings.PILOT_SCOPE_GATEWAY_TO_NAMESPACE };
  const facts = WORKLOAD_KINDS.flatMap((kind) => [...mesh.facts.list(kind)]);
  const labelsOf = (name: string) => mesh.facts.get("Namespace", "", name)?.meta.labels;
  return { proxies: impliedProxies(mesh.objects.values(), options, facts, labelsOf), options };
}

/** A sidecar of a namespace about which nothing else is known. */
export function unknownWorkload(namespace: string, name: string, options: ImpliedOptions): ImpliedProxy {
  return proxyOf(standIn(namespace, name, {}), "sidecar", options);
}

/** Metadata of a proxy with an agent, as usual in a mesh. */
export const WITH_AGENT = { PROXY_CONFIG: {} } as const;

type NamedWorkload = Omit<ImpliedProxy, "node" | "type">;

function standIn(namespace: string, name: string, labels: Labels): NamedWorkload {
  return { namespace, name, address: NO_ADDRESS, labels, cause: "", standsIn: true };
}

function proxyOf(workload: NamedWorkload, type: ImpliedProxy["type"], { domain }: ImpliedOptions): ImpliedProxy {
  const { namespace, name, address, labels } = workload;
  const id = `${type}~${address}~${name}.${namespace}~${namespace}.svc.${domain}`;
  // Injection gives pods the label because of the metadata.
  const hbone = takesHbone(labels) ? { ENABLE_HBONE: "true" } : {};
  return {
    ...workload,
    type,
    node: { id, metadata: { NAMESPACE: namespace, LABELS: labels, ...WITH_AGENT, ...hbone } },
  };
}

/** The name of a Gateway as its author knows it: each listener of a Gateway of the Gateway API is derived apart. */
function nameOf(gateway: ConfigObject<"Gateway">): string {
  return (apiGatewayBehind(gateway) ?? gateway.meta).name;
}

function workloadsOf(object: AnyConfigObject): NamedWorkload[] {
  const { meta: { namespace, name }, key } = object;
  if (object.kind === "WorkloadEntry") {
    const { address, labels } = addressed(object.spec) ?? {};
    if (address === undefined) return [];
    const all = { ...object.meta.labels, ...labels };
    const { serviceAccount } = object.spec;
    return [{
      namespace,
      name,
      address,
      labels: all,
      cause: key,
      standsIn: false,
      ...besideEntry(all, serviceAccount),
    }];
  }
  // A proxy beside a server outside of the mesh does not belong to this mesh.
  if (object.kind !== "ServiceEntry" || object.spec.location !== "MESH_INTERNAL") return [];
  const endpoints = (object.spec.endpoints ?? []).flatMap((endpoint) => addressed(endpoint) ?? []);
  const names = endpointNames(name, endpoints.map((one) => one.labels["version"] ?? ""));
  return endpoints.map(({ address, labels, serviceAccount }, at) => ({
    ...besideEntry(labels, serviceAccount),
    namespace,
    name: names[at]!,
    address,
    labels,
    cause: key,
    entry: name,
    standsIn: false,
  }));
}

/** What the labels and the account of a workload say about its proxy. */
function besideEntry(labels: Labels, account = ""): Pick<ImpliedProxy, "account" | "runs"> {
  const runs = runsBeside(labels, account);
  return { ...(account === "" ? {} : { account }), ...(runs === undefined ? {} : { runs }) };
}

/** The workloads of manifests: objects that make pods, and pods without such an object. */
function manifested(
  facts: readonly Fact<WorkloadKind>[],
  namespaceLabels: (name: string) => Labels | undefined,
): NamedWorkload[] {
  const names = new Set(facts.map(({ kind, meta: { namespace, name } }) => `${namespace}/${kind}/${name}`));
  return facts.flatMap((fact) => {
    const { key, meta: { namespace, name }, spec: { labels, owner, serviceAccount: account, addresses = [] } } = fact;
    if (owner !== undefined && names.has(`${namespace}/${owner}`)) return [];
    const [address] = addresses.filter(isIp);
    const runs = runsBesidePods(fact, namespaceLabels(namespace));
    return [{
      ...{ namespace, name, address: canonicalIp(address ?? NO_ADDRESS), labels, cause: key, standsIn: false, account },
      ...(runs === undefined ? {} : { runs }),
    }];
  });
}

/**
 * The names of endpoints: the version of an endpoint, with the position among endpoints of the same version, counted
 * from 1.
 */
function endpointNames(entry: string, versions: readonly string[]): string[] {
  if (versions.length === 1) return [entry];
  const counts = new Map<string, number>();
  for (const version of versions) counts.set(version, (counts.get(version) ?? 0) + 1);
  const positions = new Map<string, number>();
  return versions.map((version) => {
    const position = (positions.get(version) ?? 0) + 1;
    positions.set(version, position);
    const parts = [entry, version, counts.get(version)! > 1 ? String(position) : ""];
    return parts.filter((part) => part !== "").join("-").toLowerCase().replace(/[^a-z0-9-]/g, "-");
  });
}

type AddressedWorkload = Required<Pick<WorkloadEntrySpec, "address" | "labels" | "serviceAccount">>;

function addressed(
  { address = "", labels = {}, serviceAccount = "" }: WorkloadEntrySpec,
): AddressedWorkload | undefined {
  return isIp(address) ? { address: canonicalIp(address), labels, serviceAccount } : undefined;
}
