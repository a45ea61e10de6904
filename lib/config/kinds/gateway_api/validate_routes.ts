/**
 * Rules of routes beyond their schemas: rules that the definitions of the Gateway API v1.6.1 express in CEL, and regular
 * expressions, which a proxy reads as RE2.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { isIpAddress } from "../../validation/network.ts";
import { checkRegex } from "../../validation/regex.ts";
import type { Validate } from "../validate.ts";
import type { TCPRouteSpec, TLSRouteSpec, UDPRouteSpec } from "./bytes_routes.ts";
import type { GRPCRouteMatch, GRPCRouteRule, GRPCRouteSpec } from "./grpc_route.ts";
import type { HTTPRouteMatch, HTTPRouteRule, HTTPRouteSpec } from "./http_route.ts";
import { checkFilters, checkHeaderText, checkPrefixes } from "./validate_filters.ts";
import {
  checkBackend,
  checkDistinctTexts,
  checkNamedMatches,
  checkNumberOfMatches,
  checkParents,
  checkRuleNames,
  checkSession,
} from "./validate_parts.ts";

/** Checks an HTTPRoute. */
export const validateHttpRoute: Validate<HTTPRouteSpec> = ({ parentRefs, rules }, _meta, report) => {
  checkParents(parentRefs, report);
  checkRuleNames(rules, report);
  checkNumberOfMatches(rules, 1, report);
  rules?.forEach((rule, index) => checkHttpRule(rule, `spec.rules[${index}]`, report));
};

function checkHttpRule(rule: HTTPRouteRule, at: string, report: Findings): void {
  const { matches, filters, backendRefs = [], sessionPersistence } = rule;
  matches?.forEach((match, index) => checkHttpMatch(match, `${at}.matches[${index}]`, report));
  checkFilters(filters, `${at}.filters`, report);
  checkPrefixes(filters, matches, `${at}.filters`, report);
  backendRefs.forEach((backend, index) => {
    const place = `${at}.backendRefs[${index}]`;
    checkBackend(backend, place, report);
    checkFilters(backend.filters, `${place}.filters`, report);
    checkPrefixes(backend.filters, matches, `${place}.filters`, report);
  });
  if (backendRefs.length > 0 && filters?.some(({ requestRedirect }) => requestRedirect !== undefined)) {
    const expected = "no backends beside a RequestRedirect: the request goes to no backend";
    report.error(`${at}.backendRefs`, backendRefs, expected, "exclusive-fields");
  }
  checkTimes(rule, at, report);
  checkSession(sessionPersistence, `${at}.sessionPersistence`, report);
}

function checkTimes({ timeouts = {}, retry }: HTTPRouteRule, at: string, report: Findings): void {
  const { request, backendRequest } = timeouts;
  // A request without a limit takes 0.
  if (request !== undefined && request > 0 && backendRequest !== undefined && backendRequest > request) {
    const expected = `at most the time of the whole request, ${request} ms`;
    report.error(`${at}.timeouts.backendRequest`, `${backendRequest} ms`, expected);
  }
  checkDistinctTexts(retry?.codes, `${at}.retry.codes`, report);
  if (retry?.attempts === 0) {
    const expected = "1 or more, as definitions since v1.4 require (0 switches retries off here)";
    report.warning(`${at}.retry.attempts`, retry.attempts, expected);
  }
}

function checkHttpMatch({ path, headers, queryParams }: HTTPRouteMatch, at: string, report: Findings): void {
  if (path !== undefined) checkPath(path, `${at}.path.value`, report);
  checkNamedMatches(headers, `${at}.headers`, report);
  headers?.forEach(({ value }, index) => checkHeaderText(value, `${at}.headers[${index}].value`, report));
  checkNamedMatches(queryParams, `${at}.queryParams`, report);
}

/** Texts that a path never contains: the proxy removes or decodes them before the path is compared. */
const NEVER_INSIDE = ["//", "/./", "/../", "%2f", "%2F", "#"];

const PATH = /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})+$/;

function checkPath({ type, value }: NonNullable<HTTPRouteMatch["path"]>, at: string, report: Findings): void {
  if (type === "RegularExpression") return checkRegex(value, at, report);
  const inside = NEVER_INSIDE.find((text) => value.includes(text));
  const end = ["/..", "/."].find((text) => value.endsWith(text));
  if (!value.startsWith("/")) report.error(at, value, "a path that begins with /");
  else if (inside !== undefined) report.error(at, value, `a path without ${inside}`);
  else if (end !== undefined) report.error(at, value, `a path that does not end with ${end}`);
  else if (!PATH.test(value)) report.error(at, value, "a path of characters that need no encoding, or %XX");
}

/** Checks a GRPCRoute. */
export const validateGrpcRoute: Validate<GRPCRouteSpec> = ({ parentRefs, rules }, _meta, report) => {
  checkParents(parentRefs, report);
  checkRuleNames(rules, report);
  checkNumberOfMatches(rules, 0, report);
  rules?.forEach((rule, index) => checkGrpcRule(rule, `spec.rules[${index}]`, report));
};

function checkGrpcRule(rule: GRPCRouteRule, at: string, report: Findings): void {
  const { matches, filters, backendRefs, sessionPersistence } = rule;
  matches?.forEach((match, index) => checkGrpcMatch(match, `${at}.matches[${index}]`, report));
  checkFilters(filters, `${at}.filters`, report);
  backendRefs?.forEach((backend, index) => {
    checkBackend(backend, `${at}.backendRefs[${index}]`, report);
    checkFilters(backend.filters, `${at}.backendRefs[${index}].filters`, report);
  });
  checkSession(sessionPersistence, `${at}.sessionPersistence`, report);
}

const SERVICE = /^\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$/i;
const METHOD = /^[A-Za-z_][A-Za-z_0-9]*$/;

function checkGrpcMatch({ method: called, headers }: GRPCRouteMatch, at: string, report: Findings): void {
  checkNamedMatches(headers, `${at}.headers`, report);
  if (called === undefined) return;
  const { type, service, method } = called;
  if (service === undefined && method === undefined) {
    report.error(`${at}.method`, undefined, "a service, a method, or both");
  }
  if (type === "RegularExpression") {
    if (service !== undefined) checkRegex(service, `${at}.method.service`, report);
    if (method !== undefined) checkRegex(method, `${at}.method.method`, report);
    return;
  }
  if (service !== undefined && !SERVICE.test(service)) {
    report.error(`${at}.method.service`, service, "the name of a service such as shop.v1.Carts");
  }
  if (method !== undefined && !METHOD.test(method)) {
    report.error(`${at}.method.method`, method, "the name of a method: letters, digits and _");
  }
}

/** Checks a TCPRoute or UDPRoute. */
export const validateBytesRoute: Validate<TCPRouteSpec | UDPRouteSpec> = ({ parentRefs, rules }, _meta, report) => {
  checkParents(parentRefs, report);
  checkRuleNames(rules, report);
  if (rules.length > 1) report.error("spec.rules", `${rules.length} rules`, "one rule, as definitions of v1 require");
  rules.forEach(({ backendRefs }, index) =>
    backendRefs.forEach((one, at) => checkBackend(one, `spec.rules[${index}].backendRefs[${at}]`, report))
  );
};

/** Checks a TLSRoute. */
export const validateTlsRoute: Validate<TLSRouteSpec> = (spec, meta, report) => {
  validateBytesRoute(spec, meta, report);
  if (spec.hostnames === undefined) {
    report.error("spec.hostnames", undefined, "host names, as definitions of v1 require");
  }
  spec.hostnames?.forEach((host, index) => {
    if (isIpAddress(host)) report.error(`spec.hostnames[${index}]`, host, "a host name, not an address");
  });
};
