/**
 * The translator in use. Changes are applied to the translator. After a change of the mesh configuration, or a failure,
 * another translator is built from everything, and replaces the translator.
 *
 * @module
 */
import type { AnyConfigObject } from "../../config/types.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import { paced } from "../../kernel/time/paced.ts";
import type { MeshChange } from "../../mesh/mesh.ts";
import type { Proxy } from "../../translate/proxy/node.ts";
import type { Translator } from "../../translate/machine/translator.ts";
import type { AppliedListeners, ListedChange } from "./applied.ts";
import { newTranslator, type TranslatorParts } from "./new_translator.ts";
import type { PipelineNetworks } from "./networks.ts";
import type { PipelineOptions } from "./options.ts";
import { changeParts, type WaitingChanges } from "./waiting_changes.ts";

/** The parts of a pipeline with which a translator is built. */
export interface CurrentTranslatorParts extends Omit<TranslatorParts, "config" | "networks"> {
  readonly options: PipelineOptions;
  readonly networks: PipelineNetworks;
  readonly waiting: WaitingChanges;
  /** Notified of each change once the translator has the change. */
  readonly applied: AppliedListeners;
  /** The labels of all namespaces. */
  readonly namespaces: () => NonNullable<MeshChange["namespaces"]>;
  /** The addresses of all waypoints. */
  readonly waypointAddresses: () => NonNullable<MeshChange["waypointAddresses"]>;
  /** All objects, by key. */
  readonly objects: ReadonlyMap<string, AnyConfigObject>;
  /** Called with a resource that could not be built, and the reason. */
  readonly failed: (resource: string, error: unknown) => void;
}

export class CurrentTranslator {
  readonly #parts: CurrentTranslatorParts;
  #mesh: MeshConfig;
  #translator: Translator;
  #isStale = false;
  /** The preparation for proxies under way. Further proxies wait for the same preparation. */
  #preparing: Promise<void> | undefined;

  constructor(parts: CurrentTranslatorParts) {
    this.#parts = parts;
    this.#mesh = parts.options.mesh;
    this.#translator = this.#new();
  }

  /** The present translator. A rebuild replaces the translator. */
  get translator(): Translator {
    return this.#translator;
  }

  /** The mesh configuration in force, or in force with the next update. */
  get mesh(): MeshConfig {
    return this.#mesh;
  }

  /** Takes another mesh configuration, with the present networks: the next update rebuilds. */
  useMesh(mesh: MeshConfig): void {
    this.#mesh = mesh;
    this.#isStale = true;
  }

  /** The next update rebuilds from the sources. */
  invalidate(): void {
    this.#isStale = true;
  }

  /** As `Pipeline.prepare`. */
  prepare(proxy: Proxy): Promise<void> | undefined {
    const steps = this.#translator.prepare(proxy);
    // When a step throws, adding the proxy fails in the same way, and reports the error.
    if (steps === undefined) return this.#preparing;
    // A step may need the results of earlier steps, so the earlier steps must be done too.
    const preparing = Promise.all([this.#preparing, paced(steps).catch(() => {})]).then(() => {
      if (this.#preparing === preparing) this.#preparing = undefined;
    });
    return this.#preparing = preparing;
  }

  /** Brings the mesh up to date part by part; nothing is translated, as no proxy is connected. */
  *fill(): Generator<void, void> {
    const change = this.#isStale ? this.#everything() : this.#settled(this.#parts.waiting.take().change);
    if (this.#isStale) this.#translator = this.#new();
    this.#isStale = false;
    for (const part of changeParts(change)) {
      this.#translator.mesh.apply(part);
      yield;
    }
  }

  /** Takes in the waiting changes, or rebuilds. */
  *update(): Generator<void, void> {
    if (this.#isStale) return yield* this.#rebuild();
    const { change, addresses } = this.#parts.waiting.take();
    const affected = this.#translator.apply(this.#settled(change), addresses);
    this.#stage();
    this.#parts.applied.announce({ change, affected });
  }

  /** A change without the candidates of rollouts. */
  #settled(change: ListedChange): ListedChange {
    const { staged } = this.#parts.options;
    return staged === undefined ? change : { ...change, ...staged.settledChange(change) };
  }

  /** Moves proxies to the candidates that they have now. */
  #stage(): void {
    const { staged } = this.#parts.options;
    if (staged?.active === true || this.#translator.hasForks) this.#translator.stage();
  }

  #new(): Translator {
    const { options, networks, aggregate, endpoints, table, failed } = this.#parts;
    return newTranslator(
      { aggregate, endpoints, table, config: this.#mesh, networks: networks.written },
      options,
      failed,
    );
  }

  /** The whole present state, in place of the waiting changes. */
  #everything(): MeshChange & { readonly added: readonly AnyConfigObject[] } {
    const { options, waiting, networks, objects, aggregate } = this.#parts;
    waiting.take();
    const all = [...objects.values()];
    return {
      added: options.staged?.settledObjects(all) ?? all,
      services: [...aggregate.keys()],
      entrances: networks.entrances,
      namespaces: this.#parts.namespaces(),
      waypointAddresses: this.#parts.waypointAddresses(),
      workloads: options.settings.waypoints ? aggregate.allWorkloads() : [],
    };
  }

  /**
   * Builds a new mesh for a new mesh configuration. The proxies move to the new mesh at the end, all at once. Changes
   * that arrive meanwhile wait for the next push.
   */
  *#rebuild(): Generator<void, void> {
    const { options, applied } = this.#parts;
    this.#isStale = false;
    const next = this.#new();
    const config = this.#mesh;
    const objects = [...this.#parts.objects.values()];
    const everything = this.#everything();
    for (const part of changeParts(everything)) {
      next.mesh.apply(part);
      yield;
    }
    yield* next.adopt(this.#translator, (proxy) => options.readAgain(proxy, config));
    this.#translator = next;
    applied.announce({ objects });
  }
}
