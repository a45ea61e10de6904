/**
 * The view of facts, kept up to date change by change.
 *
 * Answers are computed on demand and kept until a change affects them: the cost of a change depends on its objects.
 *
 * @module
 */
import { InvalidatedKeys } from "../../incremental/keys.ts";
import type { ChangeSet } from "../store.ts";
import type { ConcealedBytes } from "./concealed.ts";
import type { FactStore } from "./store.ts";
import { type AnyFact, type EndpointSubsetData, type Fact, FACT_KINDS, isWorkload } from "./types.ts";
import type { FactKeyKind, FactView, KeptData, ServiceFact, Whole, WorkloadFact } from "./view.ts";
import { WorkloadIndex } from "./workload_index.ts";
import { WORKLOAD_KINDS } from "./workload_data.ts";

/** The view over a store. `apply` must be called with every change of the store. */
export class FactIndex implements FactView {
  readonly domain: string;
  readonly #store: FactStore;
  /** Answers by kind of key and name. */
  readonly #answers = new Map<FactKeyKind, Map<string, unknown>>();
  readonly #workloads = new Map<string, WorkloadIndex>();
  /** Endpoint slices by namespace and service. */
  readonly #slices = new Map<string, ReadonlyMap<string, readonly Fact<"EndpointSlice">[]>>();
  /** Number of facts in each namespace, Namespace objects included. */
  readonly #held = new Map<string, number>();

  /** @param domain DNS suffix of services, such as `cluster.local`. */
  constructor(store: FactStore, domain: string) {
    this.#store = store;
    this.domain = domain.toLowerCase();
    for (const kind of FACT_KINDS) for (const fact of store.list(kind)) this.#hold(fact, 1);
  }

  /** Takes a change of the store. @returns the keys with other answers now */
  apply({ added, updated, removed, refreshed }: ChangeSet<Fact>): InvalidatedKeys {
    const keys = new InvalidatedKeys();
    for (const fact of added) this.#hold(fact, 1, keys);
    for (const fact of removed) this.#hold(fact, -1, keys);
    for (const fact of [...added, ...removed]) this.#affect(fact as AnyFact, keys, true);
    // A fact that moved to another line is a new object: holders must ask again, though the content is equal.
    for (const { old, new: now } of [...updated, ...refreshed]) {
      this.#affect(old as AnyFact, keys, false);
      this.#affect(now as AnyFact, keys, false);
    }
    for (const [kind, known] of this.#answers) for (const name of keys.among(kind, known)) known.delete(name);
    for (const namespace of keys.among("fact-workloads", this.#workloads)) this.#workloads.delete(namespace);
    return keys;
  }

  empty(list: Whole): boolean {
    switch (list) {
      case "hosts":
        return this.#store.list("Service").length === 0;
      case "namespaces":
        return this.#store.list("Namespace").length === 0;
      case "workloads":
        return WORKLOAD_KINDS.every((kind) => this.#store.list(kind).length === 0);
      case "secrets":
        return this.#store.list("Secret").length === 0;
    }
  }

  service(host: string): ServiceFact | undefined {
    return this.#kept("fact-host", host, () => {
      const fact = this.#serviceOf(host);
      return fact && { host, fact, headless: fact.spec.clusterIPs.includes("None") };
    });
  }

  hosts(): readonly string[] {
    return this.#kept(
      "fact-lists",
      "hosts",
      () => this.#store.list("Service").map((fact) => this.#hostOf(fact)).sort(),
    );
  }

  services(namespace: string): readonly ServiceFact[] {
    return this.#kept(
      "fact-services",
      namespace,
      () => this.#store.list("Service", namespace).flatMap((fact) => this.service(this.#hostOf(fact)) ?? []),
    );
  }

  endpoints(host: string): readonly EndpointSubsetData[] {
    return this.#kept("fact-endpoints", host, () => {
      const [name, namespace] = this.#nameOf(host) ?? ["", ""];
      return [
        ...(this.#slicesIn(namespace).get(name) ?? []).map(({ spec }) => spec),
        ...this.#store.get("Endpoints", namespace, name)?.spec.subsets ?? [],
      ];
    });
  }

  namespace(name: string): Fact<"Namespace"> | undefined {
    return this.#store.get("Namespace", "", name);
  }

  namespaces(): readonly string[] {
    return this.#kept("fact-lists", "namespaces", () => [...this.#held.keys()].sort());
  }

  workloads(namespace: string): readonly WorkloadFact[] {
    return this.#workloadsOf(namespace).all;
  }

  workloadsWith(namespace: string, labels: Readonly<Record<string, string>>): readonly WorkloadFact[] {
    return this.#workloadsOf(namespace).withLabels(labels);
  }

  secret(namespace: string, name: string): KeptData | undefined {
    return this.#kept("fact-secret", `${namespace}/${name}`, () => {
      const fact = this.#store.get("Secret", namespace, name);
      return fact && keptData(fact, fact.spec.type, fact.spec.data);
    });
  }

  configMap(namespace: string, name: string): KeptData | undefined {
    return this.#kept("fact-configmap", `${namespace}/${name}`, () => {
      const fact = this.#store.get("ConfigMap", namespace, name);
      return fact && keptData(fact, "", { ...fact.spec.data, ...fact.spec.binaryData });
    });
  }

  serviceAccount(namespace: string, name: string): Fact<"ServiceAccount"> | undefined {
    return this.#store.get("ServiceAccount", namespace, name);
  }

  #kept<T>(kind: FactKeyKind, name: string, compute: () => T): T {
    let known = this.#answers.get(kind);
    if (known === undefined) this.#answers.set(kind, known = new Map());
    // No answer about a missing thing is kept: callers may name any number of missing things.
    if (known.has(name)) return known.get(name) as T;
    const answer = compute();
    if (answer === undefined || (Array.isArray(answer) && answer.length === 0)) return (answer && NOTHING) as T;
    known.set(name, answer);
    return answer;
  }

  #slicesIn(namespace: string): ReadonlyMap<string, readonly Fact<"EndpointSlice">[]> {
    let found = this.#slices.get(namespace);
    if (found !== undefined) return found;
    const slices = this.#store.list("EndpointSlice", namespace);
    found = Map.groupBy(slices, ({ spec }) => spec.service);
    if (slices.length > 0) this.#slices.set(namespace, found);
    return found;
  }

  #workloadsOf(namespace: string): WorkloadIndex {
    const known = this.#workloads.get(namespace);
    if (known !== undefined) return known;
    const found = WORKLOAD_KINDS.flatMap((kind) => this.#store.list(kind, namespace));
    if (found.length === 0) return NO_WORKLOADS;
    const made = new WorkloadIndex(found);
    this.#workloads.set(namespace, made);
    return made;
  }

  #hostOf({ meta: { namespace, name } }: Pick<Fact, "meta">): string {
    return this.#hostNamed(name, namespace);
  }

  #hostNamed(name: string, namespace: string): string {
    return `${name}.${namespace}.svc.${this.domain}`.toLowerCase();
  }

  /** Name and namespace of the service with a host. */
  #nameOf(host: string): [name: string, namespace: string] | undefined {
    const suffix = `.svc.${this.domain}`;
    if (!host.endsWith(suffix)) return undefined;
    const dot = host.lastIndexOf(".", host.length - suffix.length - 1);
    return dot <= 0 ? undefined : [host.slice(0, dot), host.slice(dot + 1, -suffix.length)];
  }

  #serviceOf(host: string): Fact<"Service"> | undefined {
    const [name, namespace] = this.#nameOf(host) ?? [];
    return name === undefined || namespace === undefined ? undefined : this.#store.get("Service", namespace, name);
  }

  #hold(fact: Fact, by: 1 | -1, keys?: InvalidatedKeys): void {
    if (fact.kind === "Node" || fact.kind === "IngressClass") return;
    const namespace = fact.kind === "Namespace" ? fact.meta.name : fact.meta.namespace;
    const before = this.#held.get(namespace) ?? 0;
    if (before + by > 0) this.#held.set(namespace, before + by);
    else this.#held.delete(namespace);
    if (before === 0 || before + by === 0) keys?.add("fact-lists", "namespaces");
  }

  /** @param isNew The fact came or went, so lists of names change too. */
  #affect(fact: AnyFact, keys: InvalidatedKeys, isNew: boolean): void {
    const { namespace, name } = fact.meta;
    const add = (kind: FactKeyKind, key: string) => keys.add(kind, key);
    const list = (whole: Whole) => isNew && add("fact-lists", whole);
    if (isWorkload(fact)) {
      add("fact-workloads", namespace);
      return void list("workloads");
    }
    switch (fact.kind) {
      case "Service":
        add("fact-host", this.#hostOf(fact));
        add("fact-services", namespace);
        return void list("hosts");
      case "Endpoints":
        return add("fact-endpoints", this.#hostOf(fact));
      case "EndpointSlice":
        this.#slices.delete(namespace);
        return add("fact-endpoints", this.#hostNamed(fact.spec.service, namespace));
      case "Node":
      case "Ingress":
      case "IngressClass":
        return;
      case "Namespace":
        add("fact-namespace", name);
        return void list("namespaces");
      case "Secret":
        add("fact-secret", `${namespace}/${name}`);
        return void list("secrets");
      case "ConfigMap":
        return add("fact-configmap", `${namespace}/${name}`);
      case "ServiceAccount":
        return add("fact-account", `${namespace}/${name}`);
    }
  }
}

const NOTHING: readonly never[] = Object.freeze([]);
const NO_WORKLOADS = new WorkloadIndex([]);

function keptData(
  { meta: { namespace, name }, origin }: Fact,
  type: string,
  data: Readonly<Record<string, ConcealedBytes | string | Uint8Array>>,
): KeptData {
  const sizes = Object.entries(data).map(([key, value]) => [key, value.length] as const);
  return { namespace, name, type, keys: new Map(sizes.sort(([a], [b]) => (a < b ? -1 : 1))), origin };
}
