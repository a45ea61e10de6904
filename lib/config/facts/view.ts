/**
 * Facts for the analysis: plain data, found by the names in configuration.
 *
 *     FactStore ──(changes)──> FactIndex: FactView
 *                                 └─ apply() returns the keys with other answers now
 *
 * Each method of the view is one query about one key. {@linkcode FACT_QUERIES} holds the queries for a recorder
 * (lib/incremental). {@linkcode FactKeyKind} are the kinds of their keys, which `FactIndex.apply` invalidates. An
 * answer is the same object (`===`) until one of its keys is invalidated.
 *
 * Facts show the content of a folder or an orchestrator. A missing object proves something only if the facts are
 * complete: a folder may hold a part of a cluster's manifests, see `FactView.empty`.
 *
 * @module
 */
import type { SourceQuery } from "../../incremental/read_record.ts";
import type { Origin } from "../../finding/origin.ts";
import type { EndpointSubsetData, Fact, WorkloadKind } from "./types.ts";

/** A service with its host in configuration. */
export interface ServiceFact {
  /** `NAME.NAMESPACE.svc.DOMAIN`, in lower case. */
  readonly host: string;
  /** `fact.spec` has ports, selector, type, addresses; `fact.meta` namespace, name, labels, annotations. */
  readonly fact: Fact<"Service">;
  /** The service has no virtual address: its name resolves to the addresses of its endpoints. */
  readonly headless: boolean;
}

/** A workload: `fact.kind` and `fact.meta` identify the workload, `fact.spec` describes its pods. */
export type WorkloadFact = Fact<WorkloadKind>;

/** A secret or config map without its contents. */
export interface KeptData {
  readonly namespace: string;
  readonly name: string;
  /** Of a secret: `Opaque`, `kubernetes.io/tls`, ...; of a config map empty. */
  readonly type: string;
  /** Names of the keys, sorted, with the length of each value in bytes (of a config map's text: characters). */
  readonly keys: ReadonlyMap<string, number>;
  readonly origin: Origin;
}

/** Kinds of keys. Names: of `fact-host` a host; of `fact-secret` and the like `NAMESPACE/NAME`; else a namespace. */
export type FactKeyKind =
  | "fact-host"
  | "fact-services"
  | "fact-endpoints"
  | "fact-workloads"
  | "fact-namespace"
  | "fact-secret"
  | "fact-configmap"
  | "fact-account"
  /** Names: see {@linkcode Whole}. */
  | "fact-lists";

/** Lists over all namespaces with keys of their own. */
export type Whole = "hosts" | "namespaces" | "workloads" | "secrets";

/** The facts that the analysis reads. */
export interface FactView {
  /** DNS suffix of services, `--domain`. */
  readonly domain: string;
  /**
   * Whether a list is empty in all namespaces, so that a missing object proves nothing. `namespaces` counts only
   * Namespace objects. Key: `fact-lists` and the list.
   */
  empty(list: Whole): boolean;
  /** The service with a host. Key: `fact-host` HOST. */
  service(host: string): ServiceFact | undefined;
  /** All hosts of services, sorted. Key: `fact-lists` `hosts`. */
  hosts(): readonly string[];
  /** The services of a namespace, by name. Key: `fact-services` NAMESPACE. */
  services(namespace: string): readonly ServiceFact[];
  /** Endpoints of a service, from its Endpoints and EndpointSlices. Key: `fact-endpoints` HOST. */
  endpoints(host: string): readonly EndpointSubsetData[];
  /** The object of a namespace, with its labels. Key: `fact-namespace` NAMESPACE. */
  namespace(name: string): Fact<"Namespace"> | undefined;
  /** Namespaces with an object of their own or with facts, sorted. Key: `fact-lists` `namespaces`. */
  namespaces(): readonly string[];
  /** The workloads of a namespace, by key. Key: `fact-workloads` NAMESPACE. */
  workloads(namespace: string): readonly WorkloadFact[];
  /**
   * The workloads of a namespace whose pods have all these labels; without labels: all workloads. The cost grows with
   * the number of workloads with the rarest label. A new list at each call. Key: `fact-workloads` NAMESPACE.
   */
  workloadsWith(namespace: string, labels: Readonly<Record<string, string>>): readonly WorkloadFact[];
  /** A secret. Key: `fact-secret` NAMESPACE/NAME. */
  secret(namespace: string, name: string): KeptData | undefined;
  /** A config map. Key: `fact-configmap` NAMESPACE/NAME. */
  configMap(namespace: string, name: string): KeptData | undefined;
  /** A service account. Key: `fact-account` NAMESPACE/NAME. */
  serviceAccount(namespace: string, name: string): Fact<"ServiceAccount"> | undefined;
}

/** A source of facts. */
interface HasFacts {
  readonly facts: FactView;
}

/** The view's methods as recorded queries; `recorder.ask(FACT_QUERIES.service, host)`. */
export const FACT_QUERIES = {
  service: query("fact-host", (facts, host) => facts.service(host)),
  hosts: query("fact-lists", (facts) => facts.hosts()),
  services: query("fact-services", (facts, namespace) => facts.services(namespace)),
  endpoints: query("fact-endpoints", (facts, host) => facts.endpoints(host)),
  namespace: query("fact-namespace", (facts, name) => facts.namespace(name)),
  namespaces: query("fact-lists", (facts) => facts.namespaces()),
  workloads: query("fact-workloads", (facts, namespace) => facts.workloads(namespace)),
  /** Of `NAMESPACE/NAME`. */
  secret: query("fact-secret", (facts, key) => facts.secret(...parts(key))),
  /** Of `NAMESPACE/NAME`. */
  configMap: query("fact-configmap", (facts, key) => facts.configMap(...parts(key))),
  /** Of `NAMESPACE/NAME`. */
  serviceAccount: query("fact-account", (facts, key) => facts.serviceAccount(...parts(key))),
  /** Of a {@linkcode Whole}. */
  empty: query("fact-lists", (facts, list) => facts.empty(list as Whole)),
} as const;

function query<T>(on: FactKeyKind, ask: (facts: FactView, name: string) => T): SourceQuery<HasFacts, T> {
  return { ask: ({ facts }, name) => ask(facts, name), on: [on] };
}

function parts(key: string): [namespace: string, name: string] {
  const slash = key.indexOf("/");
  return [key.slice(0, slash), key.slice(slash + 1)];
}
