/**
 * Rules of ServiceEntry.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { hostProblem, isPartialWildcard, wildcardHostProblem } from "../../validation/names.ts";
import { checkPort, checkPortName, checkProtocol, protocolClass, subnetProblem } from "../../validation/network.ts";
import { checkExportTo, checkLabelsSelector } from "../../validation/shared.ts";
import type { Validate } from "../validate.ts";
import { checkWorkload } from "../workload_entry/validate.ts";
import { EXTERNAL_SUFFIX, POOL_SUFFIX } from "./internal.ts";
import type { ServiceEntrySpec } from "./schema.ts";

/** Checks a ServiceEntry. */
export const validateServiceEntry: Validate<ServiceEntrySpec> = (spec, meta, report) => {
  checkLabelsSelector(spec.workloadSelector, "spec.workloadSelector", report);
  if (spec.workloadSelector !== undefined && spec.endpoints !== undefined) {
    report.error("spec", "workloadSelector and endpoints", "only one of workloadSelector, endpoints");
  }
  checkHosts(spec, report);
  checkAddresses(spec, report);
  const portNames = checkPorts(spec, report);
  checkEndpoints(spec, portNames, report);
  checkHostCount(spec, report);
  checkExportTo(spec.exportTo, meta.namespace, report, { none: true });
};

function checkHosts(spec: ServiceEntrySpec, report: Findings): void {
  const mustResolve = isDns(spec) && spec.endpoints === undefined;
  spec.hosts.forEach((host, index) => {
    const at = `spec.hosts[${index}]`;
    const wrong = host === "*" ? "one host or domain, not all" : wildcardHostProblem(host);
    if (wrong !== undefined) report.error(at, host, wrong);
    else if (spec.internal === undefined && isDerivedHost(host)) {
      // The oldest ServiceEntry of a host wins: another namespace could take the requests of a pool or an XBackend.
      const kinds = `InferencePools (${POOL_SUFFIX}) and XBackends (${EXTERNAL_SUFFIX})`;
      report.error(at, host, `a host without the endings of ${kinds}`);
    } else if (mustResolve && hostProblem(host) !== undefined) {
      report.error(
        at,
        host,
        `a host name without wildcard (resolution ${spec.resolution} without endpoints resolves it)`,
      );
    } else if (isPartialWildcard(host)) report.warning(at, host, "* as a whole first label, such as *.example.com");
  });
}

/** Whether a host is the host of an InferencePool or XBackend, or a wildcard over such hosts. */
function isDerivedHost(host: string): boolean {
  return [POOL_SUFFIX, EXTERNAL_SUFFIX].some((suffix) => host.toLowerCase().endsWith(suffix));
}

function isDns(spec: ServiceEntrySpec): boolean {
  return spec.resolution === "DNS" || spec.resolution === "DNS_ROUND_ROBIN";
}

function checkAddresses(spec: ServiceEntrySpec, report: Findings): void {
  spec.addresses?.forEach((address, index) => {
    const at = `spec.addresses[${index}]`;
    const wrong = subnetProblem(address);
    if (wrong !== undefined) report.error(at, address, wrong);
    else if (isDns(spec) && address.includes("/")) {
      report.error(at, address, "an IP address (CIDRs only with resolution NONE or STATIC)");
    }
  });
}

function checkPorts(spec: ServiceEntrySpec, report: Findings): Set<string> {
  const names = new Set<string>();
  const numbers = new Set<number>();
  spec.ports?.forEach((port, index) => {
    const at = `spec.ports[${index}]`;
    if (names.has(port.name)) report.error(`${at}.name`, port.name, "a name that no other port has");
    if (numbers.has(port.number)) report.error(`${at}.number`, port.number, "a number that no other port has");
    names.add(port.name);
    numbers.add(port.number);
    checkPortName(port.name, `${at}.name`, report);
    checkPort(port.number, `${at}.number`, report);
    if (port.targetPort !== undefined) checkPort(port.targetPort, `${at}.targetPort`, report);
    checkProtocol(port.protocol, `${at}.protocol`, report);
  });
  return names;
}

function checkEndpoints(spec: ServiceEntrySpec, servicePorts: ReadonlySet<string>, report: Findings): void {
  const endpoints = spec.endpoints ?? [];
  if (spec.resolution === "NONE") {
    if (endpoints.length > 0) report.error("spec.endpoints", endpoints, "no endpoints with resolution NONE");
    if (spec.workloadSelector !== undefined) {
      report.warning("spec.workloadSelector", spec.workloadSelector, "a resolution other than NONE");
    }
    return;
  }
  if (spec.resolution === "DYNAMIC_DNS") {
    checkDynamic(spec, report);
    return;
  }
  if (spec.resolution === "DNS_ROUND_ROBIN" && endpoints.length > 1) {
    report.error("spec.endpoints", endpoints.length, "at most 1 endpoint with resolution DNS_ROUND_ROBIN");
  }
  const dns = isDns(spec);
  const rules = { hostNames: dns, unix: !dns, servicePorts };
  endpoints.forEach((endpoint, index) => checkWorkload(endpoint, `spec.endpoints[${index}]`, report, rules));
}

/**
 * The proxy resolves the host named by a request or a TLS client: there are no endpoints, and plain bytes do not name a
 * host.
 */
function checkDynamic(spec: ServiceEntrySpec, report: Findings): void {
  for (const field of ["endpoints", "workloadSelector"] as const) {
    if (spec[field] !== undefined) report.error(`spec.${field}`, spec[field], "nothing with resolution DYNAMIC_DNS");
  }
  spec.ports?.forEach(({ protocol, number }, index) => {
    const names = protocolClass(protocol ?? "");
    if (names === "http" || names === "tls") return;
    report.error(
      `spec.ports[${index}].protocol`,
      protocol,
      `an HTTP or TLS protocol with resolution DYNAMIC_DNS, since connections to port ${number} name no host`,
    );
  });
}

/** Plain TCP does not name its host, so several hosts need HTTP, TLS or no resolution. */
function checkHostCount(spec: ServiceEntrySpec, report: Findings): void {
  if (spec.hosts.length < 2 || spec.resolution === "NONE") return;
  const classes = (spec.ports ?? []).map((port) => protocolClass(port.protocol ?? ""));
  const plain = classes.findIndex((protocol) => protocol !== "http" && protocol !== "tls");
  if (plain >= 0) {
    report.error(
      "spec.hosts",
      spec.hosts,
      `one host, since port ${spec.ports?.[plain]?.number} is neither HTTP nor TLS`,
    );
  } else if (isDns(spec) && spec.addresses !== undefined && classes.includes("tls")) {
    report.warning("spec.hosts", spec.hosts, "one host when there are addresses and TLS ports");
  }
}
