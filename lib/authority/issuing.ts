/**
 * Orders of certificates, and reasons to refuse them, of every authority: with a key of its own, or with signers elsewhere.
 *
 * @module
 */
import type { Current } from "../pki/current.ts";
import type { PrivateKey } from "../pki/private_key.ts";
import type { CertificateRequest } from "../pki/request.ts";

/**
 * - `request`: it asks for what may not be signed
 * - `ttl`: the lifetime is not allowed
 * - `not ready`: nothing to sign with that is valid now, or nobody who can be asked
 * - `denied`: somebody who decides elsewhere said no
 * - `late`: nobody elsewhere answered in time
 * - `unusable`: a signer elsewhere failed, or gave what cannot be used
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

/** A certificate as it is handed out. */
export interface IssuedChain {
  /** PEM, one certificate each: the leaf first, then the authorities below the root. */
  readonly chain: readonly string[];
  /** All roots, as one PEM text. */
  readonly rootsPem: string;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** A certificate that a workload may have. */
export interface WorkloadOrder {
  /** The identity that is proven. */
  readonly uri: string;
  /** Its signature is verified; nothing else of it is. */
  readonly request: CertificateRequest;
  /** Milliseconds; 0 or less: the usual. */
  readonly lifetime: number;
  /** The signer that is asked for; empty: none is. */
  readonly signer: string;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** The issuer of workload certificates. */
export interface WorkloadAuthority {
  /** @throws {IssueError} why there is none; {QueueFull} when too many wait */
  issueWorkload(order: WorkloadOrder): Promise<IssuedChain>;
}

/**
 * The lifetime of a certificate, milliseconds.
 *
 * @param wanted 0 or less: the usual.
 * @throws {IssueError} when it is longer than allowed
 */
export function checkedLifetime({ usual, most }: Lifetimes, wanted: number): number {
  const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
  if (wanted <= most) return wanted > 0 ? wanted : Math.min(usual, most);
  throw new IssueError("ttl", `the lifetime: got ${seconds(wanted)}, expected at most ${seconds(most)}`);
}

/** The issuer of the server's certificate. */
export interface OwnIssuer {
  /** A certificate of a key for these names. */
  issueServer(key: PrivateKey, dns: readonly string[]): Promise<IssuedChain>;
  /** The signing material: when it changes, the certificate is made anew. */
  readonly material: Pick<Current<unknown>, "onChange">;
}
