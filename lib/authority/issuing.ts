/**
 * Orders of certificates, and reasons for refusals, for every authority: with a key of its own, or with external
 * signers.
 *
 * @module
 */
import type { Current } from "../pki/current.ts";
import type { PrivateKey } from "../pki/private_key.ts";
import type { CertificateRequest } from "../pki/request.ts";

/**
 * - `request`: the request asks for a certificate that may not be signed
 * - `ttl`: the lifetime is not allowed
 * - `not ready`: there is no signing material that is valid now, or the judge of a proof cannot be asked
 * - `denied`: an external approver refused
 * - `late`: an external signer did not answer in time
 * - `unusable`: an external signer failed, or its answer cannot be used
 */
export type IssueRefusal = "request" | "ttl" | "not ready" | "denied" | "late" | "unusable";

/** Why no certificate was issued. */
export class IssueError extends Error {
  override readonly name = "IssueError";
  constructor(readonly reason: IssueRefusal, message: string) {
    super(message);
  }
}

/** Lifetimes of certificates, milliseconds. */
export interface Lifetimes {
  /** `DEFAULT_WORKLOAD_CERT_TTL` */
  readonly usual: number;
  /** `MAX_WORKLOAD_CERT_TTL` */
  readonly most: number;
}

/** An issued certificate. */
export interface IssuedChain {
  /** PEM, one certificate per text: the leaf first, then the authorities below the root. */
  readonly chain: readonly string[];
  /** All roots, as one PEM text. */
  readonly rootsPem: string;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** An order of a workload's certificate. */
export interface WorkloadOrder {
  /** The proven identity. */
  readonly uri: string;
  /** The request. Only its signature is verified. */
  readonly request: CertificateRequest;
  /** Milliseconds; 0 or less: the usual. */
  readonly lifetime: number;
  /** The requested signer; empty: no signer is requested. */
  readonly signer: string;
  /** Aborts when nobody waits for the certificate any more. */
  readonly signal: AbortSignal;
}

/** The issuer of workload certificates. */
export interface WorkloadAuthority {
  /** @throws {IssueError} with the reason of a refusal; {QueueFull} when too many requests wait */
  issueWorkload(order: WorkloadOrder): Promise<IssuedChain>;
}

/**
 * The lifetime of a certificate, milliseconds.
 *
 * @param wanted 0 or less: the usual.
 * @throws {IssueError} when the lifetime is longer than allowed
 */
export function checkedLifetime({ usual, most }: Lifetimes, wanted: number): number {
  const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
  if (wanted <= most) return wanted > 0 ? wanted : Math.min(usual, most);
  throw new IssueError("ttl", `the lifetime: got ${seconds(wanted)}, expected at most ${seconds(most)}`);
}

/** The issuer of the server's certificate. */
export interface OwnIssuer {
  /** Issues a certificate for a key and DNS names. */
  issueServer(key: PrivateKey, dns: readonly string[]): Promise<IssuedChain>;
  /** The signing material. After a change, the server's certificate is made anew. */
  readonly material: Pick<Current<unknown>, "onChange">;
}
