/**
 * The requests of the node's programs to the orchestrator, and no more than those. The plugin looks up one pod; the
 * repair of broken pods watches the node's pods, labels and deletes.
 *
 * @module
 */
import type { Pod } from "./pod.ts";

/** Looks up the facts that the plugin must know of a pod. */
export interface PodLookup {
  /**
   * One pod as the orchestrator has it now; undefined when there is none.
   *
   * @throws {PodSourceError} when there is no answer.
   */
  pod(namespace: string, name: string): Promise<Pod | undefined>;
  /** Labels of a namespace; undefined when there is none. Throws as {@link PodLookup.pod}. */
  namespaceLabels(name: string): Promise<Readonly<Record<string, string>> | undefined>;
}

/** Selects the pods that are watched. Selectors as the orchestrator writes them: `key=value,...`. */
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
   * The pods that match, each once, then every change, until the signal aborts. A lost connection is made again, after
   * which the changes of the meantime come.
   *
   * @param troubled Called with the reason each time a connection was lost.
   */
  watch(filter: PodFilter, signal: AbortSignal, troubled?: (error: PodSourceError) => void): AsyncIterable<PodEvent>;
  /** Adds a label to a pod. */
  label(pod: Pod, key: string, value: string): Promise<void>;
  /** Deletes this pod: not one of the same name that came after it, and not one that changed since. */
  remove(pod: Pod): Promise<void>;
  /** Publishes an event about a pod. */
  note(pod: Pod, note: PodNote): Promise<void>;
  /**
   * Whether the set of pods to which a pod belongs is to stay: false when the set is gone or going, so that its pods end
   * for good and not for a replacement.
   *
   * @throws {PodSourceError} when there is no answer, or no such pod: one that was deleted by force no longer names its
   *   set.
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

  /** True when asking again may help: no answer, too busy, or credentials that are being renewed. */
  get transient(): boolean {
    return this.status === undefined || this.status === 401 || this.status === 429 || this.status >= 500;
  }
}
