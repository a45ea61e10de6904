/**
 * Ports, protocols, addresses.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { Findings } from "../../finding/findings.ts";
import { isDnsLabel } from "./names.ts";

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

/**
 * Whether the text is an IP address: dotted decimal without leading zeros, or IPv6 without a zone. A zone names an
 * interface of one machine, and an Envoy elsewhere refuses the whole resource.
 */
export function isIpAddress(text: string): boolean {
  if (IPV4.test(text)) return true;
  return text.includes(":") && !text.includes("%") && text.length <= 64 && ipaddr.IPv6.isValid(text);
}

/** Whether the text is an address with a prefix length: `10.0.0.0/8`, `2001:db8::/32`. */
export function isCidr(text: string): boolean {
  const match = /^([^/%]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const [, address = "", bits = ""] = match ?? [];
  return match !== null && isIpAddress(address) && Number(bits) <= (address.includes(":") ? 128 : 32);
}

/** The expectation for a text that is neither an address nor a CIDR. */
export function subnetProblem(text: string): string | undefined {
  return isIpAddress(text) || isCidr(text) ? undefined : "an IP address or CIDR such as 10.0.0.0/8";
}

/** Checks a port number, 1..65535. */
export function checkPort(port: number, at: string, report: Findings): void {
  if (port < 1 || port > 65535) report.error(at, port, "a port number, 1..65535");
}

/** Checks the name of a port: a DNS label. */
export function checkPortName(name: string, at: string, report: Findings): void {
  if (!isDnsLabel(name)) report.error(at, name, "a port name (letters, digits and inner -, at most 63)");
}

/** Prefix of unix socket addresses. */
export const UNIX_PREFIX = "unix://";

/** Checks the part of a unix address after the prefix: an absolute file path, or `@name`. */
export function checkUnixPath(address: string, at: string, report: Findings): void {
  const path = address.slice(UNIX_PREFIX.length);
  if (path.startsWith("@") || (path.startsWith("/") && !path.endsWith("/"))) return;
  report.error(at, address, "unix:// with an absolute path to a file, or unix://@name");
}

const HTTP = new Set(["http", "http2", "http_proxy", "grpc", "grpc-web"]);
const TLS = new Set(["https", "tls"]);
const OTHER = new Set(["tcp", "udp", "mongo", "redis", "mysql"]);

/**
 * The protocol of a written name, ignoring case; `unknown` for anything else. UDP is `udp`, plain TCP and databases are
 * `tcp`.
 */
export function protocolClass(protocol: string): "http" | "tls" | "tcp" | "udp" | "unknown" {
  const name = protocol.toLowerCase();
  if (HTTP.has(name)) return "http";
  if (TLS.has(name)) return "tls";
  if (name === "udp") return "udp";
  return OTHER.has(name) ? "tcp" : "unknown";
}

/** The protocols of ports, for findings. */
export const PROTOCOLS = "HTTP, HTTP2, GRPC, GRPC-WEB, HTTPS, TLS, TCP, MONGO, REDIS, MYSQL or UDP";

/** Checks an optional protocol; empty means sniffing. */
export function checkProtocol(protocol: string | undefined, at: string, report: Findings): void {
  if (protocol !== undefined && protocol !== "" && protocolClass(protocol) === "unknown") {
    report.error(at, protocol, PROTOCOLS);
  }
}
