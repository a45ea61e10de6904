/**
 * The node of a proxy: its id, the cluster that it reports as its own, its locality.
 *
 * @module
 */
import type { ProxySettings } from "../../config/mesh/types.ts";
import type { MetadataValue } from "./node_metadata.ts";

/** Role of a proxy, as the command line names it. */
export type AgentRole = "sidecar" | "router";

/** The locality of a workload. */
export interface NodeLocality {
  readonly region?: string;
  readonly zone?: string;
  readonly sub_zone?: string;
}

/** A node as it stands in a bootstrap. */
export interface AgentNode {
  readonly id: string;
  readonly cluster: string;
  readonly locality: NodeLocality;
  readonly metadata: Readonly<Record<string, MetadataValue>>;
}

/** The parts of a node's id. */
export interface NodeIdentity {
  readonly role: AgentRole;
  readonly address: string;
  readonly name: string;
  readonly namespace: string;
  readonly domain: string;
}

/** `sidecar~10.0.0.1~cart-1.shop~shop.svc.cluster.local`. */
export function nodeId({ role, address, name, namespace, domain }: NodeIdentity): string {
  return `${role}~${address}~${name}.${namespace}~${domain}`;
}

/** Sources of the name of a node's cluster. */
export interface ClusterNameInput {
  readonly proxy: Pick<ProxySettings, "serviceCluster" | "tracingServiceName">;
  /** The flag `--serviceCluster`. */
  readonly flag: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly workload: string;
  readonly namespace: string;
}

/** The default of the flag and of the setting: it says nothing of the workload. */
const UNNAMED = "mesh-proxy";
const CANONICAL_NAME = ["service.mesh.io/canonical-name", "service.istio.io/canonical-name"];
/** Labels that name a workload's service, the first one first. */
const SERVICE_LABELS = [...CANONICAL_NAME, "app.kubernetes.io/name", "app"];

/** The cluster that a node reports, which is its service's name in traces. */
export function nodeCluster({ proxy, flag, labels, workload, namespace }: ClusterNameInput): string {
  const named = (name: string) => namespace === "" ? name : `${name}.${namespace}`;
  const canonical = SERVICE_LABELS.map((label) => labels[label]).find((name) => name) ?? (workload || UNNAMED);
  switch (proxy.tracingServiceName) {
    case "CANONICAL_NAME_ONLY":
      return canonical;
    case "CANONICAL_NAME_AND_NAMESPACE":
      return named(canonical);
    default: {
      const written = [flag, proxy.serviceCluster].find((name) => name && name !== UNNAMED && name !== "istio-proxy");
      return written ?? named(labels.app ?? (workload || UNNAMED));
    }
  }
}

/** Labels that place a workload; in a label a dot stands for a slash, which a label cannot have. */
const LOCALITY_LABELS = ["mesh-locality", "istio-locality"];

/** The locality that a workload's labels name; without them empty. */
export function nodeLocality(labels: Readonly<Record<string, string>>): NodeLocality {
  const text = LOCALITY_LABELS.map((label) => labels[label]).find((value) => value) ?? "";
  const [region = "", zone = "", ...rest] = (text.includes("/") ? text : text.replaceAll(".", "/")).split("/");
  return {
    ...(region === "" ? {} : { region }),
    ...(zone === "" ? {} : { zone }),
    ...(rest.length === 0 ? {} : { sub_zone: rest.join("/") }),
  };
}
