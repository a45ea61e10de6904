/**
 * Keeps the findings about configuration that reaches no proxy, beside the analysis of the mesh. The runner looks after
 * each analysis, and when somebody asks, because proxies come and go without a change.
 *
 * @module
 */
import { byObject, type Finding } from "../../finding/finding.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import { EffectAnalysis, type OtherFindings } from "../../effect/effect_analysis.ts";
import { mayHoldAtTunnels } from "../../effect/selecting.ts";
import { paced } from "../../kernel/time/paced.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";

export class EffectRunner {
  readonly #effects: EffectAnalysis;
  readonly #pipeline: Pipeline;
  readonly #signal: AbortSignal;
  readonly #analyzed: OtherFindings;
  /** Findings of translation, by object, as of the last look. */
  #translated: ReadonlyMap<string, readonly Finding[]> = new Map();
  #running: Promise<void> = Promise.resolve();

  /**
   * @param object Finds an object of the store by key.
   * @param analyzed Findings of the analysis, by key of an object.
   * @param signal Ends looks.
   * @param servesTunnels Whether node tunnels enforce policies.
   */
  constructor(
    pipeline: Pipeline,
    object: (key: string) => AnyConfigObject | undefined,
    analyzed: OtherFindings,
    signal: AbortSignal,
    servesTunnels: boolean,
  ) {
    this.#pipeline = pipeline;
    this.#effects = new EffectAnalysis({ object, ...servesTunnels && { hasOther: mayHoldAtTunnels } });
    this.#analyzed = analyzed;
    this.#signal = signal;
  }

  /** Notes added, changed or removed objects. */
  changed(objects: Iterable<{ readonly key: string }>): void {
    for (const { key } of objects) this.#effects.changed([key]);
  }

  /** Looks at the resources of all proxies. Looks run one after the other. Rejects when the signal aborts. */
  look(): Promise<void> {
    return this.#running = this.#running.then(async () => {
      await paced(this.#effects.steps(this.#pipeline.translator), { signal: this.#signal });
      this.#translated = this.#effects.isEmpty ? NOTHING : byObject(this.#pipeline.warnings());
    });
  }

  /** All findings of the last look. */
  findings(): Iterable<Finding> {
    return this.#effects.findings(this.#others);
  }

  /** The findings of one object in the last look. */
  findingsOf(key: string): Finding[] {
    return this.#effects.findingsOf(key, this.#others);
  }

  readonly #others: OtherFindings = (key) => [...this.#analyzed(key), ...this.#translated.get(key) ?? []];
}

const NOTHING: ReadonlyMap<string, readonly Finding[]> = new Map();
