/**
 * RequestAuthentication: the tokens (JWT) that a workload accepts.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { required } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { bool, duration, string } from "../../schema/scalars.ts";
import { targetReference, workloadSelector } from "../common/schema.ts";

const jwtRule = message({
  /** The issuer's name in tokens. */
  issuer: required(string(), "the issuer of the tokens"),
  /** Accepted audiences; a token must name at least one. */
  audiences: list(string()),
  /** URL of the keys; absent (with `jwks` absent): found by OpenID discovery of the issuer. */
  jwksUri: string(),
  /** The keys themselves, JSON text. */
  jwks: string(),
  /** Absent (with fromParams and fromCookies absent): `Authorization: Bearer` and parameter access_token. */
  fromHeaders: list(message({
    /** Name of the header. */
    name: required(string(), "the name of a header"),
    /** The text before the token, such as `Bearer `. */
    prefix: string(),
  })),
  /** Query parameters with the token. */
  fromParams: list(string()),
  /** Cookies with the token. */
  fromCookies: list(string()),
  /** Header for the token's payload, in base64. */
  outputPayloadToHeader: string(),
  /** Leaves the token in the request. */
  forwardOriginalToken: bool(),
  /** Claims that become headers of the request. */
  outputClaimToHeaders: list(message({
    /** Name of the header. */
    header: required(string(), "the name of a header"),
    /** Name of the claim; `a.b` for a claim `b` inside `a`. */
    claim: required(string(), "the name of a claim"),
  })),
  /** Longest time to fetch keys; absent: 5 s. */
  timeout: duration(),
});

/** An issuer of tokens. */
export interface JwtRule extends Of<typeof jwtRule> {}

export const requestAuthentication = message({
  /**
   * Workloads of the policy: of its namespace, or of all namespaces if in the root namespace; absent: all workloads.
   */
  selector: workloadSelector,
  /** Deprecated single form of `targetRefs`. */
  targetRef: targetReference,
  /** Objects of the namespace that stand for the workloads instead of a selector. */
  targetRefs: list(targetReference),
  /** Accepted issuers of tokens. */
  jwtRules: list(jwtRule),
});

/** Spec of a RequestAuthentication. */
export interface RequestAuthenticationSpec extends Of<typeof requestAuthentication> {}
