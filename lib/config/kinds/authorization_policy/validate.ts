/**
 * Rules of AuthorizationPolicy.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { checkAttachment } from "../../validation/shared.ts";
import type { Validate } from "../validate.ts";
import { checkAttribute, checkIps, checkPathTemplates, checkPorts, checkServiceAccounts } from "./attributes.ts";
import type {
  AuthorizationOperation,
  AuthorizationPolicySpec,
  AuthorizationRule,
  AuthorizationSource,
} from "./schema.ts";

/** Checks an AuthorizationPolicy. */
export const validateAuthorizationPolicy: Validate<AuthorizationPolicySpec> = (spec, meta, report) => {
  checkAttachment(spec, report);
  checkAction(spec, report);
  checkDryRun(spec, meta.annotations["mesh.io/dry-run"], report);
  spec.rules?.forEach((rule, index) => {
    const at = `spec.rules[${index}]`;
    checkRule(rule, at, report);
    if (spec.action === "CUSTOM") refuseIdentities(rule, at, report);
    if (spec.action === "DENY" && readsOnlyHttp(rule)) {
      report.warning(
        at,
        rule,
        "ports in the rule: the rule reads only HTTP, and denies all traffic of TCP ports if it names no ports",
      );
    }
  });
};

function checkAction(spec: AuthorizationPolicySpec, report: Findings): void {
  const { action, rules, provider } = spec;
  if (rules === undefined && (action === "CUSTOM" || action === "DENY")) {
    report.error(
      "spec.rules",
      undefined,
      `rules: ${action} without any never acts (an empty rule {} matches every request)`,
    );
  }
  if (action === "CUSTOM") {
    if (rules !== undefined && provider?.name === undefined) {
      report.error("spec.provider.name", undefined, "the name of an extension provider (action CUSTOM)");
    }
  } else if (provider !== undefined) {
    report.error("spec.provider", provider, `nothing: only action CUSTOM has a provider (this is ${action})`);
  }
}

function checkDryRun(spec: AuthorizationPolicySpec, value: string | undefined, report: Findings): void {
  if (value === undefined) return;
  const at = 'metadata.annotations["mesh.io/dry-run"]';
  if (spec.action !== "ALLOW" && spec.action !== "DENY") {
    report.error(at, value, `action ALLOW or DENY (this is ${spec.action})`);
  } else if (!/^(?:1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/.test(value)) {
    report.error(at, value, "true or false");
  }
}

function checkRule(rule: AuthorizationRule, at: string, report: Findings): void {
  if (rule.from?.length === 0) report.error(`${at}.from`, [], "at least one source");
  if (rule.to?.length === 0) report.error(`${at}.to`, [], "at least one operation");
  rule.from?.forEach(({ source }, index) => {
    const where = `${at}.from[${index}].source`;
    if (source === undefined) report.error(where, undefined, "a source");
    else checkSource(source, where, report);
  });
  rule.to?.forEach(({ operation }, index) => {
    const where = `${at}.to[${index}].operation`;
    if (operation === undefined) report.error(where, undefined, "an operation");
    else checkOperation(operation, where, report);
  });
  rule.when?.forEach((condition, index) => {
    const where = `${at}.when[${index}]`;
    if (condition.key === "") return; // Reported as missing already.
    if (condition.values === undefined && condition.notValues === undefined) {
      report.error(where, condition.key, "values or notValues beside the key");
    }
    checkAttribute(condition, where, report);
  });
}

const IDENTITIES = ["principals", "notPrincipals", "namespaces", "notNamespaces"] as const;
const ACCOUNTS = ["serviceAccounts", "notServiceAccounts"] as const;
const IP_BLOCKS = ["ipBlocks", "notIpBlocks", "remoteIpBlocks", "notRemoteIpBlocks"] as const;
const REQUEST_IDENTITIES = ["requestPrincipals", "notRequestPrincipals"] as const;

function checkSource(source: AuthorizationSource, at: string, report: Findings): void {
  if (Object.keys(source).length === 0) report.error(at, {}, "at least one property of the caller");
  const identities = IDENTITIES.filter((field) => source[field] !== undefined);
  const accounts = ACCOUNTS.filter((field) => source[field] !== undefined);
  if (identities.length > 0 && accounts.length > 0) {
    report.error(at, [...accounts, ...identities].join(" and "), "serviceAccounts without namespaces and principals");
  }
  for (const field of ACCOUNTS) checkServiceAccounts(source[field], `${at}.${field}`, report);
  for (const field of [...IDENTITIES, ...REQUEST_IDENTITIES]) refuseEmpty(source[field], `${at}.${field}`, report);
  for (const field of IP_BLOCKS) checkIps(source[field], `${at}.${field}`, report);
}

const PORTS = ["ports", "notPorts"] as const;
const PATHS = ["paths", "notPaths"] as const;
const OTHER_OPERATIONS = ["hosts", "notHosts", "methods", "notMethods"] as const;

function checkOperation(operation: AuthorizationOperation, at: string, report: Findings): void {
  if (Object.keys(operation).length === 0) report.error(at, {}, "at least one property of the request");
  for (const field of PORTS) checkPorts(operation[field], `${at}.${field}`, report);
  for (const field of [...PATHS, ...OTHER_OPERATIONS]) refuseEmpty(operation[field], `${at}.${field}`, report);
  for (const field of PATHS) checkPathTemplates(operation[field], `${at}.${field}`, report);
}

function refuseEmpty(values: readonly string[] | undefined, at: string, report: Findings): void {
  values?.forEach((value, index) => {
    if (value === "") report.error(`${at}[${index}]`, value, "a value that is not empty");
  });
}

/** External authorizers run before the identity of the caller is known. */
function refuseIdentities(rule: AuthorizationRule, at: string, report: Findings): void {
  rule.from?.forEach(({ source }, index) => {
    for (const field of [...IDENTITIES, ...ACCOUNTS, ...REQUEST_IDENTITIES]) {
      if (source?.[field] !== undefined) {
        report.error(
          `${at}.from[${index}].source.${field}`,
          source[field],
          "ipBlocks or remoteIpBlocks (action CUSTOM)",
        );
      }
    }
  });
  rule.when?.forEach((condition, index) => {
    if (/^source\.(?:namespace|serviceAccount|principal)$|^request\.auth\./.test(condition.key)) {
      report.error(`${at}.when[${index}].key`, condition.key, "an attribute other than an identity (action CUSTOM)");
    }
  });
}

/** Whether a rule uses only properties that TCP connections lack. */
function readsOnlyHttp(rule: AuthorizationRule): boolean {
  const sources = (rule.from ?? []).flatMap(({ source }) => source ?? []);
  const operations = (rule.to ?? []).flatMap(({ operation }) => operation ?? []);
  const tcpSource = sources.some((source) =>
    [...IDENTITIES, ...ACCOUNTS, ...IP_BLOCKS].some((field) => source[field] !== undefined)
  );
  const tcpOperation = operations.some((operation) => PORTS.some((field) => operation[field] !== undefined));
  return operations.length > 0 ? !tcpOperation : sources.length > 0 && !tcpSource;
}
