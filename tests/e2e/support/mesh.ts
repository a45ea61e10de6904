/**
 * A discovery server on a folder, with real Envoys attached.
 *
 * Permissions: run (envoy), net (loopback), read, write (a temporary folder), env (ENVOY).
 *
 * @module
 */
import assert from "node:assert/strict";
import { type RunningServer, startServer } from "../../../mod.ts";
import { type EnvoyIdentity, type EnvoyOptions, startEnvoy } from "../../../scripts/demo/envoy.ts";
import type { EnvoyProcess } from "../../../scripts/envoy.ts";
import { PortTaken, saysTaken } from "../../../scripts/ports.ts";
import { LISTENER, SECRET } from "../../../lib/xds/protocol/types.ts";
import { fixedPorts } from "./fixed_ports.ts";
import { ALL_PORTS_ARE_FREE } from "./own_network.ts";
import { until } from "../../patience.ts";

export { envoyPath } from "../../envoy/path.ts";

/** How an Envoy of a test differs from the usual. */
type AttachOptions =
  & Pick<EnvoyOptions, "interceptionMode" | "drainTime" | "evictionInterval" | "variables">
  & Partial<Pick<EnvoyOptions, "discoveryPort">>;

/** How a mesh of a test is made. */
export interface MeshOptions {
  /** Files of the folder, by name. */
  readonly files: Readonly<Record<string, string>>;
  readonly meshConfig?: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
  /** Services of manifests are part of the mesh. Default false. */
  readonly manifestServices?: boolean;
  /** Variables of the server for headers of providers. */
  readonly variable?: (name: string) => string | undefined;
  /**
   * Sidecars on delta ask for what their workloads call. Default: they get everything, unless the variable
   * `MESH_TEST_ON_DEMAND` is `true`, which tries all tests in the other mode.
   */
  readonly onDemand?: boolean;
}

/** A test whose sidecars have everything, or ask for what their workloads call. */
export interface TestOfModes {
  readonly name: string;
  readonly ignore: boolean;
  fn(onDemand: boolean): Promise<void>;
}

/**
 * Registers a test for both modes of sidecars: a test of outbound traffic whose clusters, routes or filters differ from
 * those of other tests. What happens behind a cluster, at a gateway or at the server's side is the same in both modes.
 */
export function testBothModes({ name, ignore, fn }: TestOfModes): void {
  for (const onDemand of [false, true]) {
    Deno.test({
      name: `${name} (${onDemand ? "a sidecar that asks" : "all resources"})`,
      ignore,
      fn: () => fn(onDemand),
    });
  }
}

/** A watch of a proxy on the page `/debug/syncz`. */
interface Watch {
  readonly sent: string;
  readonly acked: string;
  readonly lastError?: string;
}

/** A row of `/debug/syncz`. */
export interface SyncRow {
  readonly proxy: string;
  readonly protocol: string;
  readonly synced: boolean;
  readonly resources: Readonly<Record<string, Watch>>;
}

/** A server and its Envoys. */
export class TestMesh implements AsyncDisposable {
  readonly #envoys: TestEnvoy[] = [];

  private constructor(
    readonly folder: string,
    readonly server: RunningServer,
    /** Sidecars on delta ask for what their workloads call. */
    readonly onDemand: boolean,
  ) {}

  /** Starts the server. */
  static async start(
    { files, meshConfig = {}, settings = {}, manifestServices = false, variable, onDemand }: MeshOptions,
  ): Promise<TestMesh> {
    const folder = await Deno.makeTempDir({ prefix: "mesh-e2e-" });
    await Deno.mkdir(`${folder}/config`);
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/config/${name}`, text);
    await Deno.writeTextFile(`${folder}/mesh.json`, JSON.stringify(meshConfig));
    const server = await startServer({
      configDir: `${folder}/config`,
      meshConfig: `${folder}/mesh.json`,
      manifestServices,
      ...(variable ? { variable } : {}),
      // On a busy machine, an answer to a sidecar that asks may take longer than the default.
      settings: { PILOT_DEBOUNCE_AFTER: 10, MESH_CALLS_DIR: "", MESH_ON_DEMAND_TIMEOUT: 20_000, ...settings },
    });
    return new TestMesh(folder, server, onDemand ?? Deno.env.get("MESH_TEST_ON_DEMAND") === "true");
  }

  /** Attaches an Envoy. */
  async attach(
    path: string,
    identity: EnvoyIdentity,
    delta: boolean,
    options: AttachOptions = {},
  ): Promise<TestEnvoy> {
    const envoy = await TestEnvoy.start(path, this, identity, delta, options);
    this.#envoys.push(envoy);
    return envoy;
  }

  /** Writes a file of the configuration atomically. Without a text the file is removed. */
  async write(name: string, text?: string): Promise<void> {
    const target = `${this.folder}/config/${name}`;
    if (text === undefined) return await Deno.remove(target);
    await Deno.writeTextFile(`${this.folder}/new`, text);
    await Deno.rename(`${this.folder}/new`, target);
  }

  /** A debug page. */
  async page<T>(path: string): Promise<T> {
    return await (await fetch(`http://127.0.0.1:${this.server.ports.http}/debug/${path}`)).json();
  }

  /**
   * Waits until every attached Envoy has acknowledged clusters, listeners and everything else sent.
   *
   * @throws PortTaken when an Envoy could not bind a port. Other errors hold the text of every refusal.
   */
  async settled(): Promise<SyncRow[]> {
    let rows: SyncRow[] = [];
    let quiet = 0;
    await until("everything is acknowledged", async () => {
      rows = await this.page<SyncRow[]>("syncz");
      const watches = rows.flatMap((row) => Object.entries(row.resources).map(([type, w]) => ({ row, type, ...w })));
      const refused = watches.filter((w) => w.lastError);
      const texts = refused.map((w) => `${w.row.proxy} ${w.type}: ${w.lastError}`);
      if (texts.some(saysTaken)) throw new PortTaken(texts.join("\n"));
      assert.deepEqual(texts, []);
      // Only secrets in files are served: a request for others is not answered.
      const answered = watches.filter((w) => w.type !== SECRET || w.sent !== "");
      const started = rows.length === this.#envoys.length && rows.every((r) => LISTENER in r.resources);
      // Envoy requests routes after the listener, so the acknowledged state must be stable for a while.
      quiet = started && answered.every((w) => w.sent !== "" && w.sent === w.acked) ? quiet + 1 : 0;
      return quiet >= 10;
    });
    for (const envoy of this.#envoys) assert.deepEqual(await envoy.rejected(), []);
    return rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ends = await Promise.allSettled(this.#envoys.map((envoy) => envoy.stop()));
    await this.server.stop();
    await Deno.remove(this.folder, { recursive: true });
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }
}

/** A running Envoy, configured by a server. */
export class TestEnvoy {
  #end: Promise<void> | undefined;

  private constructor(private readonly running: EnvoyProcess) {}

  static async start(
    binary: string,
    { folder, server, onDemand }: TestMesh,
    { metadata = {}, ...identity }: EnvoyIdentity,
    delta: boolean,
    options: AttachOptions,
  ): Promise<TestEnvoy> {
    const discoveryPort = options.discoveryPort ?? server.ports.grpc;
    const asks = onDemand && delta && identity.type === "sidecar";
    const node = { ...identity, metadata: asks ? { ON_DEMAND: "true", ...metadata } : metadata };
    return new TestEnvoy(await startEnvoy({ ...options, binary, folder, identity: node, discoveryPort, delta }));
  }

  /** Address of the admin pages. */
  get adminAddress(): string {
    return `127.0.0.1:${this.running.adminPort}`;
  }

  /** An admin page. Undefined while the admin port is closed. */
  admin(page: string): Promise<string | undefined> {
    return this.running.page(page);
  }

  /**
   * Resolves when Envoy is live and accepts connections at a loopback port. Throws PortTaken when Envoy cannot bind the
   * port.
   */
  ready(port: number, ip = "127.0.0.1"): Promise<void> {
    return this.running.ready([`${ip}:${port}`]);
  }

  /** Envoy's own counters of rejected updates, except zeros. */
  async rejected(): Promise<string[]> {
    const stats = await this.admin("stats?filter=(update_rejected|listener_create_failure)$");
    return stats!.split("\n").filter((line) => line !== "" && !/: 0$/.test(line));
  }

  /** Stops Envoy. If Envoy crashed, now or earlier, or bound a port without a lease, the test fails. */
  stop(): Promise<void> {
    // Only once: afterwards another program may have Envoy's admin port.
    return this.#end ??= this.#stop();
  }

  async #stop(): Promise<void> {
    const listeners = await this.admin("config_dump?resource=dynamic_listeners");
    await this.running.stop();
    assert.doesNotMatch(await this.running.ended, /\[critical\]\[backtrace\]/);
    if (listeners === undefined || Deno.env.get(ALL_PORTS_ARE_FREE) === "true") return;
    assert.deepEqual(fixedPorts(listeners), [], "listeners bind ports that are not leased");
  }
}
