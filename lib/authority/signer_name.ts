/**
 * Names of signers in the orchestrator's API: a domain, a slash, and a name of dotted parts.
 *
 * Rule: https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#signers
 *
 * @module
 */
import { IssueError } from "./issuing.ts";

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const LONGEST_LABEL = 63;

/** Whether a text consists of labels with dots in between. */
function isLabels(text: string, least: number): boolean {
  const labels = text.split(".");
  return labels.length >= least && labels.every((one) => one.length <= LONGEST_LABEL && LABEL.test(one));
}

/** Most characters of a part of a signer's name, by the limits of the API. */
const LONGEST = 253;

/** The signers that callers may name. */
export interface SignerNames {
  /** The signer for callers that name no signer (`ORCH_SIGNER`); empty: there is no such signer. */
  readonly usual: string;
  /** The domain of the signers that callers may name (`CERT_SIGNER_DOMAIN`); empty: callers must not name a signer. */
  readonly domain: string;
}

/** Whether a text is the domain of signers. */
export function isSignerDomain(text: string): boolean {
  return text.length <= LONGEST && isLabels(text, 2);
}

/** Whether a text is the whole name of a signer. */
export function isSignerName(text: string): boolean {
  const slash = text.indexOf("/");
  return slash > 0 && isSignerDomain(text.slice(0, slash)) && isSignerPath(text.slice(slash + 1));
}

function isSignerPath(text: string): boolean {
  return text.length <= LONGEST && isLabels(text, 1);
}

/**
 * The whole name of the signer that a caller requests.
 *
 * @param wanted A name in the domain, with or without the domain; empty: the usual signer.
 * @throws {IssueError} when callers may not name the signer
 */
export function signerOf(wanted: string, { usual, domain }: SignerNames): string {
  const got = `CertSigner: got ${JSON.stringify(wanted.slice(0, LONGEST))}, expected`;
  if (wanted === "") {
    if (usual !== "") return usual;
    throw new IssueError(
      "request",
      `${got} the name of a signer of ${domain}: the server has no default signer (ORCH_SIGNER)`,
    );
  }
  if (domain === "") throw new IssueError("request", `${got} none: the server has no CERT_SIGNER_DOMAIN`);
  const name = wanted.startsWith(`${domain}/`) ? wanted.slice(domain.length + 1) : wanted;
  if (!isSignerPath(name)) throw new IssueError("request", `${got} a name of dotted parts, of a signer of ${domain}`);
  return `${domain}/${name}`;
}
