/**
 * Resources that a client rejects one after the other because of the same ProxyFilters.
 *
 * A client may name one bad resource of a response and reject the whole response. When a filter spoils hundreds of
 * clusters, each rejection would cost another response, and the client would have no cluster until the last one is
 * named. So after some rejections in a row, other resources that the same filters changed are treated as rejected too.
 * Their number doubles each time.
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
  /** The filters that changed all rejected resources. */
  readonly filters: readonly string[];
  readonly rejections: number;
}

/** Rejections in a row, by type. */
export class SharedBlame {
  readonly #rows = new Map<string, RejectionsInARow>();

  /**
   * Takes a rejection in.
   *
   * @param named The resources in the rejection.
   * @param whole All resources of the response.
   * @param mayGo Whether a client may go without a resource that the rejection does not name.
   * @returns resources to treat as if the client had named them
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
