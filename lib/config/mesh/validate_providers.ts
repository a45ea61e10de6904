/**
 * Rules of extension providers. A mistake in a provider is a warning: the mistake matters only to users of the
 * provider, and must not keep out the rest of the mesh configuration.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import { hostProblem, isDnsLabel, wildcardHostProblem } from "../validation/names.ts";
import { isIpAddress } from "../validation/network.ts";
import { PROVIDER_TYPES } from "./provider_schema.ts";
import { logFormatProblem } from "./log_format.ts";
import { exportHeaderProblem, isReportTime, SENDABLE, sentValue, writtenExports } from "./export_settings.ts";
import type { ExtAuthzHttpProvider } from "./provider_schema.ts";
import type { ExtensionProvider } from "./types.ts";

/** Checks all extension providers, after the merge by name. */
export function checkProviders(providers: readonly ExtensionProvider[], report: Findings): void {
  providers.forEach((provider, index) => {
    const at = `extensionProviders[${index}]`;
    const type = PROVIDER_TYPES.find((one) => provider[one] !== undefined);
    if (type === undefined) {
      report.warning(at, provider.name, `a provider of a known type (${PROVIDER_TYPES.join(", ")})`);
      return;
    }
    const settings = provider[type];
    if (settings !== undefined && "service" in settings) checkService(settings, `${at}.${type}`, report);
    const { proxyExtAuthzHttp, proxyExtAuthzGrpc, opentelemetry, proxyFileAccessLog, proxyOtelAls } = provider;
    const authorizer = proxyExtAuthzHttp ?? proxyExtAuthzGrpc;
    if (authorizer !== undefined) checkAuthorizer(authorizer, `${at}.${type}`, report);
    const format = (proxyFileAccessLog ?? proxyOtelAls)?.logFormat;
    const problem = format && logFormatProblem(format);
    if (problem !== undefined) {
      report.warning(`${at}.${type}.logFormat`, format, `a format that proxies can read (${problem})`);
    }
    checkExports(provider, at, report);
    if (opentelemetry?.http !== undefined && opentelemetry.grpc !== undefined) {
      report.warning(`${at}.${type}`, "http and grpc", "only one of http, grpc");
    }
  });
}

/** Warns about headers without a variable on the server, or with a value that cannot be sent: they are not sent. */
export function checkHeaderVariables(
  providers: readonly ExtensionProvider[],
  variable: (name: string) => string | undefined,
  report: Findings,
): void {
  providers.forEach((provider, index) => {
    for (const { protocol, headers } of writtenExports(provider)) {
      for (const { name = "", value: own, envName } of headers) {
        if (envName === undefined || own !== undefined) continue;
        const value = variable(envName);
        if (value && sentValue(value, "variable", protocol) !== undefined) continue;
        const wanted = value ? `a variable with ${SENDABLE[protocol]}` : "a variable of the server";
        report.warning(`extensionProviders[${index}]`, envName, `${wanted} (header ${name} is not sent)`);
      }
    }
  });
}

/** Warns about duplicate names: the later provider replaces the earlier one. */
export function checkProviderNames(written: readonly ExtensionProvider[], report: Findings): void {
  const names = new Set<string>();
  written.forEach(({ name }, index) => {
    if (names.has(name)) report.warning(`extensionProviders[${index}].name`, name, "a name that no other provider has");
    names.add(name);
  });
}

function checkService(
  settings: { readonly service: string; readonly port: number },
  at: string,
  report: Findings,
): void {
  const { service, port } = settings;
  if (port < 1 || port > 65535) report.warning(`${at}.port`, port, "a port number, 1..65535");
  const slash = service.indexOf("/");
  const namespace = service.slice(0, Math.max(slash, 0));
  const host = service.slice(slash + 1);
  const right = slash < 0
    ? isIpAddress(service) || hostProblem(service) === undefined
    : (namespace === "*" || namespace === "." || isDnsLabel(namespace)) && wildcardHostProblem(host) === undefined;
  if (!right) report.warning(`${at}.service`, service, "[namespace/]host");
}

function checkExports(provider: ExtensionProvider, at: string, report: Findings): void {
  for (const { at: field, protocol, timeout, list, headers } of writtenExports(provider)) {
    if (timeout !== undefined && !isReportTime(timeout)) {
      report.warning(`${at}.${field}.timeout`, `${timeout}ms`, "a duration above 0; the default holds");
    }
    headers.forEach((header, index) => {
      const problem = exportHeaderProblem(header, protocol);
      if (problem === undefined) return;
      const place = `${at}.${field}.${list}[${index}]`;
      report.warning(place, header.name, `${problem}; it is not sent`);
    });
  }
}

function checkAuthorizer(settings: Partial<ExtAuthzHttpProvider>, at: string, report: Findings): void {
  const { statusOnError, pathPrefix } = settings;
  if (statusOnError !== undefined && !/^[1-5]\d\d$/.test(statusOnError)) {
    report.warning(`${at}.statusOnError`, statusOnError, "an HTTP status in quotes");
  }
  if (pathPrefix !== undefined && !pathPrefix.startsWith("/")) {
    report.warning(`${at}.pathPrefix`, pathPrefix, "a path starting with /");
  }
}
