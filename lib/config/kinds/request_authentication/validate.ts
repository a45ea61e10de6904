/**
 * Rules of RequestAuthentication.
 *
 * @module
 */
import { isWebAddress, shownAddress } from "../../../kernel/fetch/web_address.ts";
import type { Findings } from "../../../finding/findings.ts";
import { checkAttachment } from "../../validation/shared.ts";
import {
  checkChangedHeaderName,
  checkDuration,
  checkHeadText,
  checkStrictHeaderName,
} from "../../validation/values.ts";
import type { Validate } from "../validate.ts";
import { EMPTY_KEY_SET, publicKeySet } from "./key_set.ts";
import type { JwtRule, RequestAuthenticationSpec } from "./schema.ts";

/** Checks a RequestAuthentication. */
export const validateRequestAuthentication: Validate<RequestAuthenticationSpec> = (spec, _meta, report) => {
  checkAttachment(spec, report);
  spec.jwtRules?.forEach((rule, index) => checkJwtRule(rule, `spec.jwtRules[${index}]`, report));
};

function checkJwtRule(rule: JwtRule, at: string, report: Findings): void {
  for (const field of ["audiences", "fromParams", "fromCookies"] as const) {
    rule[field]?.forEach((value, index) => {
      if (value === "") report.error(`${at}.${field}[${index}]`, value, "a value that is not empty");
    });
  }
  if (rule.jwksUri !== undefined && !isHttpUrl(rule.jwksUri)) {
    report.error(`${at}.jwksUri`, rule.jwksUri, "an http:// or https:// URL");
  } else if (rule.jwksUri !== undefined && !isWebAddress(rule.jwksUri)) {
    const expected =
      "an address without a user, a password and a fragment: no keys are fetched, and every token is refused";
    report.warning(`${at}.jwksUri`, shownAddress(rule.jwksUri), expected);
  }
  checkKeys(rule.jwks, `${at}.jwks`, report);
  rule.fromHeaders?.forEach(({ name, prefix }, index) => {
    checkHeadText(name, `${at}.fromHeaders[${index}].name`, report);
    checkHeadText(prefix, `${at}.fromHeaders[${index}].prefix`, report);
  });
  if (rule.outputPayloadToHeader !== undefined) {
    checkChangedHeaderName(rule.outputPayloadToHeader, false, `${at}.outputPayloadToHeader`, report);
  }
  rule.outputClaimToHeaders?.forEach((output, index) => {
    if (output.header !== "") {
      checkStrictHeaderName(output.header, `${at}.outputClaimToHeaders[${index}].header`, report);
    }
  });
  checkDuration(rule.timeout, `${at}.timeout`, report);
}

function checkKeys(jwks: string | undefined, at: string, report: Findings): void {
  const keys = jwks === undefined ? undefined : publicKeySet(jwks);
  if (jwks !== undefined && keys === undefined) {
    report.error(at, jwks, 'a JSON Web Key Set ({"keys": [...]}) or one key, as JSON text');
  }
  if (keys === EMPTY_KEY_SET) {
    report.warning(at, jwks, "a key that verifies tokens (RSA, EC on P-256, P-384 or P-521, Ed25519, oct); none is");
  }
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
