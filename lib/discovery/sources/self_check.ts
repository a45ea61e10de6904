/**
 * The regular check that the served services match the orchestrator's objects. Each step of the way is compared with
 * the step before, and repaired.
 *
 *     API ──list of metadata──> informer ──> store ──> services, endpoints, workloads
 *
 * Events keep all steps equal, so a difference is a mistake of this program or of the API. Differences are counted and
 * logged.
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import type { Fact } from "../../config/facts/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { oneTurn } from "../../kernel/time/paced.ts";
import type { ServicesCheck } from "./fact_registry.ts";
import type { ApiFeed } from "./feed.ts";

/** How long a watch may take to report the objects of a list, milliseconds. */
const PATIENCE_MS = 5000;

/** Facts that are looked up between two turns of the event loop. */
const LOOKED_AT_ONCE = 200;

/** The step at which a difference was found. */
export type DriftPlace = "api" | "store" | "services";

/** A cluster to check. */
export interface CheckedCluster {
  readonly cluster: string;
  /** A kind that is needed to read other kinds comes first. */
  readonly feeds: () => Iterable<ApiFeed<Fact> | ApiFeed<ConfigObject>>;
  /** The fact in force. */
  readonly fact: (key: string) => Fact | undefined;
  /** Resolves when all changes of the stores have been handed over. */
  readonly handedOver: () => Promise<void>;
  /** Absent: services come from elsewhere. */
  readonly services?: ServicesCheck | undefined;
  /** Whether the feeds are no longer in use. Default: false. */
  readonly isOver?: () => boolean;
}

export interface SelfCheckParts {
  /** The clusters of the moment. */
  readonly clusters: () => Iterable<CheckedCluster>;
  readonly kernel: Pick<Kernel, "log" | "metrics" | "clock">;
}

export class SelfCheck {
  readonly #parts: SelfCheckParts;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(parts: SelfCheckParts) {
    this.#parts = parts;
  }

  /** Checks at intervals from now on, milliseconds; 0: never. */
  start(interval: number): void {
    if (interval > 0) this.#running ??= this.#run(interval);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    await this.#running;
  }

  /** Checks all clusters once. */
  async check(patience = PATIENCE_MS): Promise<void> {
    for (const cluster of this.#parts.clusters()) {
      for (const feed of cluster.feeds()) {
        this.#stop.signal.throwIfAborted();
        if (cluster.isOver?.()) break;
        await this.#guarded(cluster, feed.kind, async () => {
          this.#drifted("api", cluster, feed.kind, await feed.checkApi(patience));
          await this.#checkStore(cluster, feed);
          await this.#checkGone(cluster, feed.kind);
        });
      }
    }
  }

  async #run(interval: number): Promise<void> {
    const { clock } = this.#parts.kernel;
    const { signal } = this.#stop;
    try {
      for (;;) {
        await clock.sleep(interval, signal);
        await this.check();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Runs in steps between which the event loop turns. */
  async #checkStore(cluster: CheckedCluster, feed: ApiFeed<Fact> | ApiFeed<ConfigObject>): Promise<void> {
    const { services, fact, handedOver } = cluster;
    for (const { objects, drifted } of feed.checkStore()) {
      this.#drifted("store", cluster, feed.kind, drifted);
      if (services !== undefined) {
        await handedOver();
        if (cluster.isOver?.()) return;
        const facts = objects.flatMap(({ key }) => fact(key) ?? []);
        this.#drifted("services", cluster, feed.kind, services.check(facts));
      }
      await oneTurn();
      this.#stop.signal.throwIfAborted();
    }
  }

  /** Looks for services of facts that are gone. */
  async #checkGone(cluster: CheckedCluster, kind: string): Promise<void> {
    const { services, fact, handedOver } = cluster;
    if (services === undefined) return;
    let gone: string[] = [];
    let looked = 0;
    const drop = async () => {
      await handedOver();
      if (cluster.isOver?.()) return;
      // A change that arrived meanwhile does not count as drift.
      this.#drifted("services", cluster, kind, services.drop(gone.filter((key) => fact(key) === undefined)));
      gone = [];
      await oneTurn();
      this.#stop.signal.throwIfAborted();
    };
    for (const key of services.keys(kind)) {
      if (fact(key) === undefined) gone.push(key);
      if (++looked % LOOKED_AT_ONCE === 0) await drop();
    }
    await drop();
  }

  /** A failed check does not prevent further checks. */
  async #guarded({ cluster, isOver }: CheckedCluster, kind: string, check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (this.#stop.signal.aborted) throw error;
      if (isOver?.()) return;
      this.#parts.kernel.log.scope("controllers").warn("objects could not be compared with their source", {
        ...{ cluster, kind, error },
      });
    }
  }

  #drifted(place: DriftPlace, { cluster }: CheckedCluster, kind: string, count: number): void {
    if (count === 0) return;
    const { kernel } = this.#parts;
    kernel.metrics.counter("pilot_k8s_drift").inc({ cluster, type: kind, place }, count);
    kernel.log.scope("controllers").warn("objects differed from their source, and are repaired", {
      ...{ cluster, kind, place, count },
    });
  }
}
