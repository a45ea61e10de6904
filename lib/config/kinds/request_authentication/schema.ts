/**
 * RequestAuthentication: which tokens (JWT) a workload accepts.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { required } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { bool, duration, string } from "../../schema/scalars.ts";
import { targetReference, workloadSelector } from "../common/schema.ts";

const jwtRule = message({
  /** The issuer, as tokens name it. */
  issuer: required(string(), "the issuer of the tokens"),
  /** Audiences of which a token must have one. */
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
  /** Query parameters that carry the token. */
  fromParams: list(string()),
  /** Cookies that carry the token. */
  fromCookies: list(string()),
  /** Header that gets the token's payload, in base64. */
  outputPayloadToHeader: string(),
  /** Leaves the token in the request. */
  forwardOriginalToken: bool(),
  /** Claims that become headers of the request. */
  outputClaimToHeaders: list(message({
    /** Name of the header. */
    header: required(string(), "the name of a header"),
    /** Name of the claim; `a.b` for one inside another. */
    claim: required(string(), "the name of a claim"),
  })),
  /** Longest time to fetch keys; absent: 5 s. */
  timeout: duration(),
});

/** One issuer. */
export interface JwtRule extends Of<typeof jwtRule> {}

export const requestAuthentication = message({
  /** Workloads of the namespace that it is for, of all namespaces in the root namespace; absent: all of them. */
  selector: workloadSelector,
  /** Deprecated single form of `targetRefs`. */
  targetRef: targetReference,
  /** Objects of the namespace that stand for the workloads instead of a selector. */
  targetRefs: list(targetReference),
  /** Issuers whose tokens are accepted. */
  jwtRules: list(jwtRule),
});

/** Spec of a RequestAuthentication. */
export interface RequestAuthenticationSpec extends Of<typeof requestAuthentication> {}
