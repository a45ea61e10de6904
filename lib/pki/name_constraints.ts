/**
 * Name Constraints: the names that an authority allows in certificates further down the chain.
 *
 * Rule: RFC 5280, section 4.2.1.10. Where the rule is open, the code follows OpenSSL, because the proxies' TLS library
 * does the same. A name of a constrained kind that cannot be compared is refused.
 *
 * @module
 */
import { bytesText, type DerElement, DerReader, Tag } from "./der_read.ts";
import { ObjectId } from "./object_ids.ts";
import { PkiError } from "./pki_error.ts";
import { type AlternativeNames, attributesOf, type NameAttribute } from "./subject.ts";

/** A set of names of a kind, defined by a base. */
type Subtree =
  | { readonly kind: "dns" | "email" | "uri"; readonly text: string }
  | { readonly kind: "ip"; readonly bytes: Uint8Array }
  | { readonly kind: "directory"; readonly attributes: readonly NameAttribute[] }
  /** A kind that cannot be compared here, with its tag. */
  | { readonly kind: "other"; readonly tag: number };

/** The constraints of an authority. */
export interface NameConstraints {
  /** For each kind listed here, a name must be in a subtree of the kind. */
  readonly permitted: readonly Subtree[];
  /** No name may be in any of these subtrees. */
  readonly excluded: readonly Subtree[];
}

/** The names of a certificate. */
export interface ConstrainedNames {
  readonly names: AlternativeNames;
  /** The distinguished name, in DER. */
  readonly subjectDer: Uint8Array;
}

const PERMITTED = 0xa0;
const EXCLUDED = 0xa1;

/**
 * Reads the content of the extension.
 *
 * @throws {PkiError} when the content is unreadable, or limits the distance of subtrees, which the standard forbids.
 */
export function readNameConstraints(fields: DerReader, what: string): NameConstraints {
  const subtrees = (tag: number): Subtree[] => {
    const list = fields.nextTag === tag ? fields.inside(tag) : undefined;
    const found: Subtree[] = [];
    while (list?.done === false) found.push(readSubtree(list.inside(Tag.SEQUENCE), what));
    return found;
  };
  const constraints = { permitted: subtrees(PERMITTED), excluded: subtrees(EXCLUDED) };
  fields.finish();
  return constraints;
}

function readSubtree(fields: DerReader, what: string): Subtree {
  const base = fields.take();
  if (!fields.done) throw new PkiError(`${what}: expected name constraints without a minimum and a maximum`);
  return subtreeOf(base, what);
}

function subtreeOf({ tag, content }: DerElement, what: string): Subtree {
  switch (tag) {
    case 0x81:
      return { kind: "email", text: bytesText(content, "latin1") };
    case 0x82:
      return { kind: "dns", text: bytesText(content, "latin1").toLowerCase() };
    case 0x86:
      return { kind: "uri", text: bytesText(content, "latin1").toLowerCase() };
    case 0x87:
      if (content.length !== 8 && content.length !== 32) {
        throw new PkiError(`${what}: expected an address and a mask of 8 or 32 bytes, got ${content.length}`);
      }
      return { kind: "ip", bytes: content };
    case 0xa4:
      return {
        kind: "directory",
        attributes: attributesOf(new DerReader(content, what).take(Tag.SEQUENCE).whole, what),
      };
    default:
      return { kind: "other", tag };
  }
}

/** A name of a certificate. */
type Name =
  | { readonly kind: "dns" | "email" | "uri"; readonly text: string }
  | { readonly kind: "ip"; readonly text: string }
  | { readonly kind: "directory"; readonly attributes: readonly NameAttribute[] }
  | { readonly kind: "other"; readonly tag: number };

/**
 * The reason why an authority's constraints forbid the names of a certificate. Undefined when the names are allowed.
 *
 * @param isLeaf Whether the certificate is a leaf. A leaf's common name counts as a DNS name if the alternative names
 * have no DNS name.
 */
export function constraintFault(
  { permitted, excluded }: NameConstraints,
  certificate: ConstrainedNames,
  isLeaf: boolean,
): string | undefined {
  for (const name of namesOf(certificate, isLeaf)) {
    const isSame = (tree: Subtree) =>
      name.kind === tree.kind && (name.kind !== "other" || name.tag === (tree as typeof name).tag);
    const allowed = permitted.filter(isSame);
    const denied = excluded.filter(isSame);
    if (allowed.length + denied.length === 0) continue;
    const shown = `${KINDS[name.kind]} ${shownName(name)}`;
    if (!isComparable(name)) return `${shown} cannot be compared with them`;
    if (denied.some((tree) => isWithin(name, tree))) return `they exclude ${shown}`;
    if (allowed.length > 0 && !allowed.some((tree) => isWithin(name, tree))) {
      return `they permit ${allowed.map(shownTree).join(", ")}, and not ${shown}`;
    }
  }
  return undefined;
}

const KINDS: Readonly<Record<Name["kind"], string>> = {
  ...{ dns: "DNS name", email: "email address", uri: "URI", ip: "address" },
  ...{ directory: "subject", other: "a name of kind" },
};

function namesOf({ names, subjectDer }: ConstrainedNames, isLeaf: boolean): Name[] {
  const attributes = attributesOf(subjectDer, "subject");
  const valuesOf = (type: string) => attributes.flatMap((one) => one.type === type ? one.text : []);
  // A common name such as "Our first CA" is not a DNS name.
  const common = isLeaf && names.dns.length === 0
    ? valuesOf(ObjectId.commonName).filter((text) => HOST.test(text))
    : [];
  return [
    ...(attributes.length === 0 ? [] : [{ kind: "directory", attributes } as const]),
    ...[...names.dns, ...common].map((text) => ({ kind: "dns", text: text.toLowerCase() }) as const),
    ...[...names.emails, ...valuesOf(ObjectId.emailAddress)].map((text) => ({ kind: "email", text }) as const),
    ...names.uris.map((text) => ({ kind: "uri", text }) as const),
    ...names.ips.map((text) => ({ kind: "ip", text }) as const),
    ...(names.others ?? []).map((tag) => ({ kind: "other", tag }) as const),
  ];
}

/** OpenSSL's form of a host in a common name. */
const HOST = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)+$/i;

function isComparable(name: Name): boolean {
  if (name.kind === "other") return false;
  if (name.kind === "uri") return hostOf(name.text) !== undefined;
  return name.kind !== "email" || name.text.includes("@");
}

function isWithin(name: Name, tree: Subtree): boolean {
  if (name.kind === "dns" && tree.kind === "dns") return isBelow(name.text, tree.text);
  if (name.kind === "uri" && tree.kind === "uri") return isHostWithin(hostOf(name.text)!, tree.text);
  if (name.kind === "email" && tree.kind === "email") return isMailWithin(name.text, tree.text);
  if (name.kind === "ip" && tree.kind === "ip") return isAddressWithin(name.text, tree.bytes);
  if (name.kind === "directory" && tree.kind === "directory") {
    return tree.attributes.every(({ key }, i) => name.attributes[i]?.key === key);
  }
  return false;
}

/** A DNS name is within the subtree if it equals the base, or adds labels before the base. */
function isBelow(name: string, base: string): boolean {
  if (base === "" || name === base) return true;
  return name.endsWith(base.startsWith(".") ? base : `.${base}`);
}

/**
 * A host is within the subtree if it equals the base. If the base begins with a dot, the host must be below the base.
 */
function isHostWithin(host: string, base: string): boolean {
  return base.startsWith(".") ? host.length > base.length && host.endsWith(base) : host === base;
}

function isMailWithin(address: string, base: string): boolean {
  const [local, host] = parts(address);
  if (!base.includes("@")) return isHostWithin(host, base.toLowerCase());
  const [baseLocal, baseHost] = parts(base);
  return host === baseHost && (baseLocal === "" || local === baseLocal);
}

function parts(address: string): readonly [local: string, host: string] {
  const at = address.lastIndexOf("@");
  return [address.slice(0, at), address.slice(at + 1).toLowerCase()];
}

function isAddressWithin(text: string, tree: Uint8Array): boolean {
  const bytes = text.includes(":")
    ? text.split(":").flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff])
    : text.split(".").map(Number);
  const half = tree.length / 2;
  return bytes.length === half && bytes.every((byte, i) => ((byte ^ tree[i]!) & tree[half + i]!) === 0);
}

/** The host of a URI, in lower case. Undefined without a host. */
function hostOf(uri: string): string | undefined {
  const start = uri.indexOf(":");
  if (start < 0 || uri.slice(start + 1, start + 3) !== "//") return undefined;
  const [host = ""] = uri.slice(start + 3).split(/[:/]/, 1);
  return host === "" ? undefined : host.toLowerCase();
}

function shownName(name: Name): string {
  if (name.kind === "other") return String(name.tag & 0x1f);
  return JSON.stringify(name.kind === "directory" ? name.attributes.map(({ shown }) => shown).join(", ") : name.text);
}

function shownTree(tree: Subtree): string {
  if (tree.kind === "other") return `a name of kind ${tree.tag & 0x1f}`;
  if (tree.kind === "ip") return tree.bytes.toHex();
  return JSON.stringify(tree.kind === "directory" ? tree.attributes.map(({ shown }) => shown).join(", ") : tree.text);
}
