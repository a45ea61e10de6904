/**
 * Reads responses of the discovery protocol just far enough for a client's next request, without decoding the
 * resources.
 *
 * @module
 */
import { WireCursor } from "../../../../lib/resource/protowire.ts";

/** A response of either variant. */
export interface ScannedResponse {
  readonly typeUrl: string;
  readonly nonce: string;
  /** State of the world: `version_info`. */
  readonly version: string;
  /** A `Resource` each in delta, an `Any` in state of the world. */
  readonly resources: readonly Uint8Array[];
  /** Delta: how many resources are gone. */
  readonly removed: number;
}

/** Reads `DeltaDiscoveryResponse` or `DiscoveryResponse`: both have the same field numbers. */
export function scanResponse(bytes: Uint8Array): ScannedResponse {
  const found = { typeUrl: "", nonce: "", version: "", resources: [] as Uint8Array[], removed: 0 };
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.field === 2) found.resources.push(cursor.bytes());
    else if (cursor.field === 1) found.version = cursor.string();
    else if (cursor.field === 4) found.typeUrl = cursor.string();
    else if (cursor.field === 5) found.nonce = cursor.string();
    else {
      // In state of the world, field 6 is the control plane's identifier.
      if (cursor.field === 6) found.removed++;
      cursor.skip();
    }
  }
  return found;
}

/** All values of a length-delimited field. */
function* fields(bytes: Uint8Array, ...numbers: readonly number[]): Generator<Uint8Array> {
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.wireType === 2 && numbers.includes(cursor.field)) yield cursor.bytes();
    else cursor.skip();
  }
}

function field(bytes: Uint8Array, number: number): Uint8Array | undefined {
  return fields(bytes, number).next().value ?? undefined;
}

const text = new TextDecoder();

/** The message in an `Any`. Undefined when empty. */
export function anyValue(any: Uint8Array): Uint8Array | undefined {
  return field(any, 2);
}

/** Discovery type EDS of a cluster. */
const EDS = 3;

/** Name of the load assignment of an EDS `Cluster`. Undefined for other clusters. */
export function assignmentOf(cluster: Uint8Array): string | undefined {
  let type = 0;
  let name: Uint8Array | undefined;
  let serviceName: Uint8Array | undefined;
  const cursor = new WireCursor(cluster);
  while (cursor.next()) {
    if (cursor.field === 1) name = cursor.bytes();
    else if (cursor.field === 2) type = cursor.varint();
    else if (cursor.field === 3) serviceName = field(cursor.bytes(), 2);
    else cursor.skip();
  }
  const used = serviceName ?? name;
  return type === EDS && used ? text.decode(used) : undefined;
}

/** Names of the RDS route configurations of a `Listener`. */
export function* routesOf(listener: Uint8Array): Generator<string> {
  for (const chain of fields(listener, 3, 25)) { // filter_chains, default_filter_chain
    for (const filter of fields(chain, 3)) {
      const any = field(filter, 4);
      const url = any && field(any, 1);
      if (!any || !url || !text.decode(url).endsWith(".HttpConnectionManager")) continue;
      const rds = field(anyValue(any) ?? any, 3);
      const name = rds && field(rds, 2);
      if (name) yield text.decode(name);
    }
  }
}

/** Whether a `RouteConfiguration` uses VHDS. */
export function usesVhds(routes: Uint8Array): boolean {
  return field(routes, 9) !== undefined;
}
