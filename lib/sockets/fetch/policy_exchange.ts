/**
 * HTTPS requests that keep to a policy of TLS, which `fetch` cannot be given (`COMPLIANCE_POLICY`).
 *
 * Permissions: net (the address asked), read (the machine's authorities).
 *
 * @module
 */
import { request as requestHttp } from "node:http";
import { isIP } from "node:net";
import { Readable } from "node:stream";
import tls from "node:tls";
import { FIPS_TLS_POLICY, type TlsPolicy } from "../listen/tls_policy.ts";
import { suiteRefused } from "./suite_refused.ts";
import { systemRoots } from "./system_roots.ts";

/** A way to ask a server, as `fetch` does. */
export type PolicyExchange = (url: string, init: RequestInit) => Promise<Response>;

/** The servers that are trusted. */
export interface ExchangeTrust {
  /** Authorities of servers beside those of the machine, as PEM. */
  readonly further?: string;
  /** Certificates are not checked. Default: they are. */
  readonly unchecked?: boolean;
}

/** How other servers are asked under `COMPLIANCE_POLICY`: as the policy says; where there is none, by `fetch`. */
export function compliantExchange(compliance: "" | "fips-140-2"): PolicyExchange {
  return compliance === "" ? fetch : policyExchange(FIPS_TLS_POLICY);
}

/**
 * A way to ask servers, as `fetch` does, without redirects. Nothing is sent over a connection that the policy does not
 * allow; addresses without TLS are asked as they are.
 */
export function policyExchange(policy: TlsPolicy, trust: ExchangeTrust = {}): PolicyExchange {
  return async (text, init) => {
    const url = new URL(text);
    if (url.protocol !== "https:") return await fetch(text, init);
    const signal = init.signal ?? new AbortController().signal;
    const name = url.hostname.replace(/^\[|\]$/g, "");
    const to = { host: name, port: Number(url.port || 443), name };
    const socket = await connectUnder(policy, to, await trustOf(trust), signal);
    try {
      return await answered(url, init, socket, signal);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  };
}

async function trustOf({ further, unchecked = false }: ExchangeTrust): Promise<CheckedTrust> {
  if (unchecked) return { ca: [], rejectUnauthorized: false };
  if (further === undefined) return { ca: await systemRoots("") };
  const machine = await systemRoots("").catch(() => "");
  return { ca: machine === "" ? [further] : [machine, further] };
}

/** As `node:tls` has it. */
export interface CheckedTrust {
  readonly ca: string | string[];
  readonly rejectUnauthorized?: boolean;
}

/**
 * A connection that the policy allows.
 *
 * @param to `name` is the name that the server's certificate must have
 * @throws Error when there is none, or the policy does not allow the version or suite that the server chose
 */
export function connectUnder(
  policy: TlsPolicy,
  { host, port, name }: { readonly host: string; readonly port: number; readonly name: string },
  trust: CheckedTrust,
  signal: AbortSignal,
): Promise<tls.TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<tls.TLSSocket>();
  const socket = tls.connect({
    ...{ host, port, minVersion: policy.minVersion, maxVersion: policy.maxVersion },
    // An address is no server name.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    checkServerIdentity: (_name, certificate) => tls.checkServerIdentity(name, certificate),
    ...trust,
  });
  const fail = (error: Error) => {
    socket.destroy();
    reject(error);
  };
  const aborted = () => fail(signal.reason as Error);
  socket.once("error", fail);
  socket.once("close", () => fail(new Error("the connection was closed")));
  socket.once("secureConnect", () => {
    signal.removeEventListener("abort", aborted);
    const refused = suiteRefused(policy, socket);
    if (refused === undefined) resolve(socket);
    else fail(new Error(refused));
  });
  if (signal.aborted) aborted();
  else signal.addEventListener("abort", aborted, { once: true });
  return promise;
}

function answered(url: URL, init: RequestInit, socket: tls.TLSSocket, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const call = requestHttp({
      createConnection: () => socket,
      method: init.method ?? "GET",
      path: `${url.pathname}${url.search}`,
      headers: { ...Object.fromEntries(new Headers(init.headers)), host: url.host, connection: "close" },
      signal,
    }, (answer) => {
      const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
      const status = answer.statusCode ?? 502;
      const isEmpty = [204, 205, 304].includes(status);
      const body = isEmpty ? null : Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>;
      resolve(new Response(body, { status, headers }));
    });
    call.on("error", reject);
    call.end(init.body as string | undefined);
  });
}
