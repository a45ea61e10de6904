/**
 * The store of facts, beside the store of configuration objects.
 *
 * @module
 */
import { ObjectStore } from "../store.ts";
import type { Fact, FactSpecs } from "./types.ts";

/** All facts, by kind, namespace and name. */
export class FactStore extends ObjectStore<Fact, { readonly [K in keyof FactSpecs]: Fact<K> }> {}
