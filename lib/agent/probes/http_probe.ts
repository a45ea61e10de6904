/**
 * HTTP probes as kubelet makes them: redirects on the same host are followed, certificates are not verified.
 *
 * Rule: https://github.com/kubernetes/kubernetes/blob/master/pkg/probe/http/http.go
 *
 * Permissions: net (the application).
 *
 * @module
 */
import { isIPv6 } from "node:net";
import type { ProbeAnswer } from "./http_answer.ts";
import { type ProbeConnection, probeConnection, type ProbeRequest, type ProbeSpeech } from "./http_connection.ts";
import type { ProbeAddress } from "./probe_socket.ts";

/** Requests of one probe at most. */
const MAX_REQUESTS = 10;
/** Redirects that a client follows. */
const FOLLOWED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers of one connection or body, and headers that the probe sets itself. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  ...["connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade"],
]);

export interface HttpProbe extends ProbeRequest {
  readonly address: ProbeAddress;
}

/** Probes one application by HTTP requests. The connection is kept if the settings ask for it. */
export class HttpProber {
  readonly #speech: ProbeSpeech;
  #idle: { readonly connection: ProbeConnection; readonly to: string } | undefined;

  constructor(speech: ProbeSpeech) {
    this.#speech = speech;
  }

  /** Closes the kept connection. */
  close(): void {
    this.#idle?.connection.close();
    this.#idle = undefined;
  }

  /**
   * Makes a request, and follows redirects on the same host. A redirect to another host is the answer.
   * @throws {Error} With the reason if there is no answer, or the signal's reason.
   */
  async get(probe: HttpProbe, signal: AbortSignal): Promise<ProbeAnswer> {
    let next = { ...probe, headers: passedHeaders(probe.headers) };
    for (let requests = 1;; requests++) {
      const answer = await this.#ask(next, signal);
      const followed = answer.location !== undefined && FOLLOWED.has(answer.status)
        ? redirected(next, answer.location)
        : undefined;
      if (followed === undefined) return answer;
      if (requests === MAX_REQUESTS) throw new Error(`${MAX_REQUESTS} redirects led to no answer`);
      next = followed;
    }
  }

  async #ask(probe: HttpProbe, signal: AbortSignal): Promise<ProbeAnswer> {
    const { address: { host, port }, secure } = probe;
    const to = `${secure} ${host} ${port}`;
    const kept = this.#idle?.to === to ? this.#idle : undefined;
    if (kept !== undefined) this.#idle = undefined;
    if (kept !== undefined) {
      try {
        return await this.#over(kept.connection, to, probe, signal);
      } catch (error) {
        // The application may have closed an idle connection.
        if (signal.aborted) throw error;
      }
    }
    return await this.#over(await probeConnection(probe.address, secure, this.#speech, signal), to, probe, signal);
  }

  async #over(connection: ProbeConnection, to: string, probe: HttpProbe, signal: AbortSignal): Promise<ProbeAnswer> {
    let isKept = false;
    try {
      const answer = await connection.ask(probe, signal);
      isKept = this.#speech.keepAlive && answer.isReusable;
      return answer;
    } finally {
      if (isKept) {
        this.close();
        this.#idle = { connection, to };
      } else connection.close();
    }
  }
}

function passedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_PASSED.has(name)));
}

/**
 * The next request. Undefined: the redirect leads to another host.
 * @throws {Error} For a location that is not an HTTP URL.
 */
function redirected(probe: HttpProbe, location: string): HttpProbe | undefined {
  const { address, secure, target, host } = probe;
  const own = isIPv6(address.host) ? `[${address.host}]` : address.host;
  let url: URL;
  try {
    url = new URL(location, `${secure ? "https" : "http"}://${own}:${address.port}${target}`);
  } catch {
    throw new Error(`a redirect to ${JSON.stringify(location.slice(0, 200))}, which is not a URL`);
  }
  if (url.hostname !== own) return undefined;
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Error(`a redirect to ${JSON.stringify(location.slice(0, 200))}, expected http or https`);
  }
  const isSecure = url.protocol === "https:";
  return {
    ...probe,
    address: { ...address, port: Number(url.port || (isSecure ? 443 : 80)) },
    secure: isSecure,
    target: url.pathname + url.search,
    // A redirect without a host stays on the same host.
    host: /^(?:[a-z][a-z0-9+.-]*:)?\/\//i.test(location) ? url.host : host,
  };
}
