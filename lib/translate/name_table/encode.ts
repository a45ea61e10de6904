/**
 * The DNS table of a proxy's agent on the wire. Entries are encoded once per host, and a table is their concatenation.
 *
 * Field numbers: `istio.networking.nds.v1.NameTable` (nds.proto of Istio).
 *
 * @module
 */
import { TYPE_URL_PREFIX } from "../../pb/codec.ts";
import { type EncodedResource, encodeResource } from "../../resource/encoded.ts";
import { fieldSize, putField, utf8Bytes } from "../../resource/protowire.ts";
import type { NameEntry } from "./entry.ts";

/** Type URL of the table. */
export const NAME_TABLE_TYPE_URL = `${TYPE_URL_PREFIX}istio.networking.nds.v1.NameTable`;

/** Name of the table's only resource. Agents neither ask for a name nor read the name. */
const RESOURCE = "default";
const TABLE = 1;
const ENTRY = { key: 1, value: 2 } as const;
const INFO = { ips: 1, registry: 2, shortname: 3, namespace: 4 } as const;

/** An entry with its bytes in the table's message. */
export interface EncodedName {
  readonly host: string;
  readonly bytes: Uint8Array;
}

/** Encodes an entry. */
export function encodeName({ host, ips, registry, shortname, namespace }: NameEntry): EncodedName {
  const info = fields([
    ...ips.map((ip) => [INFO.ips, utf8Bytes(ip)] as const),
    ...texts([[INFO.registry, registry], [INFO.shortname, shortname], [INFO.namespace, namespace]]),
  ]);
  const entry = fields([[ENTRY.key, utf8Bytes(host)], [ENTRY.value, info]]);
  return { host, bytes: fields([[TABLE, entry]]) };
}

/**
 * Encodes a table, the same bytes for the same entries in any order.
 *
 * @param names each host once
 */
export function encodeNameTable(names: Iterable<EncodedName>): EncodedResource {
  const sorted = [...names].sort((a, b) => a.host < b.host ? -1 : 1);
  const out = new Uint8Array(sorted.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let at = 0;
  for (const { bytes } of sorted) {
    out.set(bytes, at);
    at += bytes.length;
  }
  return encodeResource(NAME_TABLE_TYPE_URL, RESOURCE, out);
}

type NameField = readonly [field: number, value: Uint8Array];

function texts(all: readonly (readonly [field: number, value: string | undefined])[]): NameField[] {
  return all.flatMap(([field, value]) => value ? [[field, utf8Bytes(value)] as const] : []);
}

function fields(all: readonly NameField[]): Uint8Array {
  const out = new Uint8Array(all.reduce((sum, [, value]) => sum + fieldSize(value.length), 0));
  let at = 0;
  for (const [field, value] of all) at = putField(out, at, field, value);
  return out;
}
