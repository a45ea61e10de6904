/**
 * Certificates and authorities that Gateways and policies refer to: whether they exist and can be used.
 *
 * Parsing is the expensive part, so the verdict on an object is kept as long as the object.
 *
 * @module
 */
import { ConcealedBytes } from "../../config/facts/concealed.ts";
import { judgeCredential, judgeTrust } from "../../config/facts/credential.ts";
import type { Fact } from "../../config/facts/types.ts";
import { isPermitted, missingGrant, type ReferenceOrigin, type ReferenceTarget } from "./grants.ts";
import type { AttachReader, AuthorityObject, NamespacedName } from "./types.ts";

/** A reference to a Secret or ConfigMap. */
export interface ContentReference {
  readonly group?: string;
  readonly kind?: string;
  /** Absent: the namespace of the referring object. */
  readonly namespace?: string;
  readonly name: string;
}

/** Why a reference cannot be used. */
export interface CredentialRefusal {
  readonly found?: undefined;
  readonly because: "kind" | "permission" | "content";
  readonly message: string;
}

/** The Secret of a reference, if it holds a certificate with its key. */
export function certificateOf(
  ref: ContentReference,
  from: ReferenceOrigin,
  read: AttachReader,
): { readonly found: NamespacedName } | CredentialRefusal {
  const { group = "", kind = "Secret", namespace = from.namespace, name } = ref;
  if (group !== "" || kind !== "Secret") {
    return { because: "kind", message: `${kindText(group, kind)} ${name}, expected a Secret` };
  }
  const target = { group, kind, namespace, name };
  // Permission comes before existence: a status must not tell what other namespaces hold.
  if (!isPermitted(from, target, read)) return withoutGrant(from, target);
  const secret = read.fact("Secret", namespace, name);
  const wrong = secret === undefined ? "does not exist" : pairFault(secret);
  if (wrong !== undefined) return { because: "content", message: `Secret ${namespace}/${name} ${wrong}` };
  return { found: { namespace, name } };
}

/** The object of a reference, if it holds certificates of authorities: `ca.crt` of a ConfigMap or Secret. */
export function authoritiesOf(
  ref: ContentReference,
  from: ReferenceOrigin,
  read: AttachReader,
): { readonly found: AuthorityObject } | CredentialRefusal {
  const { group = "", kind = "ConfigMap", namespace = from.namespace, name } = ref;
  if (group !== "" || (kind !== "ConfigMap" && kind !== "Secret")) {
    return { because: "kind", message: `${kindText(group, kind)} ${name}, expected a ConfigMap or a Secret` };
  }
  const target = { group, kind, namespace, name };
  if (!isPermitted(from, target, read)) return withoutGrant(from, target);
  const object = kind === "Secret" ? read.fact("Secret", namespace, name) : read.fact("ConfigMap", namespace, name);
  const wrong = object === undefined ? "does not exist" : authoritiesFault(object);
  if (wrong !== undefined) return { because: "content", message: `${kind} ${namespace}/${name} ${wrong}` };
  return { found: { kind, namespace, name } };
}

/** Whether the Secret of a certificate, or the Secret with `-cacert` behind the name, holds authorities of clients. */
export function hasAuthorities({ namespace, name }: NamespacedName, read: AttachReader): boolean {
  return [name, `${name}-cacert`].some((one) => {
    const secret = read.fact("Secret", namespace, one);
    return secret !== undefined && authoritiesFault(secret) === undefined;
  });
}

function withoutGrant(from: ReferenceOrigin, to: ReferenceTarget): CredentialRefusal {
  const message = `${to.kind} ${to.namespace}/${to.name}, expected ${missingGrant(from, to)}`;
  return { because: "permission", message };
}

function kindText(group: string, kind: string): string {
  return group === "" ? kind : `${kind}.${group}`;
}

const pairFaults = new WeakMap<Fact<"Secret">, { readonly fault: string | undefined }>();

/** Why a Secret cannot serve as a certificate (follows the name of the Secret); undefined: the Secret can. */
function pairFault(secret: Fact<"Secret">): string | undefined {
  const known = pairFaults.get(secret);
  if (known !== undefined) return known.fault;
  const { data } = secret.spec;
  const [certificate, key] = data["tls.crt"] && data["tls.key"]
    ? [data["tls.crt"], data["tls.key"]]
    : [data["cert"], data["key"]];
  const fault = certificate?.length && key?.length
    ? pairText(judgeCredential(certificate, key))
    : "has neither tls.crt with tls.key nor cert with key";
  pairFaults.set(secret, { fault });
  return fault;
}

function pairText(verdict: ReturnType<typeof judgeCredential>): string | undefined {
  if (verdict === undefined) return "holds placeholders for contents";
  if (verdict.problem === undefined) return undefined;
  return `cannot be used: its ${verdict.problem === "certificate" ? "certificate" : "key"} ${verdict.why}`;
}

type AuthorityFact = Fact<"Secret"> | Fact<"ConfigMap">;

const authorityFaults = new WeakMap<AuthorityFact, { readonly fault: string | undefined }>();

/** Why an object cannot serve as authorities (follows the name of the object); undefined: the object can. */
function authoritiesFault(object: AuthorityFact): string | undefined {
  const known = authorityFaults.get(object);
  if (known !== undefined) return known.fault;
  const bytes = authorityBytes(object);
  const fault = bytes?.length ? trustText(judgeTrust(bytes, undefined)) : "has no ca.crt";
  authorityFaults.set(object, { fault });
  return fault;
}

function authorityBytes(object: AuthorityFact): ConcealedBytes | undefined {
  if (object.kind === "Secret") return object.spec.data["ca.crt"] ?? object.spec.data["cacert"];
  const { data, binaryData } = object.spec;
  const [text, bytes] = [data["ca.crt"], binaryData["ca.crt"]];
  if (text !== undefined) return new ConcealedBytes(new TextEncoder().encode(text));
  return bytes && new ConcealedBytes(bytes);
}

function trustText(verdict: ReturnType<typeof judgeTrust>): string | undefined {
  if (verdict === undefined) return "holds placeholders for contents";
  return verdict.problem === undefined ? undefined : `cannot be used: its text of authorities ${verdict.why}`;
}
