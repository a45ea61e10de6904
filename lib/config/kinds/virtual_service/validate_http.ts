/**
 * Rules of an HTTP rule of a VirtualService.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { joinPath } from "../../schema/field.ts";
import { checkLabels, isDnsLabel, wildcardHostProblem } from "../../validation/names.ts";
import { checkPort } from "../../validation/network.ts";
import { checkRegex } from "../../validation/regex.ts";
import {
  checkChangedHeaderName,
  checkDuration,
  checkHeaderValue,
  checkHeadText,
  checkMatchHeaderName,
  isAuthorityHeader,
} from "../../validation/values.ts";
import type { StringMatch } from "../common/schema.ts";
import type {
  Destination,
  Headers,
  HttpMatchRequest,
  HttpMirrorPolicy,
  HttpRewrite,
  HttpRoute,
  HttpRouteDestination,
} from "./schema.ts";
import { checkGatewayNames } from "./gateway_names.ts";
import { checkCors, checkDirectResponse, checkFault, checkRedirect, checkRetry } from "./validate_actions.ts";

/** Checks an HTTP rule; `inDelegate`: a rule of a delegate. */
export function checkHttpRoute(route: HttpRoute, inDelegate: boolean, at: string, report: Findings): void {
  checkActions(route, inDelegate, at, report);
  route.match?.forEach((match, index) => checkMatch(match, `${at}.match[${index}]`, report));
  checkHeaders(route.headers, `${at}.headers`, report);
  checkAuthorityOnce(route, at, report);
  checkCors(route.corsPolicy, `${at}.corsPolicy`, report);
  checkFault(route.fault, `${at}.fault`, report);
  checkMirrors(route, at, report);
  checkRedirect(route.redirect, `${at}.redirect`, report);
  checkDirectResponse(route.directResponse, `${at}.directResponse`, report);
  checkRetry(route.retries, `${at}.retries`, report);
  checkRewrite(route.rewrite, `${at}.rewrite`, report);
  checkDestinations(route.route, at, report);
  if (route.timeout !== 0) checkDuration(route.timeout, `${at}.timeout`, report);
}

/** Checks a destination: host, subset, port. */
export function checkDestination(destination: Destination, at: string, report: Findings): void {
  const wrong = destination.host === "*" ? "one host, not all" : wildcardHostProblem(destination.host);
  if (wrong !== undefined) report.error(`${at}.host`, destination.host, wrong);
  if (destination.subset !== undefined && !isDnsLabel(destination.subset)) {
    report.error(`${at}.subset`, destination.subset, "the name of a subset (letters, digits and inner -, at most 63)");
  }
  if (destination.port !== undefined) checkPort(destination.port.number, `${at}.port.number`, report);
}

const ACTIONS = ["route", "redirect", "directResponse"] as const;

/** Exactly one action, without fields that have no effect beside the action. */
function checkActions(route: HttpRoute, inDelegate: boolean, at: string, report: Findings): void {
  if (route.delegate !== undefined) {
    if (inDelegate) report.error(`${at}.delegate`, route.delegate, "nothing: a delegate cannot delegate again");
    for (const action of ["route", "redirect"] as const) {
      if (route[action] !== undefined) {
        report.error(`${at}.${action}`, route[action], "nothing: the rule has a delegate");
      }
    }
    if (!inDelegate) return;
  }
  const actions = ACTIONS.filter((action) => route[action] !== undefined);
  if (actions.length === 0) report.error(at, {}, "one of route, redirect, directResponse");
  if (actions.length > 1) report.error(at, actions.join(" and "), "only one of route, redirect, directResponse");
  const answer = route.redirect !== undefined
    ? "redirect"
    : route.directResponse !== undefined
    ? "directResponse"
    : undefined;
  if (answer !== undefined) {
    for (const field of ["fault", "rewrite"] as const) {
      if (route[field] !== undefined) report.error(`${at}.${field}`, route[field], `nothing: the rule has ${answer}`);
    }
  }
  if (route.mirror !== undefined && route.mirrors !== undefined) {
    report.error(at, "mirror and mirrors", "only one of mirror, mirrors");
  }
}

function checkMatch(match: HttpMatchRequest, at: string, report: Findings): void {
  for (const [name, value] of Object.entries(match.headers ?? {})) {
    const where = joinPath(`${at}.headers`, name);
    checkMatchHeaderName(name, where, report);
    checkStringMatch(value, where, report);
  }
  for (const [name, value] of Object.entries(match.withoutHeaders ?? {})) {
    const where = joinPath(`${at}.withoutHeaders`, name);
    checkMatchHeaderName(name, where, report);
    // "*" is not an RE2 expression; here "*" means "present".
    if (value.regex !== "*") checkStringMatch(value, where, report);
  }
  for (const [name, value] of Object.entries(match.queryParams ?? {})) {
    const where = joinPath(`${at}.queryParams`, name);
    if (name === "") report.error(`${at}.queryParams`, name, "the name of a query parameter");
    checkStringMatch(value, where, report);
  }
  // An empty uri prefix is right (the prefix matches every path), so only the regular expression is checked.
  if (match.uri?.regex !== undefined) checkStringMatch(match.uri, `${at}.uri`, report);
  for (const field of ["scheme", "method", "authority"] as const) {
    const value = match[field];
    if (value !== undefined) checkStringMatch(value, `${at}.${field}`, report);
  }
  if (match.port !== undefined) checkPort(match.port, `${at}.port`, report);
  checkLabels(match.sourceLabels, `${at}.sourceLabels`, report);
  checkGatewayNames(match.gateways, `${at}.gateways`, report);
  if (match.sourceNamespace !== undefined && !isDnsLabel(match.sourceNamespace)) {
    report.error(`${at}.sourceNamespace`, match.sourceNamespace, "the name of a namespace");
  }
}

function checkStringMatch(match: StringMatch, at: string, report: Findings): void {
  if (match.prefix === "") report.error(`${at}.prefix`, "", "a prefix that is not empty");
  if (match.regex === "") report.error(`${at}.regex`, "", "a regular expression that is not empty");
  else if (match.regex !== undefined) checkRegex(match.regex, `${at}.regex`, report);
}

/** Most header operations of one kind on one route: the proxy's limit (`max_items` of its API). */
const MAX_HEADERS = 1000;

function checkHeaders(headers: Headers | undefined, at: string, report: Findings): void {
  for (const side of ["request", "response"] as const) {
    const operations = headers?.[side];
    if (operations === undefined) continue;
    const { set = {}, add = {}, remove = [] } = operations;
    const count = Math.max(Object.keys(set).length + Object.keys(add).length, remove.length);
    if (count > MAX_HEADERS) report.error(`${at}.${side}`, count, `at most ${MAX_HEADERS} headers to change`);
    for (const operation of ["set", "add"] as const) {
      for (const [name, value] of Object.entries(operations[operation] ?? {})) {
        const where = joinPath(`${at}.${side}.${operation}`, name);
        checkChangedHeaderName(name, side === "request", where, report);
        checkHeaderValue(value, where, report);
      }
    }
    operations.remove?.forEach((name, index) =>
      checkChangedHeaderName(name, false, `${at}.${side}.remove[${index}]`, report)
    );
  }
}

/** The authority may be changed in one place only: rewrite.authority, or one header operation. */
function checkAuthorityOnce(route: HttpRoute, at: string, report: Findings): void {
  const { set = {}, add = {} } = route.headers?.request ?? {};
  const places = [
    ...(route.rewrite?.authority === undefined ? [] : ["rewrite.authority"]),
    ...Object.keys(set).filter(isAuthorityHeader).map((name) => `headers.request.set.${name}`),
    ...Object.keys(add).filter(isAuthorityHeader).map((name) => `headers.request.add.${name}`),
  ];
  if (places.length > 1) report.error(at, places.join(" and "), "the authority to be changed in one place only");
}

function checkMirrors(route: HttpRoute, at: string, report: Findings): void {
  if (route.mirror !== undefined) checkDestination(route.mirror, `${at}.mirror`, report);
  if (route.mirrorPercent !== undefined) {
    report.warning(
      `${at}.mirrorPercent`,
      route.mirrorPercent,
      "mirrorPercentage, which replaces it",
      "deprecated-field",
    );
    if (route.mirrorPercent > 100) report.error(`${at}.mirrorPercent`, route.mirrorPercent, "a percentage, 0..100");
  }
  checkShare(route.mirrorPercentage?.value, `${at}.mirrorPercentage.value`, report);
  route.mirrors?.forEach((mirror: HttpMirrorPolicy, index) => {
    checkDestination(mirror.destination, `${at}.mirrors[${index}].destination`, report);
    checkShare(mirror.percentage?.value, `${at}.mirrors[${index}].percentage.value`, report);
  });
}

function checkShare(value: number | undefined, at: string, report: Findings): void {
  if (value !== undefined && !(value >= 0 && value <= 100)) report.error(at, value, "a percentage, 0..100");
}

function checkRewrite(rewrite: HttpRewrite | undefined, at: string, report: Findings): void {
  if (rewrite === undefined) return;
  const { uri, authority, uriRegexRewrite } = rewrite;
  if (uri !== undefined && uriRegexRewrite !== undefined) {
    report.error(at, "uri and uriRegexRewrite", "only one of the two");
  }
  if (uri === undefined && uriRegexRewrite === undefined && authority === undefined) {
    report.error(at, {}, "uri, uriRegexRewrite or authority");
  }
  checkHeadText(uri, `${at}.uri`, report);
  checkHeadText(authority, `${at}.authority`, report);
  if (uriRegexRewrite !== undefined) {
    if (uriRegexRewrite.rewrite === undefined) {
      report.error(`${at}.uriRegexRewrite.rewrite`, undefined, "what replaces the match");
    }
    checkHeadText(uriRegexRewrite.rewrite, `${at}.uriRegexRewrite.rewrite`, report);
    checkRegex(uriRegexRewrite.match, `${at}.uriRegexRewrite.match`, report);
  }
}

/** The proxy sums weights in 32 bits. */
const MAX_WEIGHT = 2 ** 32 - 1;

function checkDestinations(routes: readonly HttpRouteDestination[] | undefined, at: string, report: Findings): void {
  if (routes === undefined) return;
  routes.forEach((route, index) => {
    const where = `${at}.route[${index}]`;
    checkHeaders(route.headers, `${where}.headers`, report);
    checkDestination(route.destination, `${where}.destination`, report);
    if ((route.weight ?? 0) < 0) report.error(`${where}.weight`, route.weight, "0 or more");
  });
  const sum = routes.reduce((total, { weight = 0 }) => total + weight, 0);
  if (sum > MAX_WEIGHT) report.error(`${at}.route`, sum, `weights whose sum is at most ${MAX_WEIGHT}`);
  if (
    routes.length > 1 && routes.every(({ weight }, index) => isUnset(weight, `${at}.route[${index}].weight`, report))
  ) {
    report.error(`${at}.route`, 0, "weights whose sum is not 0");
  }
}

/** Whether a weight counts as 0 because nobody wrote it. The error of an unreadable weight needs no second error. */
export function isUnset(weight: number | undefined, at: string, report: Findings): boolean {
  return weight === undefined && !report.isUnreadable(at);
}
