/**
 * HTTPS requests under a TLS policy (`COMPLIANCE_POLICY`). `fetch` cannot be given such a policy.
 *
 * Permissions: net (the requested address), read (the machine's authorities).
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

/** The servers to trust. */
export interface ExchangeTrust {
  /** Further authorities of servers beside the machine's, as PEM. */
  readonly further?: string;
  /** Skips the check of certificates. Default: certificates are checked. */
  readonly unchecked?: boolean;
}

/** The way to ask other servers under `COMPLIANCE_POLICY`; without a policy: `fetch`. */
export function compliantExchange(compliance: "" | "fips-140-2"): PolicyExchange {
  return compliance === "" ? fetch : policyExchange(FIPS_TLS_POLICY);
}

/**
 * A way to ask servers, as `fetch` does, but without redirects. Nothing is sent over a connection that the policy
 * forbids. Addresses without TLS are asked by `fetch`.
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

/** Trust in the form of `node:tls`. */
export interface CheckedTrust {
  readonly ca: string | string[];
  readonly rejectUnauthorized?: boolean;
}

/**
 * Connects under the policy.
 *
 * @param to `name` is the expected name in the server's certificate
 * @throws Error without a connection, or when the server chose a version or suite that the policy forbids
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
    // An address is not a server name.
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
