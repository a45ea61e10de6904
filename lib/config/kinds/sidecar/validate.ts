/**
 * Rules of Sidecar.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { isDnsLabel, isPartialWildcard, wildcardHostProblem } from "../../validation/names.ts";
import {
  checkPort,
  checkPortName,
  checkProtocol,
  checkUnixPath,
  isIpAddress,
  protocolClass,
  UNIX_PREFIX,
} from "../../validation/network.ts";
import { checkConnectionPool, checkLabelsSelector } from "../../validation/shared.ts";
import { checkServerTls } from "../../validation/tls.ts";
import type { Validate } from "../validate.ts";
import { checkDestination } from "../virtual_service/validate_http.ts";
import type { OutboundTrafficPolicy, SidecarEgress, SidecarIngress, SidecarPort, SidecarSpec } from "./schema.ts";

/** Checks a Sidecar. */
export const validateSidecar: Validate<SidecarSpec> = (spec, _meta, report) => {
  checkLabelsSelector(spec.workloadSelector, "spec.workloadSelector", report);
  const { ingress, egress, inboundConnectionPool, outboundTrafficPolicy } = spec;
  if ([ingress, egress, inboundConnectionPool, outboundTrafficPolicy].every((part) => part === undefined)) {
    report.error("spec", {}, "at least one of ingress, egress, inboundConnectionPool, outboundTrafficPolicy");
  }
  const inboundPorts = new Set<number>();
  ingress?.forEach((listener, index) => {
    const at = `spec.ingress[${index}]`;
    checkIngress(listener, at, report);
    const { number = 0 } = listener.port;
    if (inboundPorts.has(number)) {
      report.error(`${at}.port.number`, number, "a port that no other ingress listener has");
    }
    inboundPorts.add(number);
  });
  checkConnectionPool(inboundConnectionPool, "spec.inboundConnectionPool", report);
  checkEgressList(egress ?? [], report);
  checkOutboundPolicy(outboundTrafficPolicy, "spec.outboundTrafficPolicy", report);
};

function checkPortBasics(port: SidecarPort, at: string, report: Findings): void {
  if (port.name !== undefined) checkPortName(port.name, `${at}.name`, report);
  checkProtocol(port.protocol, `${at}.protocol`, report);
  if (port.targetPort !== undefined) report.error(`${at}.targetPort`, port.targetPort, "nothing: it has no effect");
}

function checkIngress(listener: SidecarIngress, at: string, report: Findings): void {
  const { port, bind, tls, defaultEndpoint, connectionPool } = listener;
  checkPortBasics(port, `${at}.port`, report);
  checkPort(port.number ?? 0, `${at}.port.number`, report);
  if (bind !== undefined && !isIpAddress(bind)) report.error(`${at}.bind`, bind, "an IP address");
  if (defaultEndpoint !== undefined) checkDefaultEndpoint(defaultEndpoint, `${at}.defaultEndpoint`, report);
  const protocol = protocolClass(port.protocol ?? "");
  if (tls !== undefined) {
    for (
      const field of [
        "subjectAltNames",
        "httpsRedirect",
        "credentialName",
        "credentialNames",
        "tlsCertificates",
      ] as const
    ) {
      if (tls[field] !== undefined) {
        report.error(`${at}.tls.${field}`, tls[field], "nothing: a sidecar does not support it");
      }
    }
    if (tls.mode === "MESH_MUTUAL" || tls.mode === "AUTO_PASSTHROUGH") {
      report.error(`${at}.tls.mode`, tls.mode, "SIMPLE, MUTUAL, OPTIONAL_MUTUAL or PASSTHROUGH");
    }
    if (protocol !== "tls") {
      report.error(`${at}.tls`, tls, `protocol HTTPS or TLS instead of ${port.protocol ?? "none"}`);
    }
    checkServerTls(tls, `${at}.tls`, report);
  }
  checkConnectionPool(connectionPool, `${at}.connectionPool`, report);
  if (connectionPool?.http !== undefined && protocol !== "http") {
    report.warning(
      `${at}.connectionPool.http`,
      connectionPool.http,
      `an HTTP port (this one is ${port.protocol ?? "sniffed"})`,
    );
  }
}

const LOCAL = new Set(["", "127.0.0.1", "0.0.0.0", "::1", "::"]);

function checkDefaultEndpoint(endpoint: string, at: string, report: Findings): void {
  if (endpoint.startsWith(UNIX_PREFIX)) {
    checkUnixPath(endpoint, at, report);
    return;
  }
  const match = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(endpoint);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3] ?? "0");
  if (host === undefined || !LOCAL.has(host) || port < 1 || port > 65535) {
    report.error(at, endpoint, "127.0.0.1:PORT, 0.0.0.0:PORT, [::1]:PORT, [::]:PORT or unix:///path");
  }
}

function checkEgressList(egress: readonly SidecarEgress[], report: Findings): void {
  const ports = new Set<number>();
  const sockets = new Set<string>();
  egress.forEach((listener, index) => {
    const at = `spec.egress[${index}]`;
    const { port, bind = "" } = listener;
    if (port === undefined) {
      if (index !== egress.length - 1) {
        report.error(
          `${at}.port`,
          undefined,
          "a port: only the last egress listener may be without (it takes what is left)",
        );
      }
    } else {
      checkEgressPort(listener, port, at, report);
      const { number = 0 } = port;
      if (number === 0 ? sockets.has(bind) : ports.has(number)) {
        report.error(
          `${at}.port`,
          number === 0 ? bind : number,
          "a port or unix socket that no other egress listener has",
        );
      }
      if (number === 0) sockets.add(bind);
      else ports.add(number);
    }
    checkEgressHosts(listener.hosts, `${at}.hosts`, report);
  });
}

function checkEgressPort(listener: SidecarEgress, port: SidecarPort, at: string, report: Findings): void {
  const { bind, captureMode } = listener;
  checkPortBasics(port, `${at}.port`, report);
  if (port.number !== undefined) {
    checkPort(port.number, `${at}.port.number`, report);
    if (bind !== undefined && !isIpAddress(bind)) report.error(`${at}.bind`, bind, "an IP address");
    return;
  }
  if (bind?.startsWith(UNIX_PREFIX)) checkUnixPath(bind, `${at}.bind`, report);
  else report.error(`${at}.port.number`, 0, "a port number, 1..65535 (or bind to a unix socket)");
  if (captureMode === "IPTABLES") report.error(`${at}.captureMode`, captureMode, "DEFAULT or NONE with a unix socket");
}

function checkEgressHosts(hosts: readonly string[], at: string, report: Findings): void {
  // In the mesh's Sidecar `.` is the namespace of each workload, so `.` is the same as no name.
  const byNamespace = new Map<string, Map<string, number>>();
  for (const [index, entry] of hosts.entries()) {
    const where = `${at}[${index}]`;
    const { namespace, host } = partsOfImport(entry);
    if (!["*", ".", "~"].includes(namespace) && !isDnsLabel(namespace)) {
      report.error(where, entry, "namespace/host, the namespace being a name, *, . or ~");
      continue;
    }
    checkEgressHost(entry, host, where, report);
    const first = byNamespace.get(namespace) ?? new Map<string, number>();
    if (!first.has(host)) first.set(host, index);
    byNamespace.set(namespace, first);
  }
  for (const [index, entry] of hosts.entries()) {
    const { namespace, host } = partsOfImport(entry);
    const first = byNamespace.get(namespace);
    const covering = host === "*" ? first?.get(host) : first?.get("*") ?? first?.get(host);
    if (covering === undefined || covering === index) continue;
    report.warning(`${at}[${index}]`, entry, `hosts that ${JSON.stringify(hosts[covering])} does not cover`);
  }
  if (byNamespace.get("*")?.has("*") === true && byNamespace.size > 1) {
    report.warning(at, hosts, "nothing beside */*, which is everything");
  }
}

function partsOfImport(entry: string): { readonly namespace: string; readonly host: string } {
  const slash = entry.indexOf("/");
  return { namespace: entry.slice(0, Math.max(slash, 0)), host: entry.slice(slash + 1) };
}

function checkEgressHost(entry: string, host: string, at: string, report: Findings): void {
  if (host !== "*" && !host.includes(".")) report.error(at, entry, "a fully qualified host name (with a dot), or *");
  else if (isPartialWildcard(host)) report.error(at, entry, "* as a whole first label, such as *.example.com");
  else {
    const wrong = wildcardHostProblem(host);
    if (wrong !== undefined) report.error(at, entry, wrong);
  }
}

function checkOutboundPolicy(policy: OutboundTrafficPolicy | undefined, at: string, report: Findings): void {
  const proxy = policy?.egressProxy;
  if (policy === undefined || proxy === undefined) return;
  if (policy.mode !== "ALLOW_ANY") report.error(`${at}.mode`, policy.mode, "ALLOW_ANY together with egressProxy");
  if (proxy.host.startsWith("*")) report.error(`${at}.egressProxy.host`, proxy.host, "a host name without wildcard");
  if (proxy.port === undefined) report.error(`${at}.egressProxy.port`, undefined, "a port with its number");
  checkDestination(proxy, `${at}.egressProxy`, report);
}
