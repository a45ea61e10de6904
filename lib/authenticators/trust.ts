/**
 * Identities of workloads, as far as this mesh believes in their trust domain.
 *
 * @module
 */
import { parseWorkloadIdentity, type WorkloadIdentity } from "../pki/spiffe.ts";
import { NotAuthenticated } from "./caller.ts";

/** The trust domains of a mesh. */
export interface TrustDomains {
  /** Where its own identities are. */
  readonly own: string;
  /** Other names of the same domain: identities in them are accepted. */
  readonly aliases: readonly string[];
}

/** A label of RFC 1123, as names of namespaces are. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Names of accounts: labels of RFC 1123 with dots between them. */
function isAccountName(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => LABEL.test(label));
}

/**
 * Reads the SPIFFE ID of a workload of this mesh.
 *
 * @throws {NotAuthenticated} when it is none, or of a trust domain that is neither the own one nor an alias
 */
export function workloadIdentity(uri: string, domains: TrustDomains): WorkloadIdentity {
  const identity = parseWorkloadIdentity(uri);
  if (identity === undefined) {
    throw new NotAuthenticated(`got ${shownText(uri)}, expected spiffe://<trust domain>/ns/<namespace>/sa/<account>`);
  }
  const known = [domains.own, ...domains.aliases].map(asTrustDomain);
  if (!known.includes(identity.trustDomain)) {
    throw new NotAuthenticated(`got trust domain ${shownText(identity.trustDomain)}, expected ${known.join(", ")}`);
  }
  return identity;
}

/**
 * The identity of the service account that a token or the orchestrator names: `system:serviceaccount:namespace:account`.
 *
 * @throws {NotAuthenticated} when the text has another form
 */
export function accountIdentity(name: string, domains: TrustDomains): WorkloadIdentity {
  const [system, kind, namespace = "", serviceAccount = "", ...more] = name.split(":", 5);
  const right = system === "system" && kind === "serviceaccount" && more.length === 0 && LABEL.test(namespace) &&
    isAccountName(serviceAccount);
  if (!right) {
    throw new NotAuthenticated(`got subject ${shownText(name)}, expected system:serviceaccount:<namespace>:<account>`);
  }
  return { trustDomain: asTrustDomain(domains.own), namespace, serviceAccount };
}

/** A configured domain as certificates have it: one made from an account's name holds an `@`, which no SPIFFE ID may. */
function asTrustDomain(domain: string): string {
  return domain.replaceAll("@", ".");
}

/** Longest text of a caller that a reason repeats. */
const MAX_SHOWN = 200;

/** A caller's text for a reason: quoted and bounded. */
export function shownText(text: string): string {
  return JSON.stringify(text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}...`);
}
