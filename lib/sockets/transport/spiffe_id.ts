/**
 * Reads the SPIFFE ID of a peer's verified certificate.
 *
 * The certificate is read as DER, because Deno 2.8.3 joins its alternative names to one text without quotes: a DNS name
 * that holds `, URI:spiffe://...` would pass for an identity.
 *
 * @module
 */
import type { Peer } from "./peer.ts";

const SEQUENCE = 0x30;
const OID = 0x06;
const OCTETS = 0x04;
/** `[3]` of a certificate's body: its extensions. */
const EXTENSIONS = 0xa3;
/** `[6]` of a general name: a URI. */
const URI = 0x86;
/** 2.5.29.17, the subject's alternative names. */
const ALTERNATIVE_NAMES = [0x55, 0x1d, 0x11];

/** A trust domain and segments of a path. Rule: https://github.com/spiffe/spiffe/blob/main/standards/SPIFFE-ID.md#2-spiffe-identity */
const FORM = /^spiffe:\/\/[a-z0-9._-]+(\/(?!\.\.?(\/|$))[A-Za-z0-9._-]+)*$/;
/** Bytes of a SPIFFE ID that every implementation must take (section 2.3 there). */
const MAX_LENGTH = 2048;

/**
 * The identity of a peer, e.g. `spiffe://cluster.local/ns/shop/sa/cart`. Undefined without a verified certificate, and
 * where the certificate does not hold exactly one URI, or one of another scheme.
 * Rule: https://github.com/spiffe/spiffe/blob/main/standards/X509-SVID.md#2-spiffe-id
 */
export function spiffeId({ tls }: Peer): string | undefined {
  const leaf = tls?.chain[0];
  if (!tls?.verified || leaf === undefined) return undefined;
  const [uri, ...more] = uris(leaf);
  return uri !== undefined && more.length === 0 && uri.length <= MAX_LENGTH && FORM.test(uri) ? uri : undefined;
}

/** The URIs among a certificate's alternative names. Fields: RFC 5280, section 4.1. */
function uris(der: Uint8Array): string[] {
  const body = inside(children(inside(children(der), SEQUENCE)), SEQUENCE);
  const extensions = children(inside(children(inside(children(body), EXTENSIONS)), SEQUENCE));
  const texts: string[] = [];
  for (const { content } of extensions) {
    const fields = children(content);
    const id = inside(fields, OID);
    if (id.length !== 3 || !ALTERNATIVE_NAMES.every((byte, i) => id[i] === byte)) continue;
    for (const name of children(inside(children(inside(fields, OCTETS)), SEQUENCE))) {
      if (name.tag === URI) texts.push(new TextDecoder().decode(name.content));
    }
  }
  return texts;
}

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

/** The content of the first element with a tag; empty when there is none. */
function inside(elements: readonly Element[], tag: number): Uint8Array {
  return elements.find((element) => element.tag === tag)?.content ?? new Uint8Array(0);
}

/** The elements of a DER content. What runs over the end is left out. */
function children(bytes: Uint8Array): Element[] {
  const elements: Element[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const tag = bytes[at]!;
    let length = bytes[at + 1]!;
    at += 2;
    if (length >= 0x80) {
      const digits = length & 0x7f;
      if (digits === 0 || digits > 3 || at + digits > bytes.length) break;
      length = 0;
      for (let i = 0; i < digits; i++) length = length * 256 + bytes[at++]!;
    }
    if (at + length > bytes.length) break;
    elements.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return elements;
}
