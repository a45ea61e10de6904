/**
 * The rules of an Ingress as routes of a host, in written order.
 *
 * @module
 */
import type { Fact, IngressBackendData } from "../config/facts/types.ts";
import type { HttpRoute } from "../config/kinds/kinds.ts";
import { isDnsLabel, wildcardHostProblem } from "../config/validation/names.ts";
import { isIpAddress } from "../config/validation/network.ts";
import { type PathMatch, pathMatch } from "./path.ts";
import type { IngressReader, ReportIngressMistake } from "./reader.ts";

/** A route with the match for its order. */
export interface IngressRoute {
  readonly match: PathMatch;
  readonly route: HttpRoute;
}

/** How rules are read. */
export interface RuleOptions {
  readonly read: IngressReader;
  /** DNS suffix of services. */
  readonly domain: string;
  readonly report: ReportIngressMistake;
}

/** The host of a rule or a certificate, `*` if none is written; undefined: not a host. */
export function hostOf(written: string): string | undefined {
  const host = written === "" ? "*" : written.toLowerCase();
  return wildcardHostProblem(host) === undefined && !isIpAddress(host) ? host : undefined;
}

/** The routes of an Ingress for a host. Routes of other hosts are not looked at. */
export function routesOf(ingress: Fact<"Ingress">, host: string, options: RuleOptions): IngressRoute[] {
  return ingress.spec.rules.flatMap((rule, index) =>
    hostOf(rule.host) === host ? routesOfRule(ingress, index, options) : []
  );
}

/** The default backend of an Ingress as a route; undefined: none. */
export function defaultRouteOf(ingress: Fact<"Ingress">, options: RuleOptions): HttpRoute | undefined {
  const { defaultBackend } = ingress.spec;
  return defaultBackend && backendAction(defaultBackend, ingress, "spec.defaultBackend", options);
}

/** Reports all parts of an Ingress that cannot be served as written. */
export function ingressMistakes(ingress: Fact<"Ingress">, options: RuleOptions): void {
  const { spec: { rules, tls } } = ingress;
  for (const [index, { host }] of rules.entries()) {
    if (hostOf(host) === undefined) leaveOut(options, `spec.rules[${index}].host`, host, HOST);
    routesOfRule(ingress, index, options);
  }
  defaultRouteOf(ingress, options);
  for (const [index, { hosts, secretName }] of tls.entries()) {
    if (secretName === "") leaveOut(options, `spec.tls[${index}].secretName`, undefined, "the name of a Secret");
    for (const [at, host] of hosts.entries()) {
      if (hostOf(host) === undefined) leaveOut(options, `spec.tls[${index}].hosts[${at}]`, host, HOST);
    }
  }
}

const HOST = "a host name, optionally starting with *.";

function leaveOut({ report }: RuleOptions, field: string, value: unknown, expected: string): void {
  report({ field, ...(value === undefined ? {} : { value }), expected, becomes: "left out" });
}

function routesOfRule(ingress: Fact<"Ingress">, index: number, options: RuleOptions): IngressRoute[] {
  const { paths } = ingress.spec.rules[index] ?? {};
  const at = `spec.rules[${index}].http`;
  if (paths === undefined) leaveOut(options, at, undefined, "paths of the host");
  return (paths ?? []).flatMap((path, position): IngressRoute[] => {
    const field = `${at}.paths[${position}]`;
    const match = pathMatch(path);
    if (typeof match === "string") {
      leaveOut(options, `${field}.path`, path.path, match);
      return [];
    }
    const { uri } = match;
    const action = backendAction(path.backend, ingress, `${field}.backend`, options);
    return [{ match, route: uri === undefined ? action : { match: [{ uri }], ...action } }];
  });
}

/**
 * The action on requests for a backend. A missing backend keeps its path: requests get 503, and never reach the backend
 * of a shorter path.
 */
function backendAction(
  backend: IngressBackendData,
  ingress: Fact<"Ingress">,
  field: string,
  { read, domain, report }: {
    readonly read: IngressReader;
    readonly domain: string;
    readonly report: ReportIngressMistake;
  },
): Pick<HttpRoute, "route" | "directResponse"> {
  const { namespace } = ingress.meta;
  const refuse = (at: string, value: unknown, expected: string) => {
    report({ field: `${field}${at}`, ...(value === undefined ? {} : { value }), expected, becomes: "unavailable" });
    return { directResponse: { status: 503 } };
  };
  const { service } = backend;
  if (service === undefined) return refuse(".service", undefined, "a service: other resources cannot be backends here");
  if (!isDnsLabel(service.name)) return refuse(".service.name", service.name, "the name of a service");
  const { port } = service;
  if (port === undefined) return refuse(".service.port", undefined, "number or name of a port");
  const number = typeof port === "number" ? port : namedPort(service.name, port, namespace, read);
  if (number === undefined) {
    return refuse(".service.port.name", port, `the name of a port of service ${namespace}/${service.name}`);
  }
  if (number < 1 || number > 65535) return refuse(".service.port.number", number, "a port between 1 and 65535");
  const host = `${service.name}.${namespace}.svc.${domain}`;
  return { route: [{ destination: { host, port: { number } }, weight: 100 }] };
}

function namedPort(service: string, name: string, namespace: string, read: IngressReader): number | undefined {
  return read.fact("Service", namespace, service)?.spec.ports.find((port) => port.name === name)?.port;
}
