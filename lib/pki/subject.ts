/**
 * Names in certificates: the distinguished name of a subject, and alternative names by kind.
 *
 * Rules: RFC 5280, sections 4.1.2.4 and 4.2.1.6.
 *
 * @module
 */
import { bytesText, DerReader, objectIdText, Tag } from "./der_read.ts";
import { objectId, sequence, set, taggedBytes, taggedText, utf8String } from "./der_write.ts";
import { ObjectId } from "./object_ids.ts";
import { PkiError } from "./pki_error.ts";

/** The supported parts of a written subject. */
export interface SubjectName {
  readonly organization?: string;
  readonly commonName?: string;
}

/** Alternative names by kind. */
export interface AlternativeNames {
  readonly uris: readonly string[];
  readonly dns: readonly string[];
  /** Addresses as text: `10.0.0.1`, `2001:db8:0:0:0:0:0:1`. */
  readonly ips: readonly string[];
  readonly emails: readonly string[];
  /** Tags of the names of other kinds. Default: there are none. */
  readonly others?: readonly number[];
}

export const NO_NAMES: AlternativeNames = { uris: [], dns: [], ips: [], emails: [] };

/** A distinguished name in DER. */
export function writeSubject({ organization, commonName }: SubjectName): Uint8Array {
  const attribute = (type: string, value: string | undefined) =>
    value === undefined ? [] : [set(sequence(objectId(type), utf8String(value)))];
  return sequence(...attribute(ObjectId.organization, organization), ...attribute(ObjectId.commonName, commonName));
}

/** Short names of well-known attributes. */
const SHORT: Readonly<Record<string, string>> = {
  [ObjectId.commonName]: "CN",
  [ObjectId.organization]: "O",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.11": "OU",
};

/** An attribute of a distinguished name. */
export interface NameAttribute {
  /** Dotted object identifier. */
  readonly type: string;
  readonly text: string;
  /** The attribute for people: `O=cluster.local`. */
  readonly shown: string;
  /** The same text for equal attributes (RFC 5280, section 7.1). Attributes of one set share a position. */
  readonly key: string;
}

/**
 * The attributes of a distinguished name, in order.
 *
 * @throws {PkiError} when the bytes are not a distinguished name.
 */
export function attributesOf(der: Uint8Array, what: string): NameAttribute[] {
  const found: NameAttribute[] = [];
  const sets = new DerReader(der, what).inside(Tag.SEQUENCE);
  for (let position = 0; !sets.done; position++) {
    const attributes = sets.inside(Tag.SET);
    while (!attributes.done) {
      const attribute = attributes.inside(Tag.SEQUENCE);
      const type = objectIdText(attribute.take(Tag.OBJECT_ID));
      const { tag, content } = attribute.take();
      const text = bytesText(content, tag === UTF8_STRING ? "utf-8" : "latin1");
      const key = `${position} ${type} ${TEXTS.has(tag) ? `"${plainText(text)}` : `${tag} ${content.toHex()}`}`;
      found.push({ type, text, key, shown: `${SHORT[type] ?? type}=${text}` });
    }
  }
  return found;
}

/** A text for comparing, without differences in case and in runs of spaces. */
function plainText(text: string): string {
  return text.trim().replaceAll(/\s{1,64}/g, " ").toLowerCase();
}

/** A distinguished name for people, `O=cluster.local, CN=root`, with the last common name. */
export function readSubject(der: Uint8Array, what: string): { readonly text: string; readonly commonName?: string } {
  const attributes = attributesOf(der, what);
  const commonName = attributes.findLast(({ type }) => type === ObjectId.commonName)?.text;
  return {
    text: attributes.map(({ shown }) => shown).join(", "),
    ...(commonName === undefined ? {} : { commonName }),
  };
}

const UTF8_STRING = 0x0c;
/** UTF8String, PrintableString, T61String, IA5String. */
const TEXTS: ReadonlySet<number> = new Set([UTF8_STRING, 0x13, 0x14, 0x16]);

/** Numbers of the kinds in a GeneralName. */
const Kind = { email: 1, dns: 2, uri: 6, ip: 7 } as const;
/** The tag bit of a context-specific element. */
const CONTEXT = 0x80;

/** The value of the extension for alternative names. */
export function writeAlternativeNames(names: Partial<AlternativeNames>): Uint8Array {
  return sequence(
    ...(names.uris ?? []).map((uri) => taggedText(Kind.uri, uri)),
    ...(names.dns ?? []).map((name) => taggedText(Kind.dns, name)),
    ...(names.ips ?? []).map((ip) => taggedBytes(Kind.ip, ipBytes(ip))),
    ...(names.emails ?? []).map((email) => taggedText(Kind.email, email)),
  );
}

/** The names in the value of the extension. For names of other kinds, only the tags. */
export function readAlternativeNames(value: Uint8Array, what: string): AlternativeNames {
  const names = { uris: [] as string[], dns: [] as string[], ips: [] as string[], emails: [] as string[] };
  const others: number[] = [];
  const reader = new DerReader(value, what).inside(Tag.SEQUENCE);
  while (!reader.done) {
    const { tag, content } = reader.take();
    if (tag === CONTEXT + Kind.uri) names.uris.push(bytesText(content));
    else if (tag === CONTEXT + Kind.dns) names.dns.push(bytesText(content));
    else if (tag === CONTEXT + Kind.email) names.emails.push(bytesText(content));
    else if (tag === CONTEXT + Kind.ip) names.ips.push(ipText(content));
    else others.push(tag);
  }
  return others.length === 0 ? names : { ...names, others };
}

function ipText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length !== 16) throw new PkiError(`expected an address of 4 or 16 bytes, got ${bytes.length}`);
  return Array.from({ length: 8 }, (_, i) => view.getUint16(2 * i).toString(16)).join(":");
}

/** The bytes of an address; the platform's parser of URLs knows all spellings. */
function ipBytes(text: string): Uint8Array {
  const isV6 = text.includes(":");
  const host = URL.parse(isV6 ? `http://[${text}]` : `http://${text}`)?.hostname;
  if (host === undefined || (!isV6 && host !== text)) {
    throw new PkiError(`expected an IP address, got ${JSON.stringify(text)}`);
  }
  if (!isV6) return Uint8Array.from(host.split(".").map(Number));
  const [before = "", after] = host.slice(1, -1).split("::");
  const groups = (part: string) => part === "" ? [] : part.split(":").map((group) => parseInt(group, 16));
  const [left, right] = [groups(before), groups(after ?? "")];
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
