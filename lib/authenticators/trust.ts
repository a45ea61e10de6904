/**
 * Identities of workloads in the trust domains of the mesh.
 *
 * @module
 */
import { parseWorkloadIdentity, type WorkloadIdentity } from "../pki/spiffe.ts";
import { NotAuthenticated } from "./caller.ts";

/** The trust domains of a mesh. */
export interface TrustDomains {
  /** The domain of the mesh's own identities. */
  readonly own: string;
  /** Other names of the mesh's domain. Identities in them are accepted. */
  readonly aliases: readonly string[];
}

/** A label of RFC 1123, as names of namespaces are. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether a text is the name of an account: labels of RFC 1123 with dots in between. */
function isAccountName(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => LABEL.test(label));
}

/**
 * Reads the SPIFFE ID of a workload of this mesh.
 *
 * @throws {NotAuthenticated} when the text is not such an ID, or its trust domain is neither the own domain nor an
 * alias
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
 * The identity of a service account, from a name in a token or from the orchestrator:
 * `system:serviceaccount:namespace:account`.
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

/**
 * A configured domain in the form of certificates. A domain that was made from an account's name holds an `@`, which is
 * not allowed in a SPIFFE ID.
 */
function asTrustDomain(domain: string): string {
  return domain.replaceAll("@", ".");
}

/** Most characters of a caller's text in a reason. */
const MAX_SHOWN = 200;

/** A caller's text for a reason: quoted and bounded. */
export function shownText(text: string): string {
  return JSON.stringify(text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}...`);
}
