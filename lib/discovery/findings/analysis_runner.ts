/**
 * Runs the analysis of the mesh beside the pipeline: after each push, in steps, so that no push waits for the analysis.
 *
 *     push ─> changed keys are noted ─> steps between which the event loop turns ─> findings of that push
 *
 * Permissions: read (the files of findings, when somebody asks for line numbers).
 *
 * @module
 */
import { readRegular } from "../../kernel/files/regular.ts";
import { Analysis, type AnalysisOptions } from "../../analyze/analysis.ts";
import { FindingPlaces } from "../../analyze/places.ts";
import type { FileOrigin, Origin } from "../../finding/origin.ts";
import type { Finding } from "../../finding/finding.ts";
import type { ChangeSet, ConfigStore } from "../../config/store.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { oneTurn, paced } from "../../kernel/time/paced.ts";
import type { AppliedChange } from "../pipeline/applied.ts";
import type { Configuration } from "../sources/configuration.ts";
import { type ConnectedWorld, withoutConnected } from "./connected_selection.ts";
import { ConnectedGateways } from "./connected_gateways.ts";
import { EffectRunner } from "./effect_runner.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";

interface Stores {
  readonly store: ConfigStore;
  readonly facts: FactStore;
}

/** The options of {@linkcode AnalysisRunner}. */
interface RunnerOptions extends Omit<AnalysisOptions, "store" | "facts" | "failed" | "now">, Stores {
  /** Tells whether a file still has the text of the objects in force. */
  readonly texts: Pick<Configuration, "isAsRead" | "isStale">;
}

export class AnalysisRunner {
  readonly #analysis: Analysis;
  readonly #effects: EffectRunner;
  readonly #places: FindingPlaces;
  readonly #pipeline: Pipeline;
  readonly #kernel: Pick<Kernel, "log" | "metrics" | "clock">;
  readonly #connected: ConnectedWorld;
  readonly #refused: () => ReadonlySet<string>;
  readonly #gateways: ConnectedGateways;
  readonly #texts: RunnerOptions["texts"];
  readonly #ending = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #stop: (() => void)[];
  #cancelWake = () => {};
  #running: Promise<void> | undefined;
  /** The last look for places. */
  #located: Promise<void> = Promise.resolve();
  #noted = 0;
  /** A gateway has connected or gone since the last look. */
  #gatewayMoved = false;
  #hasBegun = false;
  #push = 0;

  /** @param refused Keys of refused objects without a version in force. */
  constructor(
    pipeline: Pipeline,
    options: RunnerOptions,
    refused: () => ReadonlySet<string>,
    kernel: Pick<Kernel, "log" | "metrics" | "clock">,
  ) {
    this.#pipeline = pipeline;
    this.#kernel = kernel;
    this.#refused = refused;
    this.#texts = options.texts;
    this.#connected = {
      object: (key) => objectOf(key, options),
      workloads: () => pipeline.translator.workloads(),
      get rootNamespace() {
        return pipeline.mesh.rootNamespace;
      },
    };
    const failed = (key: string, error: unknown) => {
      kernel.metrics.counter("pilot_total_xds_internal_errors").inc();
      kernel.log.scope("analysis").error("an object could not be analyzed", { object: key, error });
    };
    this.#gateways = new ConnectedGateways(() => pipeline.translator.proxies());
    const connectedGateways = () => this.#gateways.list();
    const now = () => kernel.clock.now();
    this.#analysis = new Analysis({ ...options, failed, now, connectedGateways }, pipeline.translator.mesh);
    this.#analysis.reset(pipeline.translator.mesh, pipeline.objects());
    this.#effects = new EffectRunner(
      pipeline,
      (key) => objectOf(key, options),
      (key) => this.#analysis.findingsOf(key),
      this.#ending.signal,
      options.settings.tunnels?.served === true,
    );
    this.#effects.changed(pipeline.objects());
    this.#places = new FindingPlaces((key) => originOf(key, options), (key) => {
      const object = objectOf(key, options);
      return object !== undefined && options.texts.isStale(object);
    });
    this.#stop = [
      pipeline.applied.listen((applied) => this.#note(applied, pipeline)),
      pipeline.onPush(({ id }) => this.#begin(id)),
      pipeline.applied.onGateway(() => {
        this.#gatewayMoved = true;
        this.#begin(this.#noted);
      }),
      options.facts.subscribe((changes) => {
        this.#analysis.factsChanged(changes);
        this.#begin(this.#noted);
      }),
    ];
  }

  /** Takes the first look. Earlier changes are only noted. */
  begin(): void {
    this.#hasBegun = true;
    this.#begin(this.#pipeline.pushes);
  }

  /** Takes changes of remote clusters, as {@linkcode Analysis.remoteChanged} does. */
  remoteChanged(changes: ChangeSet<Fact> | undefined): void {
    this.#analysis.remoteChanged(changes);
    if (this.#analysis.isBehind) this.#begin(this.#noted);
  }

  /** Takes other verdicts about objects of the Gateway API, as {@linkcode Analysis.verdictsChanged} does. */
  verdictsChanged(keys: readonly string[]): void {
    this.#analysis.verdictsChanged(keys);
    this.#begin(this.#noted);
  }

  /** Takes other statuses of objects, as {@linkcode Analysis.statusesChanged} does. */
  statusesChanged(keys: readonly string[]): void {
    this.#analysis.statusesChanged(keys);
    this.#begin(this.#noted);
  }

  /** The push of the present findings. Later pushes are still being analyzed. */
  get push(): number {
    return this.#push;
  }

  /** Whether the findings are older than the last push. */
  get isBehind(): boolean {
    return this.#running !== undefined || !this.#hasBegun;
  }

  /** All findings by object, with places. */
  *findings(): Iterable<Finding> {
    for (const finding of withoutConnected(this.#analysis.findings(), this.#connected)) {
      yield this.#places.placed(finding);
    }
    for (const finding of this.#effects.findings()) yield this.#places.placed(finding);
  }

  /** The findings of one object, with places. */
  findingsOf(key: string): Finding[] {
    return [...withoutConnected(this.#analysis.findingsOf(key), this.#connected), ...this.#effects.findingsOf(key)]
      .map((finding) => this.#places.placed(finding));
  }

  /** Adds the place to a finding of translation. */
  placed(finding: Finding): Finding {
    return this.#places.placed(finding);
  }

  /** Resolves when the findings cover the last push and all facts. */
  async analyzed(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /**
   * Like {@linkcode AnalysisRunner.analyzed}, and finds lines and columns of the fields. Places are looked for here,
   * because only the callers of this function need them.
   */
  async settled(): Promise<void> {
    do {
      await this.analyzed();
      await this.#look();
      // One search after the other: each search leaves lines that the next search finds.
      await (this.#located = this.#located.then(() => this.#locate()));
    } while (this.#running !== undefined);
  }

  /** Calls a listener whenever the findings cover the last push; returns a function that ends the calls. */
  onSettled(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** No more work. */
  async stop(): Promise<void> {
    for (const end of this.#stop) end();
    this.#ending.abort();
    this.#cancelWake();
    await this.#running;
    await this.#located;
  }

  #note(applied: AppliedChange, pipeline: Pipeline): void {
    if ("objects" in applied) {
      this.#effects.changed(applied.objects);
      return this.#analysis.reset(pipeline.translator.mesh, applied.objects);
    }
    const { change: { removed, added }, affected } = applied;
    this.#analysis.changed(removed, added, affected);
    this.#effects.changed(removed);
    this.#effects.changed(added);
  }

  /** Findings whose places may be missing. A finding of translation without a field is about an object as a whole. */
  *#unplaced(): Iterable<Finding> {
    yield* this.#analysis.findings();
    yield* this.#effects.findings();
    for (const finding of this.#pipeline.warnings()) if (finding.place.field !== "") yield finding;
  }

  async #look(): Promise<void> {
    try {
      await this.#effects.look();
    } catch (error) {
      if (!this.#ending.signal.aborted) throw error;
    }
  }

  async #locate(): Promise<void> {
    const { signal } = this.#ending;
    try {
      for (const batch of this.#places.missing(this.#unplaced())) {
        const bytes = await readOrigin(batch.file);
        signal.throwIfAborted();
        // A newer text of the file will be read soon. Its lines tell nothing about the objects in force.
        if (bytes !== undefined && !this.#texts.isAsRead(batch.file, bytes)) continue;
        await paced(this.#places.locate(batch, bytes), { signal });
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#kernel.log.scope("analysis").error("the places of findings could not be looked for", { error });
    }
  }

  #begin(push: number): void {
    this.#noted = push;
    if (!this.#hasBegun) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Begins again at the next time at which a finding may change. */
  #awaitInstant(): void {
    this.#cancelWake();
    const next = this.#analysis.nextInstant;
    if (next === undefined) return;
    const { clock } = this.#kernel;
    this.#cancelWake = clock.after(Math.max(0, next - clock.now()), () => this.#begin(this.#noted));
  }

  async #run(): Promise<void> {
    try {
      do {
        // A turn of the event loop first: callers that wait for the push continue before the analysis.
        await oneTurn();
        this.#analysis.refusedChanged(this.#refused());
        this.#gatewayMoved = false;
        if (this.#gateways.look()) this.#analysis.connectedChanged();
        const push = this.#noted;
        await paced(this.#analysis.steps(), { signal: this.#ending.signal });
        await this.#effects.look();
        this.#push = push;
      } while (this.#push !== this.#noted || this.#analysis.isBehind || this.#gatewayMoved);
      this.#awaitInstant();
      for (const listener of this.#listeners) listener();
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      this.#kernel.log.scope("analysis").error("the analysis failed", { error });
    }
  }
}

function objectOf(key: string, { store }: Stores): AnyConfigObject | undefined {
  return store.at(key) as AnyConfigObject | undefined;
}

function originOf(key: string, stores: Stores): Origin | undefined {
  return (objectOf(key, stores) ?? stores.facts.at(key))?.origin;
}

/** The present bytes of a configuration file; undefined: the file is gone, or cannot be read any more. */
async function readOrigin({ source, file }: FileOrigin): Promise<Uint8Array | undefined> {
  try {
    return await readRegular(`${source}/${file}`);
  } catch (error) {
    // The watcher of the folder reports the error. Here only the line of a field stays unknown.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return undefined;
    throw error;
  }
}
