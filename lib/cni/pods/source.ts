/**
 * All requests of the node's programs to the orchestrator. The plugin looks up a single pod. The repair of broken pods
 * watches the node's pods, labels and deletes.
 *
 * @module
 */
import type { NodeView } from "./node_view.ts";
import type { Pod } from "./pod.ts";

/** Looks up the facts that the plugin needs of a pod. */
export interface PodLookup {
  /**
   * The present pod. Undefined: there is none.
   * @throws {PodSourceError} When there is no answer.
   */
  pod(namespace: string, name: string): Promise<Pod | undefined>;
  /** Labels of a namespace; undefined when there is none. Throws as {@link PodLookup.pod}. */
  namespaceLabels(name: string): Promise<Readonly<Record<string, string>> | undefined>;
}

/** Selects the watched pods. Selectors are in the orchestrator's form: `key=value,...`. */
export interface PodFilter {
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

/** A pod came or changed, or went. */
export type PodEvent = { readonly type: "pod"; readonly pod: Pod } | {
  readonly type: "gone";
  readonly namespace: string;
  readonly name: string;
};

/** An event about a pod, for people. */
export interface PodNote {
  readonly reason: string;
  readonly message: string;
}

/** All that a node does with pods. */
export interface PodSource extends PodLookup {
  /**
   * The matching pods, each once, then every change, until the signal aborts. A lost connection is made again, and the
   * missed changes follow.
   * @param troubled Called with the reason when a connection was lost.
   */
  watch(filter: PodFilter, signal: AbortSignal, troubled?: (error: PodSourceError) => void): AsyncIterable<PodEvent>;
  /** Adds a label to a pod. */
  label(pod: Pod, key: string, value: string): Promise<void>;
  /** Sets annotations of this pod, or takes them away: null. Refused for a later pod of the same name. */
  annotate(pod: Pod, annotations: Readonly<Record<string, string | null>>): Promise<void>;
  /** The pods of a node, kept up to date. */
  node(name: string): NodeView;
  /** Deletes this pod, but not a later pod of the same name, and not a pod that changed since. */
  remove(pod: Pod): Promise<void>;
  /** Publishes an event about a pod. */
  note(pod: Pod, note: PodNote): Promise<void>;
  /**
   * Whether the set of a pod stays. False when the set is gone or going: then the set's pods end for good and are not
   * replaced.
   * @throws {PodSourceError} When there is no answer or no such pod. A pod that was deleted by force no longer names
   * its set.
   */
  setStays(namespace: string, podName: string): Promise<boolean>;
}

/** The orchestrator did not answer, or refused. */
export class PodSourceError extends Error {
  override readonly name = "PodSourceError";
  /** @param status HTTP status of a refusal; undefined without an answer. */
  constructor(message: string, readonly status: number | undefined, options?: ErrorOptions) {
    super(message, options);
  }

  /** True when another attempt may help: no answer, too busy, or credentials that are being renewed. */
  get transient(): boolean {
    return this.status === undefined || this.status === 401 || this.status === 429 || this.status >= 500;
  }
}
