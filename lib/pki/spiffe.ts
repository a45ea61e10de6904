/**
 * Identities of workloads: a trust domain, a namespace and a service account, written as a SPIFFE ID,
 * `spiffe://cluster.local/ns/shop/sa/cart`.
 *
 * Rule: https://github.com/spiffe/spiffe/blob/main/standards/SPIFFE-ID.md#2-spiffe-identity
 *
 * @module
 */
import { PkiError } from "./pki_error.ts";

/** The identity of a workload. */
export interface WorkloadIdentity {
  readonly trustDomain: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** Longest SPIFFE ID that every implementation must accept, in bytes (section 2.3 of the standard). */
const MAX_LENGTH = 2048;

const TRUST_DOMAIN = /^[a-z0-9._-]{1,255}$/;
const SEGMENT = /^[A-Za-z0-9._-]+$/;

/** The segments `.` and `..` have a meaning in a path, so neither is a name. */
const isSegment = (text: string) => SEGMENT.test(text) && text !== "." && text !== "..";

/** The parts of any SPIFFE ID. */
interface SpiffeId {
  readonly trustDomain: string;
  /** Segments of the path. Empty for the ID of a trust domain. */
  readonly path: readonly string[];
}

const SCHEME = "spiffe://";

/** Whether a URI is a SPIFFE ID, of a workload or of anything else. */
export function isSpiffeId(uri: string): boolean {
  return parseSpiffeId(uri) !== undefined;
}

function parseSpiffeId(uri: string): SpiffeId | undefined {
  if (uri.length > MAX_LENGTH || !uri.startsWith(SCHEME)) return undefined;
  const [trustDomain = "", ...path] = uri.slice(SCHEME.length).split("/");
  return TRUST_DOMAIN.test(trustDomain) && path.every(isSegment) ? { trustDomain, path } : undefined;
}

/**
 * The identity in a SPIFFE ID of the form `spiffe://TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT`. Undefined for another form.
 */
export function parseWorkloadIdentity(uri: string): WorkloadIdentity | undefined {
  const { trustDomain = "", path = [] } = parseSpiffeId(uri) ?? {};
  const [ns, namespace = "", sa, serviceAccount = ""] = path;
  return path.length === 4 && ns === "ns" && sa === "sa" ? { trustDomain, namespace, serviceAccount } : undefined;
}

/**
 * The SPIFFE ID of a workload. An `@` in the trust domain becomes a dot, as in trust domains made from account names.
 *
 * @throws {PkiError} naming the part that is not allowed in a SPIFFE ID.
 */
export function workloadUri(identity: WorkloadIdentity): string {
  const made = { ...identity, trustDomain: identity.trustDomain.replaceAll("@", ".") };
  const fault = faultOf(made);
  if (fault !== undefined) throw new PkiError(fault);
  return `spiffe://${made.trustDomain}/ns/${made.namespace}/sa/${made.serviceAccount}`;
}

function faultOf({ trustDomain, namespace, serviceAccount }: WorkloadIdentity): string | undefined {
  if (!TRUST_DOMAIN.test(trustDomain)) {
    return `trust domain: expected lower-case letters, digits, dots, dashes and underscores, got ${
      JSON.stringify(trustDomain)
    }`;
  }
  for (const [name, segment] of [["namespace", namespace], ["service account", serviceAccount]] as const) {
    if (!isSegment(segment)) {
      return `${name}: expected letters, digits, dots, dashes and underscores, got ${JSON.stringify(segment)}`;
    }
  }
  return undefined;
}
