/**
 * The first file of a kind: an index over its objects, and the query that asks the index. Toys are texts about hosts,
 * written into workload groups.
 *
 * @module
 */
import type { ConfigObject } from "../../../lib/config/types.ts";
import type { AffectedKeys } from "../../../lib/mesh/affected.ts";
import type { ObjectIndex } from "../../../lib/mesh/object_index.ts";
import { thing, type ThingQuery } from "../../../lib/translate/reader/queries.ts";

/** Annotations of a toy. */
export const TOY_HOST = "toys.example.com/host";
export const TOY_TEXT = "toys.example.com/text";

/** Kind of the keys: the toy of a host. */
const TOY_KEY = "toy";

type Toy = ConfigObject<"WorkloadGroup">;

/** The text about each host. */
export class ToyIndex implements ObjectIndex<"WorkloadGroup"> {
  readonly kind = "WorkloadGroup";
  readonly #texts = new Map<string, string>();

  take(removed: readonly Toy[], added: readonly Toy[], affected: AffectedKeys): void {
    for (const toy of removed) this.#texts.delete(hostOf(toy));
    for (const toy of added) this.#texts.set(hostOf(toy), toy.spec.metadata?.annotations?.[TOY_TEXT] ?? "");
    affected.addHosts(TOY_KEY, [...removed, ...added].map(hostOf));
  }

  of(host: string): string | undefined {
    return this.#texts.get(host);
  }
}

/** The text about a host. */
export function toyQuery(index: ToyIndex): ThingQuery<string | undefined> {
  return thing((_, host) => index.of(host), TOY_KEY);
}

function hostOf({ spec }: Toy): string {
  return spec.metadata?.annotations?.[TOY_HOST] ?? "";
}
