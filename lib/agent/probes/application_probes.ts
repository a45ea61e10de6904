/**
 * Probes of the application in the orchestrator's place.
 *
 * Permissions: net (the application).
 *
 * @module
 */
import { bracketed } from "../../kernel/text/host.ts";
import { type HttpRequest, type HttpResponse, textResponse } from "../../http/message.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { AppProber } from "../../config/agent_texts/app_probers.ts";
import { HttpProber } from "./http_probe.ts";
import { probeGrpc, probePort } from "./port_probe.ts";
import { type ProbeAddress, probeSource } from "./probe_socket.ts";
import { within } from "./within.ts";

/** How the application is reached. */
export interface ApplicationProbesInput {
  /** Address of the application: the workload's, or a loopback address. */
  readonly host: string;
  /** The agent's port for probes. A `Host` header with this port names the application's port instead. */
  readonly statusPort: number;
  /** `MESH_ENABLE_HTTP2_PROBING`. */
  readonly http2: boolean;
  /** `ENABLE_PROBE_KEEPALIVE_CONNECTIONS`. */
  readonly keepAlive: boolean;
  readonly clock: Clock;
}

/** The probes of one application. */
export class ApplicationProbes {
  readonly #input: ApplicationProbesInput;
  /** By the path of the status port. */
  readonly #clients = new Map<string, HttpProber>();

  constructor(input: ApplicationProbesInput) {
    this.#input = input;
  }

  /** The application's answer. @throws {Error} With the reason, if no answer comes in time. */
  probe(path: string, { timeout, probe }: AppProber, request: HttpRequest): Promise<HttpResponse> {
    return within(
      { timeout, signal: request.signal, clock: this.#input.clock },
      (signal) => this.#ask(path, probe, request, signal),
    );
  }

  /** Closes kept connections. */
  close(): void {
    this.#clients.forEach((one) => one.close());
  }

  async #ask(
    path: string,
    what: AppProber["probe"],
    request: HttpRequest,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const { host: own, statusPort } = this.#input;
    const source = probeSource(own);
    const address: ProbeAddress = { host: own, port: what.port, ...(source === undefined ? {} : { source }) };
    if (what.type === "tcp") {
      await probePort(address, signal);
      return textResponse(200, "");
    }
    if (what.type === "grpc") {
      await probeGrpc(address, what.service, request.headers["user-agent"], signal);
      return textResponse(200, "");
    }
    const { target, secure, port } = what;
    const host = applicationHost(request.host, statusPort, `${bracketed(own)}:${port}`, port);
    const client = this.#clients.getOrInsertComputed(path, () => new HttpProber(this.#input));
    const answer = await client.get({ address, target, secure, host, headers: request.headers }, signal);
    // A redirect to another host counts as success for kubelet. The answer is 200, so that kubelet does not follow it.
    if (answer.status >= 300 && answer.status < 400) return textResponse(200, "");
    const { status, contentType = "", body } = answer;
    const isText = /^[\x20-\x7e]+$/.test(contentType);
    return { status, headers: { "content-type": isText ? contentType : "text/plain; charset=utf-8" }, body };
  }
}

/** @param own The application's address and port, for a request without a host. */
function applicationHost(host: string, statusPort: number, own: string, port: number): string {
  if (host === "") return own;
  const [, name, given] = /^(.*):(\d+)$/.exec(host) ?? [];
  return name !== undefined && Number(given) === statusPort ? `${name}:${port}` : host;
}
