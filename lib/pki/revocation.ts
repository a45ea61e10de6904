/**
 * Revocation lists: which certificates their issuer has taken back before their end.
 *
 * Rule: RFC 5280, section 5. Lists with critical extensions (parts of lists, lists of several issuers) are refused.
 *
 * @module
 */
import type { Certificate } from "./certificate.ts";
import { type DerReader, hex, objectIdText, sameBytes, Tag, timeOf } from "./der_read.ts";
import { ObjectId } from "./object_ids.ts";
import { pemKind, readPem } from "./pem.ts";
import { PkiError } from "./pki_error.ts";
import { isSignedBy, readSigned, type Signed } from "./signed.ts";
import { readSubject } from "./subject.ts";

/** The certificates that one issuer has revoked. */
export interface RevocationList extends Signed {
  readonly issuerDer: Uint8Array;
  /** As people read it. */
  readonly issuer: string;
  /** Serial numbers in hexadecimal digits. */
  readonly serials: ReadonlySet<string>;
  /** Milliseconds since 1970: when it was made, and when the next one comes; absent: nothing is said of the next one. */
  readonly thisUpdate: number;
  readonly nextUpdate?: number;
  /** Critical extensions but those that say which certificates the list is about, as dotted object identifiers. */
  readonly unknownCritical: readonly string[];
}

const EXTENSIONS = 0xa0;

/**
 * The lists of a PEM text.
 *
 * @param what The name of the text in errors.
 * @throws {PkiError} when it holds none, something else, or one cannot be read
 */
export function readRevocationLists(pem: string, what: string): RevocationList[] {
  const blocks = readPem(pem, what);
  if (blocks.length === 0 || blocks.some(({ label }) => pemKind(label) !== "revocation list")) {
    throw new PkiError(`${what}: expected X509 CRL blocks alone in PEM`);
  }
  return blocks.map(({ der }, i) => {
    const name = `${what}: list ${i + 1} of ${blocks.length}`;
    const { list, critical } = readList(der, name);
    if (critical.length === 0) return list;
    throw new PkiError(`${name}: expected no critical extension, got one: parts of lists are not taken`);
  });
}

/**
 * Reads one list, whatever its extensions are: for whoever hands it on to others.
 *
 * @throws {PkiError} when the bytes are none
 */
export function readRevocationList(der: Uint8Array, what: string): RevocationList {
  return readList(der, what).list;
}

/** Where a list says which certificates of its issuer it is about, and whose key signed it: readers know both. */
const KNOWN: ReadonlySet<string> = new Set(["2.5.29.28", ObjectId.authorityKeyId]);

function readList(der: Uint8Array, what: string): { readonly list: RevocationList; readonly critical: string[] } {
  const { signed, fields } = readSigned(der, what);
  fields.optional(Tag.INTEGER);
  fields.take(Tag.SEQUENCE);
  const issuerDer = fields.take(Tag.SEQUENCE).whole;
  const times = readTimes(fields, what);
  const serials = new Set<string>();
  if (fields.nextTag === Tag.SEQUENCE) {
    const entries = fields.inside(Tag.SEQUENCE);
    while (!entries.done) serials.add(hex(entries.inside(Tag.SEQUENCE).take(Tag.INTEGER).content));
  }
  const critical = fields.nextTag === EXTENSIONS ? criticalOf(fields.inside(EXTENSIONS).inside(Tag.SEQUENCE)) : [];
  fields.finish();
  const unknownCritical = critical.filter((id) => !KNOWN.has(id));
  const issuer = readSubject(issuerDer, what).text;
  return { list: { ...signed, issuerDer, issuer, serials, unknownCritical, ...times }, critical };
}

/** When it was made, and when the next one comes. A list that is late still says who is revoked. */
function readTimes(fields: DerReader, what: string): Pick<RevocationList, "thisUpdate" | "nextUpdate"> {
  const times: number[] = [];
  while (fields.nextTag === Tag.UTC_TIME || fields.nextTag === Tag.GENERALIZED_TIME) times.push(timeOf(fields.take()));
  const [thisUpdate, nextUpdate] = times;
  if (thisUpdate === undefined || times.length > 2) {
    throw new PkiError(`${what}: expected one or two times, got ${times.length}`);
  }
  return { thisUpdate, ...(nextUpdate === undefined ? {} : { nextUpdate }) };
}

function criticalOf(extensions: DerReader): string[] {
  const critical: string[] = [];
  while (!extensions.done) {
    const extension = extensions.inside(Tag.SEQUENCE);
    const id = objectIdText(extension.take(Tag.OBJECT_ID));
    if (extension.optional(Tag.BOOLEAN) !== undefined) critical.push(id);
  }
  return critical;
}

/**
 * The lists that one of these authorities has signed; lists of others are left out, since they say nothing about theirs.
 *
 * @param what The name of their text in errors.
 * @throws {PkiError} when a list names one of the authorities and has not its signature
 */
export async function listsOf(
  lists: readonly RevocationList[],
  authorities: readonly Certificate[],
  what: string,
): Promise<RevocationList[]> {
  const found: RevocationList[] = [];
  for (const list of lists) {
    const issuers = authorities.filter(({ subjectDer }) => sameBytes(subjectDer, list.issuerDer));
    if (issuers.length === 0) continue;
    const signed = await Promise.all(issuers.map(({ spki }) => isSignedBy(list, spki)));
    if (!signed.includes(true)) {
      throw new PkiError(`${what}: the list of ${JSON.stringify(list.issuer)} is not signed by its key`);
    }
    found.push(list);
  }
  return found;
}

/** The first certificate of a chain that its issuer has revoked. */
export function revokedIn(
  chain: readonly Certificate[],
  lists: readonly RevocationList[],
): Certificate | undefined {
  return chain.find(({ issuerDer, serial }) =>
    lists.some((list) => list.serials.has(serial) && sameBytes(list.issuerDer, issuerDer))
  );
}
