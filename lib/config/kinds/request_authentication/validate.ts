/**
 * Rules of RequestAuthentication.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import { checkAttachment } from "../../validation/shared.ts";
import { checkDuration, checkStrictHeaderName } from "../../validation/values.ts";
import type { Validate } from "../validate.ts";
import type { JwtRule, RequestAuthenticationSpec } from "./types.ts";

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
  }
  if (rule.jwks !== undefined && !isKeySet(rule.jwks)) {
    report.error(`${at}.jwks`, rule.jwks, 'a JSON Web Key Set ({"keys": [...]}) or one key, as JSON text');
  }
  rule.outputClaimToHeaders?.forEach((output, index) => {
    if (output.header !== "") {
      checkStrictHeaderName(output.header, `${at}.outputClaimToHeaders[${index}].header`, report);
    }
  });
  checkDuration(rule.timeout, `${at}.timeout`, report);
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** One key or a set; each key has a type. */
function isKeySet(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) return false;
    const keys: unknown = "keys" in parsed ? parsed.keys : [parsed];
    return Array.isArray(keys) && keys.every((key) => typeof key === "object" && key !== null && "kty" in key);
  } catch {
    return false; // Not JSON; the caller reports it.
  }
}
