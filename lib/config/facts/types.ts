/**
 * Facts: objects of an orchestrator to which configuration refers. Metadata is like the metadata of configuration
 * objects, with labels and annotations in our spelling. A fact holds only the fields that the server reads.
 *
 * @module
 */
import type { Origin } from "../../finding/origin.ts";
import type { ObjectMeta } from "../types.ts";
import type { ConcealedBytes } from "./concealed.ts";
import type { IngressClassData, IngressData } from "./ingress_data.ts";
import type {
  EndpointsData,
  EndpointSliceData,
  ServiceData,
  ServiceExportData,
  ServiceImportData,
} from "./service_data.ts";
import { WORKLOAD_KINDS, type WorkloadData, type WorkloadKind } from "./workload_data.ts";

export type * from "./ingress_data.ts";
export type * from "./service_data.ts";
export type * from "./workload_data.ts";

/** A namespace. Only the metadata matters. */
export type NamespaceData = Readonly<Record<never, never>>;

/** A service account. Only the metadata matters. */
export type ServiceAccountData = Readonly<Record<never, never>>;

/** A node. Only metadata and address matter. */
export interface NodeData {
  /** The node's addresses outside of its network; absent: none, or only the metadata was read. */
  readonly externalAddresses?: readonly string[];
}

/** Credentials and other confidential data. */
export interface SecretData {
  /** `Opaque`, `kubernetes.io/tls`, ...: the meaning of the keys. */
  readonly type: string;
  readonly data: Readonly<Record<string, ConcealedBytes>>;
}

/** Settings as text. */
export interface ConfigMapData {
  readonly data: Readonly<Record<string, string>>;
  readonly binaryData: Readonly<Record<string, Uint8Array>>;
}

/** The type of the content by kind. */
export interface FactSpecs extends Record<WorkloadKind, WorkloadData> {
  Namespace: NamespaceData;
  Node: NodeData;
  Secret: SecretData;
  ConfigMap: ConfigMapData;
  ServiceAccount: ServiceAccountData;
  Service: ServiceData;
  Endpoints: EndpointsData;
  EndpointSlice: EndpointSliceData;
  Ingress: IngressData;
  IngressClass: IngressClassData;
  ServiceExport: ServiceExportData;
  ServiceImport: ServiceImportData;
}

/** Name of a kind of facts. */
export type FactKind = keyof FactSpecs;

/** Every kind of facts with the `apiVersion` of its objects. */
export const FACT_API_VERSIONS: Readonly<Record<FactKind, string>> = {
  Namespace: "v1",
  Node: "v1",
  Secret: "v1",
  ConfigMap: "v1",
  ServiceAccount: "v1",
  Service: "v1",
  Endpoints: "v1",
  EndpointSlice: "discovery.k8s.io/v1",
  Ingress: "networking.k8s.io/v1",
  IngressClass: "networking.k8s.io/v1",
  // From an API server these two are read in the group and version of the server's settings.
  ServiceExport: "multicluster.x-k8s.io/v1alpha1",
  ServiceImport: "multicluster.x-k8s.io/v1alpha1",
  Pod: "v1",
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  DaemonSet: "apps/v1",
  ReplicaSet: "apps/v1",
  Job: "batch/v1",
  CronJob: "batch/v1",
};

/** Every kind of facts, in the order of pages. */
export const FACT_KINDS = Object.keys(FACT_API_VERSIONS) as readonly FactKind[];

/** One fact. Immutable; a change makes a new fact. */
export interface Fact<K extends FactKind = FactKind> {
  readonly kind: K;
  /**
   * `kind/namespace/name`. A Namespace, Node or IngressClass has no namespace, and its name comes last:
   * `Namespace//shop`.
   */
  readonly key: string;
  readonly meta: ObjectMeta;
  readonly spec: FactSpecs[K];
  readonly origin: Origin;
  /** Equal for two versions with the same meaning. Outside this process the hash reveals nothing of a secret's data. */
  readonly hash: string;
}

/** A fact of any kind as a union, so that `switch (fact.kind)` narrows `fact.spec`. */
export type AnyFact = { [K in FactKind]: Fact<K> }[FactKind];

/** Whether a kind is a kind of facts. */
export function isFactKind(kind: string): kind is FactKind {
  return Object.hasOwn(FACT_API_VERSIONS, kind);
}

/** Whether objects of a kind are in no namespace. */
export function isClusterWide(kind: FactKind): boolean {
  return kind === "Namespace" || kind === "Node" || kind === "IngressClass";
}

/** Whether a fact is a workload. */
export function isWorkload(fact: Fact): fact is Fact<WorkloadKind> {
  return (WORKLOAD_KINDS as readonly string[]).includes(fact.kind);
}
