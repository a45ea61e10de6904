/**
 * Schema of RequestAuthentication.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { type Field, required } from "../../schema/field.ts";
import { message, shape } from "../../schema/message.ts";
import { bool, duration, string } from "../../schema/scalars.ts";
import { targetReference, workloadSelector } from "../common/schema.ts";
import type { JwtRule, RequestAuthenticationSpec } from "./types.ts";

const jwtRule = message<JwtRule>({
  issuer: required(string(), "the issuer of the tokens"),
  audiences: list(string()),
  jwksUri: string(),
  jwks: string(),
  fromHeaders: list(shape({ name: required(string(), "the name of a header"), prefix: string() })),
  fromParams: list(string()),
  fromCookies: list(string()),
  outputPayloadToHeader: string(),
  forwardOriginalToken: bool(),
  outputClaimToHeaders: list(shape({
    header: required(string(), "the name of a header"),
    claim: required(string(), "the name of a claim"),
  })),
  timeout: duration(),
});

/** Schema of {@link RequestAuthenticationSpec}. */
export const requestAuthentication: Field<RequestAuthenticationSpec> = message<RequestAuthenticationSpec>({
  selector: workloadSelector,
  targetRef: targetReference,
  targetRefs: list(targetReference),
  jwtRules: list(jwtRule),
});
