/**
 * The node of a proxy: id, reported cluster and locality.
 *
 * @module
 */
import type { ProxySettings } from "../../config/mesh/types.ts";
import type { MetadataValue } from "./node_metadata.ts";

/** Role of a proxy, as on the command line. */
export type AgentRole = "sidecar" | "router" | "waypoint";

/** The locality of a workload. */
export interface NodeLocality {
  readonly region?: string;
  readonly zone?: string;
  readonly sub_zone?: string;
}

/** A node in a bootstrap. */
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

/** The default of the flag and of the setting. The default says nothing about the workload. */
const UNNAMED = "mesh-proxy";
const CANONICAL_NAME = ["service.mesh.io/canonical-name", "service.istio.io/canonical-name"];
/** Labels with the name of a workload's service, in order of precedence. */
const SERVICE_LABELS = [...CANONICAL_NAME, "app.kubernetes.io/name", "app"];

/** The cluster that a node reports: the service's name in traces. */
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

/** Labels with the locality of a workload. A label cannot have a slash, so a dot stands for a slash. */
const LOCALITY_LABELS = ["mesh-locality", "istio-locality"];

/** The locality in a workload's labels. Empty without such a label. */
export function nodeLocality(labels: Readonly<Record<string, string>>): NodeLocality {
  const text = LOCALITY_LABELS.map((label) => labels[label]).find((value) => value) ?? "";
  const [region = "", zone = "", ...rest] = (text.includes("/") ? text : text.replaceAll(".", "/")).split("/");
  return {
    ...(region === "" ? {} : { region }),
    ...(zone === "" ? {} : { zone }),
    ...(rest.length === 0 ? {} : { sub_zone: rest.join("/") }),
  };
}
