/**
 * Facts: objects of an orchestrator that configuration refers to without being configuration. Metadata is as that of
 * configuration objects, labels and annotations in our spelling.
 *
 * @module
 */
import type { Origin } from "../finding/origin.ts";
import type { ObjectMeta } from "../types.ts";
import type { ConcealedBytes } from "./concealed.ts";

/** A namespace; all that matters of it is its metadata. */
export type NamespaceData = Readonly<Record<never, never>>;

/** Credentials and other confidential data. */
export interface SecretData {
  /** `Opaque`, `orch.io/tls`, ...: what the keys mean. */
  readonly type: string;
  readonly data: Readonly<Record<string, ConcealedBytes>>;
}

/** Settings as text. */
export interface ConfigMapData {
  readonly data: Readonly<Record<string, string>>;
  readonly binaryData: Readonly<Record<string, Uint8Array>>;
}

/** A port of an orchestrator's service. */
export interface ServicePortData {
  /** Empty where the only port has no name. */
  readonly name: string;
  readonly port: number;
  /** `TCP` (the default), `UDP` or `SCTP`. */
  readonly protocol: string;
  readonly appProtocol?: string;
  /** Number or name of the port of the workloads; absent: `port`. */
  readonly targetPort?: number | string;
  readonly nodePort?: number;
}

/** A service of the orchestrator. */
export interface ServiceData {
  /** `ClusterIP` (the default), `NodePort`, `LoadBalancer` or `ExternalName`. */
  readonly type: string;
  /** Virtual addresses; `None` for a headless service. */
  readonly clusterIPs: readonly string[];
  readonly externalIPs: readonly string[];
  readonly externalName?: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly ServicePortData[];
  /** Addresses of the load balancer in front of it: IPs and host names. */
  readonly loadBalancers: readonly string[];
}

/** Kind of a fact to what it holds. */
export interface FactSpecs {
  Namespace: NamespaceData;
  Secret: SecretData;
  ConfigMap: ConfigMapData;
  Service: ServiceData;
}

/** Name of a kind of facts. */
export type FactKind = keyof FactSpecs;

/** Every kind of facts. */
export const FACT_KINDS: readonly FactKind[] = ["Namespace", "Secret", "ConfigMap", "Service"];

/** One fact. Immutable; a change makes a new one. */
export interface Fact<K extends FactKind = FactKind> {
  readonly kind: K;
  /** `kind/namespace/name`; a Namespace has its own name as both. */
  readonly key: string;
  readonly meta: ObjectMeta;
  readonly spec: FactSpecs[K];
  readonly origin: Origin;
  /** Equal for two versions that mean the same; tells nothing of a secret's data outside this process. */
  readonly hash: string;
}

/** A fact of any kind as a union, so that `switch (fact.kind)` narrows `fact.spec`. */
export type AnyFact = { [K in FactKind]: Fact<K> }[FactKind];
