/**
 * Reads the name table of the control plane: a resource of type `istio.networking.nds.v1.NameTable`.
 *
 * By hand: the table has two messages, and an agent without a protobuf library for two messages is smaller.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { WireCursor } from "../../resource/protowire.ts";
import { NAME_TABLE_MESSAGE, type NameInfo, type NameTable } from "./types.ts";

/** Numbers of the fields, by their names in Istio's `nds.proto`. */
const TABLE = { table: 1 } as const;
const ENTRY = { key: 1, value: 2 } as const;
const INFO = { ips: 1, registry: 2, shortname: 3, namespace: 4, alt_hosts: 5 } as const;

/** The wire type of length-delimited fields, the only type in these messages. */
const BYTES = 2;

/**
 * Decodes a table. Unknown fields are skipped. If a host occurs twice, the last occurrence counts.
 * @throws {Error} When the bytes are not such a message. The error names the message.
 */
export function decodeNameTable(bytes: Uint8Array): NameTable {
  const hosts: [string, NameInfo][] = [];
  try {
    eachField(bytes, (field, value) => {
      if (field === TABLE.table) hosts.push(decodeEntry(value));
    });
  } catch (error) {
    throw new Error(`${NAME_TABLE_MESSAGE}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  // Not by assignment: a host may be called `__proto__`.
  return Object.fromEntries(hosts);
}

function decodeEntry(bytes: Uint8Array): [string, NameInfo] {
  let host = "";
  let info: NameInfo = { ips: [] };
  eachField(bytes, (field, value) => {
    if (field === ENTRY.key) host = text(value);
    else if (field === ENTRY.value) info = decodeInfo(value);
  });
  return [host, info];
}

function decodeInfo(bytes: Uint8Array): NameInfo {
  const ips: string[] = [];
  const altHosts: string[] = [];
  const single: { registry?: string; shortname?: string; namespace?: string } = {};
  eachField(bytes, (field, value) => {
    if (field === INFO.ips) ips.push(text(value));
    else if (field === INFO.registry) single.registry = text(value);
    else if (field === INFO.shortname) single.shortname = text(value);
    else if (field === INFO.namespace) single.namespace = text(value);
    else if (field === INFO.alt_hosts) altHosts.push(text(value));
  });
  return altHosts.length === 0 ? { ips, ...single } : { ips, ...single, altHosts };
}

/** Calls `visit` with each length-delimited field, in order. */
function eachField(bytes: Uint8Array, visit: (field: number, value: Uint8Array) => void): void {
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.wireType === BYTES) visit(cursor.field, cursor.bytes());
    else cursor.skip();
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function text(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}
