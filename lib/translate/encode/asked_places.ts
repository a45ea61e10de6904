/**
 * The places in a listener that name clusters for which a TCP proxy asks, by the numbers of the fields in Envoy's API:
 *
 *     Listener ─ filter_chains 3, default_filter_chain 25 ─ filters 3 ─ typed_config 4 ─ type_url 1, value 2
 *     TcpProxy ─ stat_prefix 1, cluster 2, weighted_clusters 10, on_demand 14
 *
 * The filter that chooses the cluster of a shared TCP proxy names the cluster as well (see `shared_tcp_proxy.ts`).
 *
 * @module
 */
import { WireCursor } from "../../resource/protowire.ts";

/** A range of bytes. */
export interface ByteRange {
  readonly from: number;
  /** The first byte behind the range. */
  readonly to: number;
}

const CHAINS = new Set([3, 25]);
const FILTERS = new Set([3]);
const CONFIG = new Set([4]);
const VALUE = new Set([2]);
const ON_DEMAND = new Set([14]);
const DESTINATIONS = new Set([1, 2, 10]);

const TCP_PROXY = "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";
const CLUSTER_CHOICE = "type.googleapis.com/envoy.extensions.filters.network.set_filter_state.v3.Config";

/** The places of a listener, in the order of the bytes. */
export function askedPlaces(listener: Uint8Array): ByteRange[] {
  const places: ByteRange[] = [];
  for (const chain of fields(listener, { from: 0, to: listener.length }, CHAINS)) {
    for (const filter of fields(listener, chain, FILTERS)) {
      for (const config of fields(listener, filter, CONFIG)) {
        const typeUrl = typeOf(listener, config);
        for (const value of fields(listener, config, VALUE)) {
          if (typeUrl === CLUSTER_CHOICE) places.push(value);
          if (typeUrl !== TCP_PROXY || fields(listener, value, ON_DEMAND).length === 0) continue;
          places.push(...fields(listener, value, DESTINATIONS));
        }
      }
    }
  }
  return places;
}

/** The contents of the fields of a message with the given numbers. */
function fields(bytes: Uint8Array, { from, to }: ByteRange, numbers: ReadonlySet<number>): ByteRange[] {
  const found: ByteRange[] = [];
  const cursor = new WireCursor(bytes, from, to);
  while (cursor.next()) {
    if (cursor.wireType !== 2 || !numbers.has(cursor.field)) {
      cursor.skip();
      continue;
    }
    const end = cursor.lengthPrefix();
    found.push({ from: cursor.at, to: end });
    cursor.at = end;
  }
  return found;
}

function typeOf(bytes: Uint8Array, { from, to }: ByteRange): string {
  const cursor = new WireCursor(bytes, from, to);
  while (cursor.next()) {
    if (cursor.field === 1) return cursor.string();
    cursor.skip();
  }
  return "";
}
