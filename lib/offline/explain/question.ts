/**
 * Reads questions: from a URL or `host:port` to the request as the client's proxy would see it, and the destination.
 *
 * @module
 */
import type { SimulatedRequest } from "../../simulate/types.ts";
import { isIp } from "../../registry/address.ts";

/** A request as a person describes it. */
export interface ExplainQuestion {
  /** A URL, or `host:port`. */
  readonly to: string;
  readonly method?: string;
  /** `name: value` each. */
  readonly headers?: readonly string[];
}

/** A text that cannot be read as a question. The message says what was expected. */
export class BadQuestion extends Error {
  override readonly name = "BadQuestion";
}

/** How the client speaks. `unknown`: the port of the service decides. */
export type Scheme = "http" | "https" | "tcp" | "tls" | "unknown";

export interface ReadQuestion {
  readonly scheme: Scheme;
  /** As written, lower case. */
  readonly host: string;
  readonly port: number;
  /** The path with its query; `/` if none is written. */
  readonly path: string;
  /** Host header as the client writes it: with the port, unless the port is the scheme's default. */
  readonly authority: string;
  readonly method: string;
  /** Values by name in lower case, in the written order. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
}

const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, grpc: 80 };

/**
 * Reads a question.
 * @throws {BadQuestion} naming every mistake
 */
export function readQuestion({ to, method = "GET", headers = [] }: ExplainQuestion): ReadQuestion {
  const problems: string[] = [];
  // An object without a prototype: names such as `constructor` are headers like any other.
  const pairs: Record<string, string[]> = Object.create(null);
  for (const header of headers) {
    const at = header.indexOf(":");
    const name = header.slice(0, Math.max(0, at)).trim().toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) {
      problems.push(`header ${JSON.stringify(header)}, expected name: value`);
    } else (pairs[name] ??= []).push(header.slice(at + 1).trim());
  }
  const { host: hosts = [] } = pairs;
  if (hosts.length > 1) problems.push(`header host ${hosts.length} times (${hosts.join(", ")}), expected it once`);
  if (!/^[A-Za-z]+$/.test(method)) problems.push(`method ${JSON.stringify(method)}, expected one such as GET`);
  const target = readTarget(to);
  if (target === undefined) {
    problems.push(`destination ${JSON.stringify(to)}, expected a URL (http, https, grpc, tcp, tls) or host:port`);
  }
  if (problems.length > 0 || target === undefined) throw new BadQuestion(`got ${problems.join("; ")}`);
  const { host: _named, ...rest } = pairs;
  const authority = hosts[0] ?? target.authority;
  return { ...target, authority, method: method.toUpperCase(), headers: rest };
}

type QuestionTarget = Pick<ReadQuestion, "scheme" | "host" | "port" | "path" | "authority">;

function readTarget(to: string): QuestionTarget | undefined {
  const match = /^(?:([a-z]+):\/\/)?(?:\[([0-9a-f:.]+)\]|([^\s/:?#[\]]+))(?::(\d{1,5}))?([/?][^#\s]*)?(?:#.*)?$/i.exec(
    to,
  );
  if (match === null) return undefined;
  const [, written, v6, name, portText, tail = ""] = match;
  const scheme = written?.toLowerCase();
  if (scheme !== undefined && !["http", "https", "grpc", "tcp", "tls"].includes(scheme)) return undefined;
  const port = portText === undefined ? PORTS[scheme ?? ""] : Number(portText);
  if (port === undefined || port === 0 || port > 65535) return undefined;
  if (scheme === undefined && tail !== "") return undefined;
  const host = (v6 ?? name ?? "").toLowerCase().replace(/\.$/, "");
  const isDefault = port === PORTS[scheme ?? ""];
  const shownHost = v6 === undefined ? host : `[${host}]`;
  return {
    scheme: scheme === "grpc" ? "http" : scheme as Scheme | undefined ?? "unknown",
    host,
    port,
    path: tail.startsWith("/") ? tail : `/${tail}`,
    authority: isDefault ? shownHost : `${shownHost}:${port}`,
  };
}

/** Where the client's connection goes. */
export interface DialledAddress {
  readonly ip: string;
  readonly port: number;
  /** Whether the port carries HTTP in the clear. */
  readonly http: boolean;
}

/** The request as the client's proxy sees it. */
export function simulatedRequest(
  question: ReadQuestion,
  { ip, port, http }: DialledAddress,
  direction: SimulatedRequest["direction"],
  sourceIp: string,
): SimulatedRequest {
  const scheme = question.scheme === "unknown" ? (http ? "http" : "tcp") : question.scheme;
  const { method, path, headers, authority: host } = question;
  const connection = { direction, destination: { ip, port }, source: { ip: sourceIp } } as const;
  const request = { method, path, headers, host, httpVersion: isGrpc(headers) ? "HTTP/2" : "HTTP/1.1" } as const;
  const sni = isIp(question.host) ? {} : { sni: question.host };
  switch (scheme) {
    case "http":
      return { ...connection, ...request, protocol: "http" };
    case "https":
      // Offered by every client of today.
      return { ...connection, ...request, protocol: "tls", ...sni, alpn: ["h2", "http/1.1"] };
    case "tls":
      return { ...connection, protocol: "tls", ...sni };
    case "tcp":
      return { ...connection, protocol: "tcp" };
  }
}

function isGrpc(headers: ReadQuestion["headers"]): boolean {
  return /^application\/grpc/.test(headers["content-type"]?.[0] ?? "");
}
