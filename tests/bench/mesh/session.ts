/**
 * A server and a load generator, with the measurements of both.
 *
 * Permissions: run (this runtime, cat), net (loopback), write (temporary folder).
 *
 * @module
 */
import type { KeySpec } from "../../../lib/pki/public_key.ts";
import type { BenchApi } from "./api.ts";
import type { Calibrator } from "./calibrator.ts";
import { configuration, type Edits, extendedMesh, namespaceFile } from "./configuration.ts";
import { GRANTED_MARKER, grantFile, LABELLED_MARKER, routesFile, tenantFile } from "./gateway_routes.ts";
import type { Counters, LoadOptions } from "./load/protocol.ts";
import { type LoadChild, startLoad } from "./load_child.ts";
import { type BenchCertificates, benchCertificates } from "./certificates.ts";
import { quantile } from "./result.ts";
import { type ServerChild, type ServerOptions, type ServerUsage, startServer } from "./server_child.ts";
import { delay } from "./usage.ts";

/** Options of a session. */
export interface SessionOptions
  extends Omit<LoadOptions, "target" | "tls">, Omit<ServerOptions, "tls" | "authority" | "meshConfig"> {
  /** Proxies connect over mutual TLS. Default: in plain text. */
  readonly mutualTls?: boolean;
  /** The server has an editable file of the mesh configuration. Default false. */
  readonly editsMesh?: boolean;
  /** Key of the root of all certificates. Default: P-256. */
  readonly authorityKey?: KeySpec;
  /** An API server with the mesh in the shape of `shape`. Default: the mesh is in a folder. */
  readonly api?: BenchApi;
  /** Work that belongs to the start: runs from the readiness of the server on, before the server is at rest. */
  readonly started?: () => Promise<void>;
  /** Measures how fast the machine is beside each step. */
  readonly calibrator: Calibrator;
}

/** The cost of a step for the server, and the received messages of the proxies. */
export interface Measured extends Counters {
  readonly cpu: number;
  /** Milliseconds from the start to each proxy. */
  readonly ms: { readonly p50: number; readonly p99: number; readonly last: number };
  /** Number of reached proxies. */
  readonly reached: number;
  readonly resident: number;
  readonly peak: number;
  /** Longest delay of the server's event loop during the step, ms. */
  readonly delay: number;
  /** CPU seconds of the calibration just before and after the step. */
  readonly calibration: number;
}

/** How long no message may come before a step counts as over, ms. */
const QUIET = 1000;

export class Session {
  #edits: Edits = {};
  #round = 0;

  private constructor(
    readonly options: SessionOptions,
    /** The temporary folder. */
    readonly base: string,
    readonly server: ServerChild,
    private readonly load: LoadChild,
    /** CPU seconds of the calibration around the server's start. */
    readonly startCalibration: number,
    /** Certificates of the proxies for mutual TLS. */
    readonly certificates: BenchCertificates | undefined,
  ) {}

  /** Starts a server on a new folder of configuration, and an unconnected load generator. */
  static async start(options: SessionOptions): Promise<Session> {
    const base = await Deno.makeTempDir({ prefix: "mesh-bench-" });
    await Deno.mkdir(`${base}/live`);
    const { mutualTls, shape, authorityKey, editsMesh, api } = options;
    const files = api === undefined ? configuration(shape) : [];
    for (const [name, text] of files) await Deno.writeTextFile(`${base}/live/${name}`, text);
    const meshConfig = `${base}/mesh.yaml`;
    const mesh = editsMesh ? meshText("format-0") : shape.extended ? extendedMesh(shape) : undefined;
    if (mesh !== undefined) await Deno.writeTextFile(meshConfig, mesh);
    const tls = mutualTls ? await benchCertificates(base, shape.namespaces, authorityKey) : undefined;
    options.calibrator.pause();
    const { result: server, calibration } = await options.calibrator.beside(async () => {
      const started = await startServer(api ?? { folder: `${base}/live` }, {
        ...options,
        ...tls && { tls: tls.files, authority: tls.authority },
        ...mesh !== undefined && { meshConfig },
      });
      await options.started?.();
      await started.idle();
      return started;
    });
    const load = await startLoad({ ...options, ...tls && { tls: tls.load }, target: server.target });
    return new Session(options, base, server, load, calibration, tls);
  }

  /** All proxies connect, so many at a time; default: all. */
  connect(atOnce?: number): Promise<Measured> {
    return this.#step(() => this.load.run({ do: "connect", ...atOnce !== undefined && { atOnce } }));
  }

  /** All proxies disconnect, and reconnect with their versions, so many at a time; default: all. */
  async reconnect(atOnce?: number): Promise<Measured> {
    await this.load.run({ do: "disconnect" });
    await delay(QUIET);
    await this.server.idle();
    return await this.connect(atOnce);
  }

  /** The header in the match of a route rule changes. @param by Number of proxies that hold the rule. Default: all. */
  changeRoute(by?: number): Promise<Measured> {
    const canary = `canary-${this.#nextRound()}`;
    return this.#edit({ canary }, 0, canary, by);
  }

  /** An endpoint moves to another address. */
  changeEndpoint(): Promise<Measured> {
    const address = `172.40.200.${this.#nextRound()}`;
    const { api, proxies } = this.options;
    if (api !== undefined) return this.#edited(address, proxies, () => api.changeEndpoint(address));
    return this.#edit({ address }, (this.options.shape.services - 1) % this.options.shape.namespaces, address);
  }

  /** The header in the match of a route at the Gateway changes. */
  async changeGatewayRoute(): Promise<Measured> {
    const routed = `canary-${this.#nextRound()}`;
    const { shape, api, proxies } = this.options;
    if (api !== undefined) return await this.#edited(routed, proxies, () => api.changeGatewayRoute(routed));
    await Deno.writeTextFile(`${this.base}/next`, routesFile(shape, 0, { routed }));
    return await this.#edited(
      routed,
      proxies,
      () => Deno.rename(`${this.base}/next`, `${this.base}/live/routes-0.yaml`),
    );
  }

  /** A ReferenceGrant opens the backend of a hundred routes at the Gateway. */
  changeGrant(): Promise<Measured> {
    return this.#admit("grant.yaml", grantFile, GRANTED_MARKER);
  }

  /** The label of a namespace admits its hundred routes at the Gateway. */
  changeNamespaceLabel(): Promise<Measured> {
    return this.#admit("tenant.yaml", tenantFile, LABELLED_MARKER);
  }

  /** Takes routes away, and measures how they come back. */
  async #admit(file: string, textOf: (admitted: boolean) => string, marker: string): Promise<Measured> {
    const write = async (admitted: boolean) => {
      await Deno.writeTextFile(`${this.base}/next`, textOf(admitted));
      await Deno.rename(`${this.base}/next`, `${this.base}/live/${file}`);
    };
    await write(false);
    await this.load.run({ do: "quiet", ms: QUIET });
    await this.server.idle();
    return await this.#edited(marker, this.options.proxies, () => write(true));
  }

  /** A service gets another address, which changes an entry in the table of names. */
  changeServiceAddress(): Promise<Measured> {
    const serviceAddress = `10.99.200.${this.#nextRound()}`;
    return this.#edit({ serviceAddress }, 0, serviceAddress);
  }

  /** A policy admits another path. Only the proxy of its service gets the change. */
  changePolicy(): Promise<Measured> {
    const admitted = `/api-${this.#nextRound()}`;
    return this.#edit({ admitted }, 0, admitted, 1);
  }

  /** The Telemetry of a workload logs other requests. */
  changeTelemetry(): Promise<Measured> {
    const logged = `/logged-${this.#nextRound()}`;
    return this.#edit({ logged }, 0, logged, 1);
  }

  /** The mesh configuration gets another format of access logs: every listener changes, and everything is rebuilt. */
  async changeMesh(): Promise<Measured> {
    const format = `format-${this.#nextRound()}`;
    await Deno.writeTextFile(`${this.base}/next`, meshText(format));
    await this.load.run({ do: "expect", marker: format, by: this.options.proxies });
    return await this.#step(async () => {
      await Deno.rename(`${this.base}/next`, `${this.base}/mesh.yaml`);
      return await this.load.run({ do: "seen" });
    });
  }

  /**
   * Like {@linkcode changeRoute}, without waiting until the server is at rest, so the server may be under a flood.
   *
   * @returns milliseconds to each proxy, and the server's longest delay since the measurement before
   */
  async changeRouteUnderLoad(): Promise<{ readonly ms: readonly number[]; readonly delay: number }> {
    const canary = `canary-${this.#nextRound()}`;
    await this.#write({ canary }, 0);
    await this.load.run({ do: "expect", marker: canary, by: this.options.proxies });
    await this.#rename(0);
    const started = Date.now();
    const { times, errors } = await this.load.run({ do: "seen" });
    if (errors.length > 0 || times.length !== this.options.proxies) {
      throw new Error(`${times.length} of ${this.options.proxies} proxies saw the edit; ${errors.join("; ")}`);
    }
    return { ms: times.map((time) => time - started), delay: (await this.server.measure()).delay };
  }

  /** The server's memory at rest. */
  async restingMemory(): Promise<ServerUsage> {
    const steady = 5;
    let before = await this.server.measure();
    let longest = before.delay;
    for (let calm = 0, i = 0; calm < steady && i < 30; i++) {
      await delay(2000);
      const now = await this.server.measure();
      calm = Math.abs(now.resident - before.resident) < 1 ? calm + 1 : 0;
      longest = Math.max(longest, now.delay);
      before = now;
    }
    return { ...before, delay: longest };
  }

  /** Ends both processes and removes the folder. */
  async stop(): Promise<void> {
    await this.load.stop();
    await this.server.stop();
    await Deno.remove(this.base, { recursive: true });
  }

  /** Three digits, so that no round's text is a prefix of another's. */
  #nextRound(): number {
    return 100 + this.#round++;
  }

  /** @param by Number of proxies that get the marker. */
  async #edit(edit: Edits, namespace: number, marker: string, by = this.options.proxies): Promise<Measured> {
    await this.#write(edit, namespace);
    return await this.#edited(marker, by, () => this.#rename(namespace));
  }

  async #edited(marker: string, by: number, edit: () => Promise<void>): Promise<Measured> {
    await this.load.run({ do: "expect", marker, by });
    return await this.#step(async () => {
      await edit();
      return await this.load.run({ do: "seen" });
    });
  }

  /** Writes the changed file beside the folder. */
  async #write(edit: Edits, namespace: number): Promise<void> {
    this.#edits = { ...this.#edits, ...edit };
    await Deno.writeTextFile(`${this.base}/next`, namespaceFile(this.options.shape, namespace, this.#edits));
  }

  /** Moves the changed file into place. */
  async #rename(namespace: number): Promise<void> {
    await Deno.rename(`${this.base}/next`, `${this.base}/live/ns-${namespace}.yaml`);
  }

  /** Measures a step from its beginning until the server is at rest, with calibrations before and after. */
  async #step(work: () => Promise<{ readonly times: readonly number[] }>): Promise<Measured> {
    const { result, calibration } = await this.options.calibrator.beside(async () => {
      const { cpu: before } = await this.server.measure();
      const started = Date.now();
      const { times } = await work();
      const counters = await this.load.run({ do: "quiet", ms: QUIET });
      await this.server.idle();
      const { cpu, resident, peak, delay } = await this.server.measure();
      const ms = times.map((time) => time - started);
      return {
        ...counters,
        cpu: cpu - before,
        ms: { p50: quantile(ms, 0.5), p99: quantile(ms, 0.99), last: quantile(ms, 1) },
        reached: times.length,
        resident,
        peak,
        delay,
      };
    });
    return { ...result, calibration };
  }
}

/** @param format Of the lines in access logs. */
function meshText(format: string): string {
  return `accessLogFile: /dev/stdout\naccessLogFormat: "${format} %RESPONSE_CODE%\\n"\n`;
}
