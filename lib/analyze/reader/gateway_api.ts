/**
 * Queries of analyzers about objects of the Gateway API: what the derivation found out about them, and the reads of
 * further judgements.
 *
 * @module
 */
import type { Fact, FactKind } from "../../config/facts/types.ts";
import type { ConfigObject, Kind } from "../../config/types.ts";
import type { AttachOptions, AttachReader } from "../../gateway_api/attach/types.ts";
import type { JudgedRoute } from "../../gateway_api/groups/judged.ts";
import type { JudgedGateway } from "../../gateway_api/groups/verdicts.ts";
import type { ShadowedMatch } from "../../gateway_api/derive/shadowed.ts";
import { ANALYSIS_KEY } from "./keys.ts";
import type { ServedGatewayApi } from "./source.ts";

/** The questions about objects in general. */
interface ObjectReader extends AttachReader {
  objectsIn<K extends Kind>(kind: K, namespace: string): readonly ConfigObject<K>[];
}

/** Reads as attachment reads, with the dependencies noted. */
export class GatewayApiReader implements AttachReader {
  readonly #world: ServedGatewayApi;
  readonly #read: ObjectReader;
  readonly #on: (kind: string, name: string) => void;

  /** @param on Notes a dependency of an answer. */
  constructor(world: ServedGatewayApi, read: ObjectReader, on: (kind: string, name: string) => void) {
    this.#world = world;
    this.#read = read;
    this.#on = on;
  }

  get options(): AttachOptions {
    return this.#world.options;
  }

  /** The verdicts about a route, by key: one for each Gateway or service among its parents. */
  route(key: string): readonly JudgedRoute[] {
    this.#on(ANALYSIS_KEY.verdict, key);
    return this.#world.verdicts.route(key);
  }

  /** The matches of a route that no request reaches. */
  shadowed(key: string): readonly ShadowedMatch[] {
    this.#on(ANALYSIS_KEY.verdict, key);
    return this.#world.verdicts.shadowed(key);
  }

  /** The Gateway of a Gateway's or ListenerSet's key; undefined: not served here. */
  gateway(key: string): JudgedGateway | undefined {
    this.#on(ANALYSIS_KEY.verdict, key);
    return this.#world.verdicts.gateway(key);
  }

  object<K extends Kind>(kind: K, namespace: string, name: string): ConfigObject<K> | undefined {
    return this.#read.object(kind, namespace, name);
  }

  objects<K extends Kind>(kind: K, namespace?: string): readonly ConfigObject<K>[] {
    return namespace === undefined ? this.#read.objects(kind) : this.#read.objectsIn(kind, namespace);
  }

  fact<K extends FactKind>(kind: K, namespace: string, name: string): Fact<K> | undefined {
    return this.#read.fact(kind, namespace, name);
  }
}
