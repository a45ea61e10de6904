/**
 * Downloads from servers whose addresses are checked at each connection, so that neither a redirect nor a changed name
 * leads elsewhere. (`fetch` can do neither.)
 *
 * Permissions: net (the servers).
 *
 * @module
 */
import { errorMessage } from "../../../kernel/text/error_message.ts";
import ipaddr from "ipaddr.js";
import { lookup } from "node:dns/promises";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { type CheckedTrust, connectUnder } from "../../../sockets/fetch/policy_exchange.ts";
import type { TlsPolicy } from "../../../sockets/listen/tls_policy.ts";
import { orAborted } from "../../probes/or_aborted.ts";
import type { ByteStream } from "./bounded_bytes.ts";
import { FetchFault } from "./fetch_fault.ts";
import { shownUrl } from "./shown_url.ts";

// Addresses from which no module comes. A name in the configuration, or a redirecting server, must not make an agent
// ask a server that only this machine can reach.

/** The origin of an address: the configuration itself, or a server's answer. */
type NamedBy = "configuration" | "server";

/** Why an address is not asked. Undefined: the address may be asked. */
type AddressRule = (address: string, namedBy: NamedBy) => string | undefined;

/** Metadata addresses of clouds that are not link-local: Alibaba Cloud's, and AWS's over IPv6. */
const METADATA = new Set(["100.100.100.200", "fd00:ec2:0:0:0:0:0:254"]);

/**
 * Link-local addresses and metadata addresses are never asked. Loopback addresses are asked only if the configuration
 * names them.
 */
export const refusedAddress: AddressRule = (address, namedBy) => {
  if (!ipaddr.isValid(address)) return "no address";
  const ip = withoutTranslation(ipaddr.process(address));
  const range = ip.range();
  if (METADATA.has(ip.toNormalizedString())) return "the metadata of a cloud";
  if (range === "linkLocal" || range === "multicast" || range === "broadcast") return `a ${words(range)} address`;
  // On most systems the unspecified address leads to the machine itself.
  const isOwn = range === "loopback" || range === "unspecified";
  return isOwn && namedBy === "server" ? `a ${range} address that a server named` : undefined;
};

function words(range: string): string {
  return range === "linkLocal" ? "link-local" : range;
}

/** The IPv4 address behind a translator's address (RFC 6052, `64:ff9b::/96`). */
function withoutTranslation(ip: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return ip.range() === "rfc6052" ? ipaddr.fromByteArray(ip.toByteArray().slice(12)) : ip;
}

/** How is downloaded. */
export interface DownloadRules {
  /** Time for one request with its body, ms. */
  readonly timeout: number;
  /** `host` or `host:port` of servers whose certificates are not checked. `*`: all servers. */
  readonly insecure: ReadonlySet<string>;
  /** Authorities of servers, as PEM. @throws Error when there are none */
  readonly roots: () => Promise<string>;
  /** Versions and cipher suites of TLS (`COMPLIANCE_POLICY`). Default: the runtime's. */
  readonly policy?: TlsPolicy;
  /** Default {@linkcode refusedAddress}. */
  readonly refused?: AddressRule;
  /** Addresses of a name. Default: the system's resolver. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

export interface DownloadRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A posted form. */
  readonly form?: string;
  /** Default "configuration". */
  readonly namedBy?: NamedBy;
}

/** An answer. */
export interface Downloaded {
  readonly status: number;
  /** A header. Empty: none. Several headers of one name are joined by commas. */
  header(name: string): string;
  /** The caller reads the body to its end, or closes the answer. */
  readonly body: ByteStream;
  close(): void;
}

const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Whether certificates of a host are not checked. */
export function isInsecure({ insecure }: DownloadRules, url: URL): boolean {
  return insecure.has("*") || insecure.has(url.host) || insecure.has(url.hostname) ||
    insecure.has(`${url.hostname}:${portOf(url)}`);
}

/**
 * Sends a request, and follows redirects. Credentials go only to the original host.
 * @throws {FetchFault} When there is no answer.
 */
export async function download(
  rules: DownloadRules,
  request: DownloadRequest,
  signal: AbortSignal,
): Promise<Downloaded> {
  const first = parsed(request.url);
  let headers = { ...passwordOf(first), ...request.headers };
  [first.username, first.password] = ["", ""];
  let url = first;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const namedBy = hops === 0 || url.host === first.host ? request.namedBy ?? "configuration" : "server";
    const answer = await ask(rules, { url, headers, namedBy, form: request.form }, signal);
    const location = answer.header("location");
    if (!REDIRECTS.has(answer.status) || location === "") return answer;
    answer.close();
    const next = parsed(location, url);
    if (url.protocol === "https:" && next.protocol === "http:" && !isInsecure(rules, next)) {
      throw new FetchFault(`${url.href} redirects to ${next.href}, which is not encrypted`, "download_failure");
    }
    if (next.host !== url.host && request.form !== undefined) {
      throw new FetchFault(`${url.href} redirects what is posted to another host`, "download_failure");
    }
    if (next.host !== url.host) {
      headers = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "authorization"));
    }
    [next.username, next.password] = ["", ""];
    url = next;
  }
  throw new FetchFault(`${url.href} redirects more than ${MAX_REDIRECTS} times`, "download_failure");
}

/** An address may have a user and a password. */
function passwordOf({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const pair = new TextEncoder().encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { authorization: `Basic ${pair.toBase64()}` };
}

function parsed(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new FetchFault(
      `${JSON.stringify(shownUrl(text))}: expected an address that begins with https:// or http://`,
      "download_failure",
    );
  }
  url.hash = "";
  return url;
}

interface OneRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly namedBy: NamedBy;
  readonly form: string | undefined;
}

async function ask(rules: DownloadRules, request: OneRequest, given: AbortSignal): Promise<Downloaded> {
  const { url, headers, form } = request;
  const late = AbortSignal.timeout(rules.timeout);
  const signal = AbortSignal.any([late, given]);
  const reason = (error: Error) => {
    if (error instanceof FetchFault) return error;
    const text = late.aborted
      ? `no answer within ${rules.timeout / 1000} s`
      : given.aborted
      ? errorMessage(given.reason)
      : error.message;
    return new FetchFault(`${url.href}: ${text}`, "download_failure", true);
  };
  try {
    const address = await addressOf(rules, request, signal);
    const trust = url.protocol === "http:" ? undefined : await trustOf(rules, url);
    const to = { host: address, port: portOf(url), name: hostOf(url) };
    const socket = trust !== undefined && rules.policy !== undefined
      ? await connectUnder(rules.policy, to, trust, signal)
      : undefined;
    const answer = await exchange({ url, address, headers, form, trust, socket }, signal);
    return {
      status: answer.statusCode ?? 0,
      header: (name) => [answer.headers[name] ?? ""].flat().join(", "),
      body: bodyOf(answer, signal, reason),
      close: () => void answer.destroy(),
    };
  } catch (error) {
    throw reason(error as Error);
  }
}

/**
 * The first address of a host, if all addresses of the host may be asked. A name that mixes allowed and forbidden
 * addresses is suspicious.
 */
async function addressOf(rules: DownloadRules, { url, namedBy }: OneRequest, signal: AbortSignal): Promise<string> {
  const { refused = refusedAddress, resolve = systemAddresses } = rules;
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await orGivenUp(resolve(host), signal) : [host];
  for (const address of addresses) {
    const why = refused(address, namedBy);
    if (why !== undefined) {
      throw new FetchFault(
        `${url.href}: ${host === address ? "" : `${host} is `}${address}, ${why}, is not asked`,
        "download_failure",
      );
    }
  }
  if (addresses[0] === undefined) throw new Error(`${host} has no address`);
  return addresses[0];
}

async function systemAddresses(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

interface CheckedRequest {
  readonly url: URL;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly form: string | undefined;
  /** Absent without TLS. */
  readonly trust: CheckedTrust | undefined;
  /** Instead of another connection. */
  readonly socket: TLSSocket | undefined;
}

async function trustOf(rules: DownloadRules, url: URL): Promise<CheckedTrust> {
  // With explicit authorities the runtime does not look for the machine's authorities, which would need a permission.
  return isInsecure(rules, url) ? { ca: [], rejectUnauthorized: false } : { ca: await rules.roots() };
}

function exchange(
  { url, address, headers, form, trust, socket }: CheckedRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const answered = Promise.withResolvers<IncomingMessage>();
  const isSecure = url.protocol === "https:";
  const name = hostOf(url);
  const call = (isSecure && socket === undefined ? https : http).request({
    ...(socket === undefined ? {} : { createConnection: () => socket }),
    ...{ host: address, port: portOf(url), path: `${url.pathname}${url.search}`, agent: false },
    method: form === undefined ? "GET" : "POST",
    headers: {
      ...{ host: url.host, "user-agent": "pilot-agent", ...headers },
      ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
    },
    ...(isSecure && isIP(name) === 0 ? { servername: name } : {}),
    ...trust,
  }, answered.resolve);
  call.on("error", answered.reject);
  call.end(form);
  return orAborted(answered, signal).catch((error: Error) => {
    call.destroy();
    throw error;
  });
}

/** Without the brackets of an address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? protocol === "https:" ? 443 : 80 : Number(port);
}

/** The body. The body ends with an error when the time is over, or when it is shorter than announced. */
async function* bodyOf(
  answer: IncomingMessage,
  signal: AbortSignal,
  reason: (error: Error) => Error,
): AsyncGenerator<Uint8Array> {
  const announced = answer.headers["content-length"];
  const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await orGivenUp(chunks.next(), signal);
      if (done) break;
      length += value.length;
      yield value;
    }
    if (announced !== undefined && length < Number(announced)) {
      throw new Error(`ended after ${length} of ${announced} bytes`);
    }
  } catch (error) {
    throw reason(error as Error);
  } finally {
    answer.destroy();
  }
}

/** Waits for work that cannot be ended, or until the signal aborts. */
function orGivenUp<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  work.then(resolve, reject);
  return orAborted({ promise, reject }, signal);
}
