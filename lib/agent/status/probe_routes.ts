/**
 * The pages at which the orchestrator probes the application through the agent: `/app-health/...` and
 * `/app-lifecycle/...`. Mutual TLS and redirection keep it from asking the application itself.
 *
 * Permissions: net (the application).
 *
 * @module
 */
import { type HttpRequest, type HttpResponse, textResponse } from "../../http/message.ts";
import type { Route } from "../../http/route.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { AppProber } from "../probes/app_probers.ts";
import { HttpProber } from "../probes/http_probe.ts";
import { probeGrpc, probePort } from "../probes/port_probe.ts";
import { type ProbeAddress, probeSource } from "../probes/probe_socket.ts";
import { within } from "../probes/within.ts";

/** What the pages are made of. */
export interface ProbeRoutesInput {
  readonly probers: ReadonlyMap<string, AppProber>;
  /** Address of the application: the workload's, or a loopback address. */
  readonly host: string;
  /** Port of these pages; a probe's `Host` with it names the application's port instead. */
  readonly statusPort: number;
  /** `MESH_ENABLE_HTTP2_PROBING`. */
  readonly http2: boolean;
  /** `ENABLE_PROBE_KEEPALIVE_CONNECTIONS`. */
  readonly keepAlive: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The pages, and what closes the connections that they keep. */
export interface ProbePages {
  readonly routes: Route[];
  close(): void;
}

/**
 * The pages. An application that is well is answered for with 200, or with its own status and body; one that is not with
 * 500 and the reason; a path without a probe is 400.
 */
export function probePages(input: ProbeRoutesInput): ProbePages {
  const clients = new Map<string, HttpProber>();
  const client = (path: string) => {
    const found = clients.get(path) ?? new HttpProber(input);
    clients.set(path, found);
    return found;
  };
  const handle = async (request: HttpRequest) => {
    const path = decodeURIComponent(request.path).replace(/\/$/, "");
    const prober = input.probers.get(path);
    if (prober === undefined) {
      input.log.warn("a probe that MESH_ORCH_APP_PROBERS does not have was asked for", { path: path.slice(0, 200) });
      return textResponse(400, "MESH_ORCH_APP_PROBERS has no such probe\n");
    }
    try {
      return await within(
        { timeout: prober.timeout, signal: request.signal, clock: input.clock },
        (signal) => probe(prober.probe, request, () => client(path), input, signal),
      );
    } catch (error) {
      const reason = (error as Error).message;
      input.log.warn("a probe of the application failed", { path, reason });
      return textResponse(500, `${reason}\n`);
    }
  };
  return {
    routes: ["/app-health/*", "/app-lifecycle/*"].map((path) => ({ methods: "any" as const, path, handle })),
    close: () => clients.forEach((one) => one.close()),
  };
}

async function probe(
  what: AppProber["probe"],
  request: HttpRequest,
  client: () => HttpProber,
  input: ProbeRoutesInput,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const source = probeSource(input.host);
  const address: ProbeAddress = { host: input.host, port: what.port, ...(source === undefined ? {} : { source }) };
  if (what.type === "tcp") {
    await probePort(address, signal);
    return textResponse(200, "");
  }
  if (what.type === "grpc") {
    await probeGrpc(address, what.service, request.headers["user-agent"], signal);
    return textResponse(200, "");
  }
  const { target, secure, port } = what;
  const host = applicationHost(request.host, input.statusPort, `${bracketed(input.host)}:${port}`, port);
  const answer = await client().get({ address, target, secure, host, headers: request.headers }, signal);
  // A redirect needs a place; the caller must not go there, and knows now what it needs.
  if (answer.status >= 300 && answer.status < 400) return textResponse(200, "");
  const { status, contentType = "", body } = answer;
  const isText = /^[\x20-\x7e]+$/.test(contentType);
  return { status, headers: { "content-type": isText ? contentType : "text/plain; charset=utf-8" }, body };
}

/** @param own the application's address and port, for a request that names no host */
function applicationHost(host: string, statusPort: number, own: string, port: number): string {
  if (host === "") return own;
  const [, name, given] = /^(.*):(\d+)$/.exec(host) ?? [];
  return name !== undefined && Number(given) === statusPort ? `${name}:${port}` : host;
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
