/**
 * HTTP probes as kubelet makes them: redirects are followed on the same host, certificates are not verified.
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
/** Statuses that a client follows. */
const FOLLOWED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that belong to one connection or to a body, or that the request says itself. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  ...["connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade"],
]);

export interface HttpProbe extends ProbeRequest {
  readonly address: ProbeAddress;
}

/** Probes one application by requests; its connection is kept where it is to be. */
export class HttpProber {
  readonly #speech: ProbeSpeech;
  #idle: { readonly connection: ProbeConnection; readonly to: string } | undefined;

  constructor(speech: ProbeSpeech) {
    this.#speech = speech;
  }

  /** Closes the connection that is kept. */
  close(): void {
    this.#idle?.connection.close();
    this.#idle = undefined;
  }

  /**
   * Makes a request, and those to which the answers lead on the same host. A redirect elsewhere is the answer.
   *
   * @throws Error saying why there is no answer; the signal's reason when it aborts
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
        // The application may have closed a connection that was idle.
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
 * The next request; undefined: the redirect leads to another host.
 *
 * @throws Error for a place that is no URL of HTTP
 */
function redirected(probe: HttpProbe, location: string): HttpProbe | undefined {
  const { address, secure, target, host } = probe;
  const own = isIPv6(address.host) ? `[${address.host}]` : address.host;
  let url: URL;
  try {
    url = new URL(location, `${secure ? "https" : "http"}://${own}:${address.port}${target}`);
  } catch {
    throw new Error(`a redirect to ${JSON.stringify(location.slice(0, 200))}, which is no URL`);
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
    // A redirect that names no host is to the same one.
    host: /^(?:[a-z][a-z0-9+.-]*:)?\/\//i.test(location) ? url.host : host,
  };
}
