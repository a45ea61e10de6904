/**
 * Revocation lists: an issuer revokes certificates before their end.
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

/** The revoked certificates of an issuer. */
export interface RevocationList extends Signed {
  readonly issuerDer: Uint8Array;
  /** The issuer's name for people. */
  readonly issuer: string;
  /** Serial numbers in hexadecimal digits. */
  readonly serials: ReadonlySet<string>;
  /**
   * Times of this list and of the next list, in milliseconds since 1970. `nextUpdate` is absent if the list does not
   * give the time.
   */
  readonly thisUpdate: number;
  readonly nextUpdate?: number;
  /**
   * Critical extensions, as dotted object identifiers, except for the known extensions that limit a list to certain
   * certificates or name the issuer's key.
   */
  readonly unknownCritical: readonly string[];
}

const EXTENSIONS = 0xa0;

/**
 * The lists of a PEM text.
 *
 * @param what The name of the text in errors.
 * @throws {PkiError} when the text has no lists, other blocks, or an unreadable list.
 */
export function readRevocationLists(pem: string, what: string): RevocationList[] {
  const blocks = readPem(pem, what);
  if (blocks.length === 0 || blocks.some(({ label }) => pemKind(label) !== "revocation list")) {
    throw new PkiError(`${what}: expected only X509 CRL blocks in PEM`);
  }
  return blocks.map(({ der }, i) => {
    const name = `${what}: list ${i + 1} of ${blocks.length}`;
    const { list, critical } = readList(der, name);
    if (critical.length === 0) return list;
    throw new PkiError(`${name}: expected no critical extension, got one: parts of lists are not taken`);
  });
}

/**
 * Reads a list with any extensions. For callers that pass the list on.
 *
 * @throws {PkiError} when the bytes are not a list.
 */
export function readRevocationList(der: Uint8Array, what: string): RevocationList {
  return readList(der, what).list;
}

/**
 * Extensions that every reader knows: the limits of a list (which certificates of the issuer), and the key that signed
 * the list.
 */
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

/** Times of this list and of the next list. A list past `nextUpdate` still counts. */
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
 * The lists signed by the given authorities. Lists of other authorities are left out, because they do not concern the
 * given authorities.
 *
 * @param what The name of the lists' text in errors.
 * @throws {PkiError} when a list names a given authority without being signed by the authority.
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

/** The first revoked certificate of a chain. */
export function revokedIn(
  chain: readonly Certificate[],
  lists: readonly RevocationList[],
): Certificate | undefined {
  return chain.find(({ issuerDer, serial }) =>
    lists.some((list) => list.serials.has(serial) && sameBytes(list.issuerDer, issuerDer))
  );
}
