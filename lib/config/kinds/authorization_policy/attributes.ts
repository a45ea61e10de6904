/**
 * Syntax of the values in authorization rules.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { subnetProblem } from "../../validation/network.ts";
import type { AuthorizationCondition } from "./schema.ts";
import { withoutEdges } from "../../../kernel/text/edges.ts";

type Values = readonly string[] | undefined;

/** Checks IP addresses and CIDRs. */
export function checkIps(values: Values, at: string, report: Findings): void {
  values?.forEach((value, index) => {
    const wrong = subnetProblem(value);
    if (wrong !== undefined) report.error(`${at}[${index}]`, value, wrong);
  });
}

/** Checks ports written as text; 0 is allowed here. */
export function checkPorts(values: Values, at: string, report: Findings): void {
  values?.forEach((value, index) => {
    if (!/^\d{1,5}$/.test(value) || Number(value) > 65535) {
      report.error(`${at}[${index}]`, value, "a port number, 0..65535");
    }
  });
}

/** Checks service accounts: at most 16, `name` or `namespace/name`, no wildcards. */
export function checkServiceAccounts(values: Values, at: string, report: Findings): void {
  if ((values?.length ?? 0) > 16) report.error(at, values?.length, "at most 16 service accounts");
  values?.forEach((value, index) => {
    if (value.length > 320 || !/^[^*/]+(?:\/[^*/]+)?$/.test(value)) {
      report.error(
        `${at}[${index}]`,
        value,
        "serviceAccount or namespace/serviceAccount, without wildcards, at most 320 characters",
      );
    }
  });
}

// Characters of a path segment by RFC 3986 without "*", which templates lack.
const SEGMENT = /^[a-zA-Z0-9\-._~%!$&'()+,;:@=]+$/;

/** Checks path templates: `{*}` is one segment, `{**}` any rest and the last operator; no other braces. */
export function checkPathTemplates(values: Values, at: string, report: Findings): void {
  values?.forEach((path, index) => {
    if (!path.includes("{") && !path.includes("}")) return;
    const isTemplate = path.includes("{*}") || path.includes("{**}");
    let restTaken = false;
    for (const segment of withoutEdges(path, "/").split("/")) {
      const operator = segment === "{*}" || segment === "{**}";
      const right = operator ? !restTaken : !/[{}]/.test(segment) && (!isTemplate || SEGMENT.test(segment));
      if (!right) {
        report.error(`${at}[${index}]`, path, "{*} or {**} as whole segments, {**} the last of them, no other braces");
        return;
      }
      restTaken ||= segment === "{**}";
    }
  });
}

const IP_ATTRIBUTES = new Set(["source.ip", "remote.ip", "destination.ip"]);
const PLAIN_ATTRIBUTES = new Set([
  "source.namespace",
  "source.principal",
  "request.auth.principal",
  "request.auth.audiences",
  "request.auth.presenter",
  "connection.sni",
]);
const KEYED_ATTRIBUTE = /^(?:request\.headers|request\.auth\.claims|experimental\.envoy\.filters\.).*$/;
const KEYED = /^[^[]+\[.+\]$/;
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/^destination\.namespace$/, "the policy's own namespace instead"],
  [/^destination\.labels/, "the policy's selector instead"],
  [/^destination\.(?:name|user)$/, "the policy's selector instead"],
];

/** Checks a condition: a known attribute, and values of the attribute's type. */
export function checkAttribute(condition: AuthorizationCondition, at: string, report: Findings): void {
  const { key } = condition;
  for (const field of ["values", "notValues"] as const) {
    const where = `${at}.${field}`;
    const values = condition[field];
    if (IP_ATTRIBUTES.has(key)) checkIps(values, where, report);
    else if (key === "destination.port") checkPorts(values, where, report);
    else if (key === "source.serviceAccount") checkServiceAccounts(values, where, report);
    else {
      values?.forEach((value, index) => {
        if (value === "") report.error(`${where}[${index}]`, value, "a value that is not empty");
      });
    }
  }
  if (IP_ATTRIBUTES.has(key) || PLAIN_ATTRIBUTES.has(key)) return;
  if (key === "destination.port" || key === "source.serviceAccount") return;
  const replaced = REPLACED.find(([pattern]) => pattern.test(key));
  if (replaced !== undefined) report.error(`${at}.key`, key, replaced[1]);
  else if (!KEYED_ATTRIBUTE.test(key)) {
    report.error(`${at}.key`, key, "a known attribute such as source.ip or request.headers[name]");
  } else if (!KEYED.test(key)) report.error(`${at}.key`, key, "an attribute with a name in brackets: attribute[name]");
}
