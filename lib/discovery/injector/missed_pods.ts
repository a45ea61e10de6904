/**
 * Finds pods without a proxy that should have a proxy. Such pods were created before their namespace was labelled,
 * while no webhook was configured, or while its failures were ignored. After a restart of the owner, the pods have a
 * proxy.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { ChangeSet } from "../../config/store.ts";
import { whyNot } from "../../injection/decision.ts";
import type { InjectionConfig } from "../../injection/types.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { type InjectorScope, isAskedFor } from "../../webhook/injector_entries.ts";

/** Names of the proxy's container, this project's and Istio's. */
const PROXIES = new Set(["mesh-proxy", "istio-proxy"]);

/**
 * Annotation about injected parts, in this project's spelling. For templates without a proxy container, the annotation
 * is the only sign of injection.
 */
const STATUS = "sidecar.mesh.io/status";

/** Label of every namespace with the namespace's name. */
const NAME_LABEL = "kubernetes.io/metadata.name";

/** Milliseconds for which changes are gathered before logging: a restart of a Deployment changes many pods. */
const GATHER_MS = 5_000;

/** Inputs of the search. */
export interface MissedPodsParts {
  readonly facts: FactStore;
  readonly scope: InjectorScope;
  /** Undefined: there is no configuration yet, and no pod counts as missed. */
  readonly config: () => InjectionConfig | undefined;
  readonly log: Logger;
  readonly clock: Pick<Clock, "after">;
}

/** A pod without its proxy. */
export interface MissedPod {
  readonly namespace: string;
  readonly pod: string;
  /** The object that made the pod, as `Kind/name`; empty: the pod has no owner. */
  readonly owner: string;
}

export class MissedPods {
  readonly #parts: MissedPodsParts;
  /** By namespace, then by name. */
  readonly #missed = new Map<string, Map<string, MissedPod>>();
  /** Number of missed pods in the last log line, by namespace. */
  #reported: ReadonlyMap<string, number> = new Map();
  #report: Cancel | undefined;
  readonly #unsubscribe: () => void;

  constructor(parts: MissedPodsParts) {
    this.#parts = parts;
    this.#unsubscribe = parts.facts.subscribe((changes) => this.#take(changes));
    this.lookAgain();
  }

  /** All missed pods, by namespace. */
  *all(): Generator<MissedPod> {
    for (const [, pods] of [...this.#missed].sort(([a], [b]) => (a < b ? -1 : 1))) yield* pods.values();
  }

  /** Looks at all pods again after a change of the configuration. */
  lookAgain(): void {
    for (const pod of this.#parts.facts.list("Pod")) this.#look(pod);
  }

  stop(): void {
    this.#unsubscribe();
    this.#report?.();
  }

  #take({ added, updated, refreshed, removed }: ChangeSet<Fact>): void {
    const changed = [...added, ...[...updated, ...refreshed].map((update) => update.new)];
    const namespaces = new Set<string>();
    for (const fact of changed) {
      if (fact.kind === "Pod") this.#look(fact as Fact<"Pod">);
      else if (fact.kind === "Namespace") namespaces.add(fact.meta.name);
    }
    for (const { kind, meta } of removed) if (kind === "Pod") this.#set(meta.namespace, meta.name, undefined);
    for (const namespace of namespaces) {
      for (const pod of this.#parts.facts.list("Pod", namespace)) this.#look(pod);
    }
  }

  #look(pod: Fact<"Pod">): void {
    const { namespace, name } = pod.meta;
    const missed = this.#isMissed(pod) ? { namespace, pod: name, owner: pod.spec.owner ?? "" } : undefined;
    this.#set(namespace, name, missed);
  }

  #isMissed({ meta: { namespace }, spec, origin }: Fact<"Pod">): boolean {
    const config = this.#parts.config();
    const hasEnded = spec.running?.deleting === true || spec.phase === "Succeeded" || spec.phase === "Failed";
    if (config === undefined || origin.from !== "api" || hasEnded) return false;
    if (spec.annotations[STATUS] !== undefined || spec.containers.some(({ name }) => PROXIES.has(name))) return false;
    const { labels, annotations, hostNetwork } = spec;
    const pod = {
      metadata: { labels: { ...labels }, annotations: { ...annotations } },
      spec: { hostNetwork, containers: [] },
    };
    if (whyNot({ pod, namespace }, config) !== undefined) return false;
    const ofNamespace = this.#parts.facts.get("Namespace", "", namespace)?.meta.labels;
    return isAskedFor(this.#parts.scope, { ...ofNamespace, [NAME_LABEL]: namespace }, labels);
  }

  #set(namespace: string, name: string, missed: MissedPod | undefined): void {
    const pods = this.#missed.get(namespace);
    if (missed === undefined) {
      if (pods?.delete(name) !== true) return;
      if (pods.size === 0) this.#missed.delete(namespace);
    } else {
      if (pods?.has(name)) return;
      if (pods === undefined) this.#missed.set(namespace, new Map([[name, missed]]));
      else pods.set(name, missed);
    }
    this.#report ??= this.#parts.clock.after(GATHER_MS, () => this.#reportNow());
  }

  /**
   * Logs a line for each namespace with more missed pods than before, and for each namespace without missed pods any
   * more.
   */
  #reportNow(): void {
    this.#report = undefined;
    const now = new Map([...this.#missed].map(([namespace, pods]) => [namespace, pods.size]));
    const { log } = this.#parts;
    for (const [namespace, pods] of now) {
      if (pods <= (this.#reported.get(namespace) ?? 0)) continue;
      const [first] = this.#missed.get(namespace)!.values();
      log.warn("pods that should have a proxy lack the proxy; restart their owners", {
        ...{ namespace, pods, first: first!.pod, of: first!.owner },
      });
    }
    for (const namespace of this.#reported.keys()) {
      if (!now.has(namespace)) log.info("all pods that should have a proxy have a proxy", { namespace });
    }
    this.#reported = now;
  }
}
