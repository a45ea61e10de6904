/**
 * A real API server with a store of its own, for tests.
 *
 * Permissions: env (GO, HOME, XDG_CACHE_HOME), read and write (temp folder), net (loopback), run (deno, etcd, openssl,
 * setpriv, the server).
 *
 * @module
 */
import type { ApiAccess } from "../../../../lib/orch/client/access.ts";
import type { ApiClient } from "../../../../lib/orch/client/client.ts";
import { builtProgram } from "../../../../scripts/orchestrator/binaries.ts";
import { PortLease, PortTaken, saysTaken } from "../../../../scripts/ports.ts";
import { managerFlags, serverFlags, STORE_SOCKETS, storeFlags } from "./flags.ts";
import { ServerKeys } from "./keys.ts";
import { ApiObjects } from "./objects.ts";
import { builtPrograms } from "./programs.ts";
import { StartedProgram } from "./program.ts";
import { kubeconfigOf } from "./kubeconfig.ts";
import { clientOf, ServerUsers } from "./users.ts";

/** How a server is to be. */
export interface ApiServerOptions {
  /** With a controller manager: slices, certificates and garbage are taken care of. Default: without. */
  readonly controllerManager?: boolean;
  /** Further flags of the API server. */
  readonly flags?: readonly string[];
  /** Further flags of the controller manager. */
  readonly managerFlags?: readonly string[];
}

/** Number of starts of a server while other programs take its port. */
const STARTS = 5;

/** A server that is not ready by then will never be ready, ms. */
const READY = 120_000;

/**
 * Starts a server, and builds the programs first where needed. Resolves when the server is ready.
 *
 * @throws {Error} with the end of the server's log when the server ends, or is not ready in time
 */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  await builtPrograms(options.controllerManager ? ["kube-apiserver", "kube-controller-manager"] : ["kube-apiserver"]);
  for (let starts = 1;; starts++) {
    const server = await ApiServer.make(options);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      if (!(error instanceof PortTaken) || starts === STARTS) throw error;
    }
  }
}

/** Runs until disposed of. */
export class ApiServer implements AsyncDisposable {
  /** The administrator's access. */
  readonly access: ApiAccess;
  /** The administrator's client. */
  readonly client: ApiClient;
  /** Objects that the administrator makes. */
  readonly objects: ApiObjects;
  readonly users: ServerUsers;
  /** File of the administrator's access, as kubectl reads it. */
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #lease: PortLease;
  readonly #keys: ServerKeys;
  readonly #options: ApiServerOptions;
  /** In the order of their start. */
  #running: StartedProgram[] = [];

  private constructor(
    folder: string,
    lease: PortLease,
    keys: ServerKeys,
    access: ApiAccess,
    options: ApiServerOptions,
  ) {
    this.#folder = folder;
    this.#lease = lease;
    this.#keys = keys;
    this.#options = options;
    this.access = access;
    this.client = clientOf(access);
    this.objects = new ApiObjects(this.client);
    this.users = new ServerUsers(this.objects, this.client, access, keys);
    this.kubeconfig = `${folder}/kubeconfig`;
  }

  /** A stopped server. */
  static async make(options: ApiServerOptions): Promise<ApiServer> {
    const folder = await Deno.makeTempDir({ prefix: "api-server-" });
    const lease = new PortLease(1);
    const keys = await ServerKeys.make(folder);
    const { certificate: cert, key } = await keys.user("admin", ["system:masters"]);
    const access = { server: `https://127.0.0.1:${lease.ports[0]}`, ca: keys.ca, identity: { cert, key } };
    const server = new ApiServer(folder, lease, keys, access, options);
    await Deno.writeTextFile(server.kubeconfig, kubeconfigOf(access));
    return server;
  }

  /**
   * Starts the server, again after a {@linkcode stop}: at the same address, with the same objects.
   *
   * @throws {PortTaken} when another program has the port
   */
  async start(): Promise<void> {
    const { controllerManager = false, flags = [], managerFlags: further = [] } = this.#options;
    for (const socket of STORE_SOCKETS) await Deno.remove(`${this.#folder}/${socket}`).catch(() => {});
    this.#run("etcd", "etcd", storeFlags());
    const all = [...serverFlags(this.#lease.ports[0]!, controllerManager), ...flags];
    await this.#ready(this.#run("kube-apiserver", builtProgram("kube-apiserver")!, all));
    if (!controllerManager) return;
    const path = builtProgram("kube-controller-manager")!;
    this.#run("kube-controller-manager", path, [...managerFlags(this.kubeconfig), ...further]);
  }

  /** Stops the server and its store. Objects stay. */
  async stop(how: "politely" | "at once" = "politely"): Promise<void> {
    const programs = this.#running.reverse();
    this.#running = [];
    for (const program of programs) await program.stop(how);
  }

  /** The server takes connections and answers nothing, until {@linkcode resume}. */
  pause(): void {
    this.#server().signal("SIGSTOP");
  }

  resume(): void {
    this.#server().signal("SIGCONT");
  }

  /** Makes a namespace with a name used by no other test. @returns the name */
  async namespace(labels: Readonly<Record<string, string>> = {}): Promise<string> {
    const metadata = { generateName: "test-", labels };
    return (await this.objects.create({ apiVersion: "v1", kind: "Namespace", metadata })).metadata.name;
  }

  /** The end of the API server's log. */
  async log(): Promise<string> {
    return await this.#server().log();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("at once");
    this.#lease[Symbol.dispose]();
    await this.#keys[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }

  #run(name: string, path: string, args: readonly string[]): StartedProgram {
    const program = new StartedProgram(name, path, args, this.#folder);
    this.#running.push(program);
    return program;
  }

  #server(): StartedProgram {
    const server = this.#running.find(({ name }) => name === "kube-apiserver");
    if (server === undefined) throw new Error("the API server does not run");
    return server;
  }

  async #ready(program: StartedProgram): Promise<void> {
    let ended = false;
    program.ended.then(() => ended = true);
    const deadline = performance.now() + READY;
    while (!await this.client.tell({ path: "/readyz", within: 2_000 }).then(() => true, () => false)) {
      if (ended || performance.now() > deadline) {
        const log = await program.log();
        if (ended && saysTaken(log)) throw new PortTaken(log);
        throw new Error(`the API server ${ended ? "ended" : `is not ready after ${READY / 1000} s`}:\n${log}`);
      }
      // Only an answer tells that the server is ready.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
