/**
 * Who answered at an address, in words for people who named a wrong port: an answer of another program must not be
 * printed as if a discovery server had said it.
 *
 * @module
 */
import type { ClientResponse } from "../../lib/cli/http.ts";
import { shortened } from "../../lib/cli/terminal/layout.ts";

/** The two programs that commands ask. */
export type AskedProgram = "server" | "proxy";

/** What a program serves at the address that a command needs. */
const EXPECTED: Readonly<Record<AskedProgram, (host: string) => string>> = {
  server: (host) => `the debug pages of a discovery server, such as ${host}:8080 or ${host}:15014`,
  proxy: (host) => `the admin port of a proxy, such as ${host}:15000`,
};

/** The end of an error: what the command needs, with addresses on the same host. */
export function expectedText(asked: AskedProgram, { hostname }: URL): string {
  return `expected ${EXPECTED[asked](hostname)}`;
}

/** Longest quotation of another program, in characters. */
const MAX_QUOTED = 100;

/** Another program's answer in words. */
export function answererText({ status, headers, body }: ClientResponse): string {
  const { location, server = "" } = headers;
  if (status >= 300 && status < 400) return `got a redirect to ${quoted(location ?? "nowhere")}`;
  if (body.startsWith("invalid path. admin commands are:")) return "got the answer of a proxy's admin port";
  if (server === "envoy") return `got status ${status} from an Envoy`;
  const type = (headers["content-type"] ?? "").split(";")[0]!.trim();
  const title = /<title>([^<]{0,200})<\/title>/i.exec(body.slice(0, MAX_SEARCHED))?.[1]?.trim();
  if (type === "text/html" || /^\s*</.test(body)) {
    return `got a web page${title === undefined ? "" : ` with the title ${quoted(title)}`}, status ${status}`;
  }
  const [line = ""] = body.trim().split("\n");
  return `got status ${status}${line === "" ? " without a text" : ` and ${quoted(line)}`}`;
}

/** Part of a page that is searched for its title. */
const MAX_SEARCHED = 10_000;

function quoted(text: string): string {
  return JSON.stringify(shortened(text, MAX_QUOTED));
}

/** First byte of a message of TLS in which a server refuses a client that does not speak TLS. */
const TLS_ALERT = 0x15;

/** Type of the frame of HTTP/2 with which a server begins, at the fourth byte. */
const SETTINGS_FRAME = 0x04;

/** Why no answer came, in words; the error is from the request. */
export function failureText(error: unknown): string {
  const { code, rawPacket, message } = error as { code?: string; rawPacket?: Uint8Array; message?: string };
  if (rawPacket?.[0] === TLS_ALERT) return "the port speaks TLS";
  if (rawPacket?.[0] === 0 && rawPacket[3] === SETTINGS_FRAME) return "the port speaks HTTP/2, as ports of gRPC do";
  if (rawPacket !== undefined) return "the port speaks no HTTP";
  if (code === "ECONNRESET" || message === "socket hang up") {
    return "the port closes the connection without an answer, as ports of gRPC and of TLS do";
  }
  return message || String(error);
}

/** Whether nobody listens at the address, so that the program may not be running. */
export function isNobodyThere(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "ECONNREFUSED" || code === "EHOSTUNREACH" || code === "ENETUNREACH" || code === "ETIMEDOUT";
}
