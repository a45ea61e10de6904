/**
 * Reads responses of the discovery protocol as far as a client must to know what to ask next, without decoding the
 * resources: the generator shares the machine with the server that it measures.
 *
 * Permissions: none.
 *
 * @module
 */
import { WireCursor } from "../../../../lib/resource/protowire.ts";

/** One resource of a response. */
export interface ScannedResource {
  /** Name and version; empty in state of the world. */
  readonly name: string;
  readonly version: string;
  /** The message; empty for a resource without body. */
  readonly value: Uint8Array;
}

/** A response of either variant. */
export interface ScannedResponse {
  readonly typeUrl: string;
  readonly nonce: string;
  /** State of the world: `version_info`. */
  readonly version: string;
  readonly resources: readonly ScannedResource[];
  readonly removed: readonly string[];
}

const NOTHING: Uint8Array = new Uint8Array(0);

/** Reads `DeltaDiscoveryResponse` or `DiscoveryResponse`; `intern` makes equal names one string. */
export function scanResponse(
  bytes: Uint8Array,
  delta: boolean,
  intern: (bytes: Uint8Array) => string,
): ScannedResponse {
  const found = { typeUrl: "", nonce: "", version: "", resources: [] as ScannedResource[], removed: [] as string[] };
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.field === 1) found.version = cursor.string();
    else if (cursor.field === 2) {
      found.resources.push(delta ? scanResource(cursor.bytes(), intern) : bare(cursor.bytes()));
    } else if (cursor.field === 4) found.typeUrl = cursor.string();
    else if (cursor.field === 5) found.nonce = cursor.string();
    else if (cursor.field === 6 && delta) found.removed.push(cursor.string());
    else cursor.skip();
  }
  return found;
}

function scanResource(bytes: Uint8Array, intern: (bytes: Uint8Array) => string): ScannedResource {
  const found = { name: "", version: "", value: NOTHING };
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.field === 3) found.name = intern(cursor.bytes());
    else if (cursor.field === 1) found.version = intern(cursor.bytes());
    else if (cursor.field === 2) found.value = anyValue(cursor.bytes());
    else cursor.skip();
  }
  return found;
}

function bare(any: Uint8Array): ScannedResource {
  return { name: "", version: "", value: anyValue(any) };
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

function anyValue(any: Uint8Array): Uint8Array {
  return field(any, 2) ?? NOTHING;
}

/** Discovery type EDS of a cluster. */
const EDS = 3;

/** Name of the load assignment that a `Cluster` gets by EDS; undefined where it gets none. */
export function assignmentOf(cluster: Uint8Array, intern: (bytes: Uint8Array) => string): string | undefined {
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
  return type === EDS && used ? intern(used) : undefined;
}

/** Route configurations that a `Listener` gets by RDS. */
export function* routesOf(listener: Uint8Array, intern: (bytes: Uint8Array) => string): Generator<string> {
  for (const chain of fields(listener, 3, 25)) { // filter_chains, default_filter_chain
    for (const filter of fields(chain, 3)) {
      const any = field(filter, 4);
      if (!any || !isHttpConnectionManager(any)) continue;
      const rds = field(anyValue(any), 3);
      const name = rds && field(rds, 2);
      if (name) yield intern(name);
    }
  }
}

function isHttpConnectionManager(any: Uint8Array): boolean {
  const url = field(any, 1);
  return url !== undefined && Buffer.from(url.buffer, url.byteOffset, url.length).includes("HttpConnectionManager");
}

/** Whether a `RouteConfiguration` gets its virtual hosts by VHDS. */
export function usesVhds(routes: Uint8Array): boolean {
  return field(routes, 9) !== undefined;
}
