/**
 * RequestAuthentication: which tokens (JWT) a workload accepts.
 *
 * @module
 */
import type { PolicyTargetReference, WorkloadSelector } from "../common/types.ts";

/** Spec of a RequestAuthentication. */
export interface RequestAuthenticationSpec {
  readonly selector?: WorkloadSelector;
  /** Deprecated single form of `targetRefs`. */
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
  readonly jwtRules?: readonly JwtRule[];
}

/** One issuer. */
export interface JwtRule {
  readonly issuer: string;
  readonly audiences?: readonly string[];
  /** URL of the keys; absent (with `jwks` absent): found by OpenID discovery of the issuer. */
  readonly jwksUri?: string;
  /** The keys themselves, JSON text. */
  readonly jwks?: string;
  /** Absent (with fromParams and fromCookies absent): `Authorization: Bearer` and parameter access_token. */
  readonly fromHeaders?: readonly { readonly name: string; readonly prefix?: string }[];
  readonly fromParams?: readonly string[];
  readonly fromCookies?: readonly string[];
  readonly outputPayloadToHeader?: string;
  readonly forwardOriginalToken?: boolean;
  readonly outputClaimToHeaders?: readonly { readonly header: string; readonly claim: string }[];
  /** Of key fetches, ms; absent: 5 s. */
  readonly timeout?: number;
}
