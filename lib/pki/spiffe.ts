/**
 * Identities of workloads: a trust domain, a namespace and a service account, written as a SPIFFE ID,
 * `spiffe://cluster.local/ns/shop/sa/cart`.
 *
 * Rule: https://github.com/spiffe/spiffe/blob/main/standards/SPIFFE-ID.md#2-spiffe-identity
 *
 * @module
 */
import { PkiError } from "./pki_error.ts";

/** Who a workload is. */
export interface WorkloadIdentity {
  readonly trustDomain: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** Bytes of a SPIFFE ID that every implementation must take (section 2.3 of the standard). */
const MAX_LENGTH = 2048;

const TRUST_DOMAIN = /^[a-z0-9._-]{1,255}$/;
const SEGMENT = /^(?!\.\.?$)[A-Za-z0-9._-]+$/;

/** The identity that a SPIFFE ID of the form `spiffe://TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT` names; undefined: another form. */
export function parseWorkloadIdentity(uri: string): WorkloadIdentity | undefined {
  if (uri.length > MAX_LENGTH || !uri.startsWith("spiffe://")) return undefined;
  const [trustDomain, ns, namespace, sa, serviceAccount, ...more] = uri.slice("spiffe://".length).split("/");
  if (ns !== "ns" || sa !== "sa" || more.length > 0) return undefined;
  const identity = { trustDomain: trustDomain ?? "", namespace: namespace ?? "", serviceAccount: serviceAccount ?? "" };
  return faultOf(identity) === undefined ? identity : undefined;
}

/**
 * The SPIFFE ID of a workload. An `@` in its trust domain becomes a dot, as in trust domains made from account names.
 *
 * @throws {PkiError} naming the part that no SPIFFE ID can have
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
    if (!SEGMENT.test(segment)) {
      return `${name}: expected letters, digits, dots, dashes and underscores, got ${JSON.stringify(segment)}`;
    }
  }
  return undefined;
}

/**
 * The identity that alternative names prove: exactly one URI, which names a workload. Undefined otherwise.
 * Rule: https://github.com/spiffe/spiffe/blob/main/standards/X509-SVID.md#2-spiffe-id
 */
export function identityOfNames({ uris }: { readonly uris: readonly string[] }): WorkloadIdentity | undefined {
  return uris.length === 1 ? parseWorkloadIdentity(uris[0]!) : undefined;
}
