/**
 * Resources that one client rejects one after the other because of the same ProxyFilters.
 *
 * A client may name one bad resource of a response and reject the whole. Where a filter spoils hundreds of clusters, each
 * would cost a response with all others, and the client would have none of them until the last is named. So after some
 * rejections in a row the other resources that the same filters changed are taken in without being named, twice as many
 * each time.
 *
 *     a | b | c | d e | f g h i | ...     the rejections, with the resources that each takes in
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import { patchingFilters } from "../../translate/patches/rejected.ts";

/** Rejections in a row that count as single mistakes. */
const SINGLE = 3;

interface RejectionsInARow {
  /** The filters that changed all of the rejected resources. */
  readonly filters: readonly string[];
  readonly rejections: number;
}

/** See the module. By type. */
export class SharedBlame {
  readonly #rows = new Map<string, RejectionsInARow>();

  /**
   * Takes in a rejection.
   *
   * @param named The resources that it names.
   * @param whole All resources of the response.
   * @param mayGo Whether a client may do without one that it has not named.
   * @returns resources that are to be handled as if they were named
   */
  others(
    typeUrl: string,
    named: readonly EncodedResource[],
    whole: readonly EncodedResource[],
    mayGo: (resource: EncodedResource) => boolean,
  ): EncodedResource[] {
    const own = named.map(({ causes }) => patchingFilters(causes));
    const before = this.#rows.get(typeUrl);
    const shared = inAll(before === undefined ? own : [before.filters, ...own]);
    const goesOn = before !== undefined && shared.length > 0;
    const row = { filters: goesOn ? shared : inAll(own), rejections: goesOn ? before.rejections + 1 : 1 };
    if (row.filters.length === 0) this.#rows.delete(typeUrl);
    else this.#rows.set(typeUrl, row);
    if (row.filters.length === 0 || row.rejections <= SINGLE) return [];
    const found: EncodedResource[] = [];
    const most = 2 ** (row.rejections - SINGLE) - named.length;
    for (const resource of whole) {
      if (found.length >= most) break;
      const isNamed = named.includes(resource);
      if (!isNamed && row.filters.every((key) => resource.causes.includes(key)) && mayGo(resource)) {
        found.push(resource);
      }
    }
    return found;
  }

  /** The client has taken a response of the type. */
  end(typeUrl: string): void {
    this.#rows.delete(typeUrl);
  }
}

function inAll(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...rest] = lists;
  return first.filter((key) => rest.every((list) => list.includes(key)));
}
