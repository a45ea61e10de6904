/**
 * Rules of Gateway.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { isDnsLabel, isPartialWildcard, wildcardHostProblem } from "../../validation/names.ts";
import {
  checkPort,
  checkUnixPath,
  isIpAddress,
  protocolClass,
  PROTOCOLS,
  UNIX_PREFIX,
} from "../../validation/network.ts";
import { checkServerTls } from "../../validation/tls.ts";
import type { Validate } from "../validate.ts";
import type { GatewayServerSpec, GatewaySpec } from "./schema.ts";

/** Checks a Gateway. A derived Gateway has the names of its origin, which follow the rules of the origin's kind. */
export const validateGateway: Validate<GatewaySpec> = (spec, meta, report) => {
  const isDerived = spec.internal !== undefined;
  if (!isDerived && !isDnsLabel(meta.name)) {
    report.error("metadata.name", meta.name, "a name without dots (letters, digits and inner -, at most 63)");
  }
  const portNames = new Set<string>();
  spec.servers.forEach((server, index) => {
    const at = `spec.servers[${index}]`;
    checkServer(server, isDerived, at, report);
    if (portNames.has(server.port.name)) {
      report.error(`${at}.port.name`, server.port.name, "a name that no other port of this gateway has");
    }
    portNames.add(server.port.name);
  });
};

function checkServer(server: GatewayServerSpec, isDerived: boolean, at: string, report: Findings): void {
  if (!isDerived) server.hosts.forEach((host, index) => checkGatewayHost(host, `${at}.hosts[${index}]`, report));
  checkServerPort(server, at, report);
  checkServerTls(server.tls, `${at}.tls`, report);
  const { port, tls } = server;
  const protocol = protocolClass(port.protocol);
  if (protocol === "tls" && tls === undefined) {
    report.error(`${at}.tls`, undefined, `TLS settings (the protocol is ${port.protocol})`);
  }
  if (tls?.httpsRedirect === true && protocol !== "http") {
    report.warning(`${at}.tls.httpsRedirect`, true, "an HTTP port");
  }
  if (tls === undefined || protocol === "tls" || protocol === "unknown") return;
  const onlyRedirect = (tls.mode === "PASSTHROUGH" || tls.mode === "AUTO_PASSTHROUGH") &&
    tls.caCertificates === undefined && tls.privateKey === undefined && tls.serverCertificate === undefined;
  if (protocol !== "http") report.error(`${at}.tls`, tls, `protocol HTTPS or TLS instead of ${port.protocol}`);
  else if (!onlyRedirect) report.error(`${at}.tls`, tls, "only httpsRedirect on a plain HTTP port");
}

function checkServerPort(server: GatewayServerSpec, at: string, report: Findings): void {
  const { port, bind } = server;
  if (protocolClass(port.protocol) === "unknown" && port.protocol !== "") {
    report.error(`${at}.port.protocol`, port.protocol, PROTOCOLS);
  }
  if (bind?.startsWith(UNIX_PREFIX)) {
    checkUnixPath(bind, `${at}.bind`, report);
    if (port.number !== 0) report.error(`${at}.port.number`, port.number, "0 together with a unix socket");
  } else {
    if (bind !== undefined && !isIpAddress(bind)) {
      report.error(`${at}.bind`, bind, "an IP address or a unix socket (unix:///path)");
    }
    checkPort(port.number, `${at}.port.number`, report);
  }
  if (port.targetPort !== undefined) {
    report.error(`${at}.port.targetPort`, port.targetPort, "nothing: it has no effect");
  }
}

/** Hosts are `[namespace/]host` with whole names, because one gateway serves several namespaces. */
function checkGatewayHost(host: string, at: string, report: Findings): void {
  const slash = host.indexOf("/");
  const namespace = slash < 0 ? "*" : host.slice(0, slash);
  const name = host.slice(slash + 1);
  if (namespace !== "*" && namespace !== "." && !isDnsLabel(namespace)) {
    report.error(at, host, "[namespace/]host, the namespace being a name, * or .");
  }
  if (isIpAddress(name)) return;
  if (name !== "*" && !name.includes(".")) report.error(at, host, "a fully qualified host name (with a dot), or *");
  else if (isPartialWildcard(name)) report.error(at, host, "* as a whole first label, such as *.example.com");
  else {
    const wrong = wildcardHostProblem(name);
    if (wrong !== undefined) report.error(at, host, wrong);
  }
}
