/**
 * RequestAuthentication: which tokens (JWT) a workload accepts.
 *
 * @module
 */
import type { PolicyTargetReference, WorkloadSelector } from "../common/types.ts";

/** Spec of a RequestAuthentication. */
export interface RequestAuthenticationSpec {
  /** Workloads of the namespace that it is for, of all namespaces in the root namespace; absent: all of them. */
  readonly selector?: WorkloadSelector;
  /** Deprecated single form of `targetRefs`. */
  readonly targetRef?: PolicyTargetReference;
  /** Objects of the namespace that stand for the workloads instead of a selector. */
  readonly targetRefs?: readonly PolicyTargetReference[];
  /** Issuers whose tokens are accepted. */
  readonly jwtRules?: readonly JwtRule[];
}

/** One issuer. */
export interface JwtRule {
  /** The issuer, as tokens name it. */
  readonly issuer: string;
  /** Audiences of which a token must have one. */
  readonly audiences?: readonly string[];
  /** URL of the keys; absent (with `jwks` absent): found by OpenID discovery of the issuer. */
  readonly jwksUri?: string;
  /** The keys themselves, JSON text. */
  readonly jwks?: string;
  /** Absent (with fromParams and fromCookies absent): `Authorization: Bearer` and parameter access_token. */
  readonly fromHeaders?: readonly {
    /** Name of the header. */
    readonly name: string;
    /** The text before the token, such as `Bearer `. */
    readonly prefix?: string;
  }[];
  /** Query parameters that carry the token. */
  readonly fromParams?: readonly string[];
  /** Cookies that carry the token. */
  readonly fromCookies?: readonly string[];
  /** Header that gets the token's payload, in base64. */
  readonly outputPayloadToHeader?: string;
  /** Leaves the token in the request. */
  readonly forwardOriginalToken?: boolean;
  /** Claims that become headers of the request. */
  readonly outputClaimToHeaders?: readonly {
    /** Name of the header. */
    readonly header: string;
    /** Name of the claim; `a.b` for one inside another. */
    readonly claim: string;
  }[];
  /** Longest time to fetch keys; absent: 5 s. */
  readonly timeout?: number;
}
