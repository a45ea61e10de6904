/**
 * The certificate authority. It issues certificates with its present signing material (see `./self_signed.ts` and
 * `./plugged_in.ts`).
 *
 * @module
 */
import { certificatePem } from "../pki/pem.ts";
import { type Current, CurrentValue } from "../pki/current.ts";
import { issueLeaf } from "../pki/issue.ts";
import { nameOf } from "../pki/chain_rules.ts";
import { constraintFault } from "../pki/name_constraints.ts";
import { type AlternativeNames, NO_NAMES, type SubjectName, writeSubject } from "../pki/subject.ts";
import type { Clock } from "../kernel/time/clock.ts";
import type { PrivateKey } from "../pki/private_key.ts";
import {
  checkedLifetime,
  type IssuedChain,
  IssueError,
  type Lifetimes,
  type OwnIssuer,
  type WorkloadAuthority,
  type WorkloadOrder,
} from "./issuing.ts";
import { type SigningMaterial, validityFault } from "./material.ts";
import type { KeyInForce } from "./key_in_force.ts";
import { WorkQueue } from "../kernel/time/work_queue.ts";

/** Milliseconds by which a certificate's validity begins before its issue, for clocks that are behind. */
export const CLOCK_SKEW = 2 * 60_000;

export interface IssueRequest {
  /** The key of the certificate, as SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly names: Partial<AlternativeNames>;
  readonly subject?: SubjectName;
  /** Milliseconds; 0 or less, or undefined: the usual. */
  readonly lifetime?: number;
}

/** How an authority signs. */
export interface SigningOptions {
  /** Signatures at a time. Default 2. */
  readonly cores?: number;
  /** Makes signatures with the key in force. Default: the key signs. */
  readonly keyInForce?: KeyInForce;
}

/**
 * Checks the name constraints of all authorities above a certificate. A verifier refuses a whole certificate for a
 * single name that is not allowed.
 *
 * @throws {IssueError} when a name is not allowed
 */
function checkConstraints(
  { constrained }: SigningMaterial,
  names: Partial<AlternativeNames>,
  subject: SubjectName,
): void {
  for (const authority of constrained) {
    const leaf = { names: { ...NO_NAMES, ...names }, subjectDer: writeSubject(subject) };
    const fault = constraintFault(authority.nameConstraints!, leaf, true);
    if (fault === undefined) continue;
    throw new IssueError("request", `the authority ${nameOf(authority)} has name constraints: ${fault}`);
  }
}

/** Most characters of a certificate's common name (RFC 5280, appendix A.1). */
const MAX_COMMON_NAME = 64;

export class SigningAuthority implements WorkloadAuthority, OwnIssuer {
  /** The key and certificates of the authority; undefined: there is no certificate yet. */
  readonly material: Current<SigningMaterial | undefined>;
  /** The authority's roots, as PEM. */
  readonly roots: CurrentValue<string>;
  readonly #lifetimes: Lifetimes;
  readonly #clock: Pick<Clock, "now">;
  readonly #queue: WorkQueue;
  readonly #keyInForce: KeyInForce | undefined;

  constructor(
    material: Current<SigningMaterial | undefined>,
    lifetimes: Lifetimes,
    clock: Pick<Clock, "now">,
    { cores = 2, keyInForce }: SigningOptions = {},
  ) {
    this.material = material;
    this.#lifetimes = lifetimes;
    this.#clock = clock;
    this.#queue = new WorkQueue(cores);
    this.#keyInForce = keyInForce;
    void keyInForce?.take(material.current()?.key);
    this.roots = new CurrentValue(material.current()?.rootsPem ?? "");
    material.onChange((next) => {
      void keyInForce?.take(next?.key);
      const rootsPem = next?.rootsPem ?? "";
      if (rootsPem !== this.roots.current()) this.roots.set(rootsPem);
    });
  }

  /** Why nothing is signed now; undefined: the authority signs. */
  fault(): string | undefined {
    const material = this.material.current();
    return material === undefined ? "the authority has no certificate" : validityFault(material, this.#clock.now());
  }

  /**
   * Issues a certificate. The certificate ends no later than the certificates above it, even if a longer lifetime was
   * requested.
   *
   * @throws {IssueError} when the lifetime is too long, or there is no valid signing material
   * @throws {QueueFull} when too many requests wait
   */
  async issue({ spki, names, subject = {}, lifetime = 0 }: IssueRequest): Promise<IssuedChain> {
    const allowed = checkedLifetime(this.#lifetimes, lifetime);
    return await this.#queue.run(async () => {
      // The present material: the request may have waited through a rotation.
      const now = this.#clock.now();
      const material = this.material.current();
      const fault = material === undefined ? "the authority has no certificate" : validityFault(material, now);
      if (material === undefined || fault !== undefined) throw new IssueError("not ready", fault ?? "");
      const { certificate, between, rootsPem } = material;
      checkConstraints(material, names, subject);
      const key = this.#keyInForce?.of(material.key) ?? material.key;
      const notBefore = Math.max(now - CLOCK_SKEW, material.notBefore);
      const notAfter = Math.min(now + allowed, material.notAfter);
      const leaf = await issueLeaf({ certificate, key }, { spki, names, subject, notBefore, notAfter });
      return { chain: [certificatePem(leaf), ...between], rootsPem, notBefore, notAfter };
    });
  }

  /**
   * The subject names the proven identity, if the request has a common name. The requested common name itself is
   * ignored.
   */
  issueWorkload({ uri, request: { spki, commonName }, lifetime }: WorkloadOrder): Promise<IssuedChain> {
    const named = commonName !== undefined && uri.length <= MAX_COMMON_NAME;
    return this.issue({
      ...{ spki, names: { uris: [uri] }, lifetime },
      ...(named ? { subject: { commonName: uri } } : {}),
    });
  }

  /** {@linkcode OwnIssuer} */
  issueServer({ spki }: PrivateKey, dns: readonly string[]): Promise<IssuedChain> {
    return this.issue({ spki, names: { dns } });
  }
}
