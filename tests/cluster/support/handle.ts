/**
 * A running cluster for tests: kubectl, objects of the API, and shells on the nodes.
 *
 * Permissions: net (127.0.0.1), env (HOME, XDG_CACHE_HOME), read (the folder of the cluster), write (its socket), run
 * (nsenter, kubectl).
 *
 * @module
 */
import type { ApiAccess } from "../../../lib/orch/client/access.ts";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import { builtProgram } from "../../../scripts/orchestrator/binaries.ts";
import { ApiObjects } from "../../orch/support/server/objects.ts";
import { clientOf } from "../../orch/support/server/users.ts";
import { type ClusterState, CONTROL_SOCKET, STATE_FILE } from "./control_server.ts";
import { shellAt } from "./namespaces.ts";
import { type ClusterNetwork, clusterNetwork } from "./network.ts";

/** Exit state and output of a program. */
export interface ProgramEnd {
  readonly success: boolean;
  readonly out: string;
  readonly err: string;
}

export class ClusterHandle {
  readonly kubeconfig: string;
  readonly client: ApiClient;
  readonly objects: ApiObjects;

  /** @param folder Folder of the cluster. */
  constructor(readonly folder: string) {
    this.kubeconfig = `${folder}/kubeconfig`;
    this.client = clientOf(accessOf(this.kubeconfig));
    this.objects = new ApiObjects(this.client);
  }

  /** Names of the nodes. */
  get nodes(): readonly string[] {
    return this.#state().nodes.map(({ name }) => name);
  }

  /**
   * Runs kubectl as the administrator.
   *
   * @param input Standard input.
   * @returns standard output
   * @throws {Error} with the message of kubectl
   */
  async kubectl(args: readonly string[], input?: string): Promise<string> {
    const { success, out, err } = await this.tryKubectl(args, input);
    if (!success) throw new Error(`kubectl ${args.join(" ")}: ${err}${out}`);
    return out;
  }

  /** Like {@linkcode kubectl}, but returns a failure instead of throwing. */
  async tryKubectl(args: readonly string[], input?: string): Promise<ProgramEnd> {
    const child = new Deno.Command(builtProgram("kubectl")!, {
      args: [`--kubeconfig=${this.kubeconfig}`, ...args],
      stdin: input === undefined ? "null" : "piped",
      ...{ stdout: "piped", stderr: "piped" },
    }).spawn();
    if (input !== undefined) {
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(input));
      await writer.close();
    }
    return programEnd(await child.output());
  }

  /** Applies objects, as YAML or JSON, by server-side apply. */
  async apply(text: string, ...flags: readonly string[]): Promise<string> {
    return await this.kubectl(["apply", "--server-side", ...flags, "-f", "-"], text);
  }

  /** Addresses of the cluster. */
  get network(): ClusterNetwork {
    return clusterNetwork(this.#state().number);
  }

  /** Process id of the first process in the control plane's namespaces, as the host sees the process. */
  get controlPid(): number {
    return this.#state().control;
  }

  /** Runs a shell script on a node. @returns standard output */
  async onNode(name: string, script: string): Promise<string> {
    return await shellAt(this.#node(name).pid, script);
  }

  /** Runs a shell script in the control plane's namespaces, from where all addresses of pods can be reached. */
  async onControl(script: string): Promise<string> {
    return await shellAt(this.#state().control, script);
  }

  /** Sends a signal to a program of the control plane, for example STOP to `kube-apiserver`. */
  async signalControl(program: string, signal: "STOP" | "CONT" | "KILL" | "TERM"): Promise<void> {
    await this.onControl(`kill -${signal} "$(cat ${this.folder}/control/${program}.pid)"`);
  }

  /** Stops a program of a node by a signal and starts the program again. Containers run on. */
  async restart(node: string, program: "kubelet" | "containerd", signal: "TERM" | "KILL" = "TERM"): Promise<void> {
    await this.#order(`nodes/${node}/restart/${program}/${signal}`);
  }

  /** Ends every process and the network of a node at once, and boots the node again. Files stay. */
  async reboot(node: string): Promise<void> {
    await this.#order(`nodes/${node}/reboot`);
  }

  async #order(path: string): Promise<void> {
    const client = Deno.createHttpClient({ proxy: { transport: "unix", path: `${this.folder}/${CONTROL_SOCKET}` } });
    try {
      const answer = await fetch(`http://cluster/${path}`, { method: "POST", client });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path}: ${text}`);
    } finally {
      client.close();
    }
  }

  #state(): ClusterState {
    return JSON.parse(Deno.readTextFileSync(`${this.folder}/${STATE_FILE}`));
  }

  #node(name: string): ClusterState["nodes"][number] {
    const node = this.#state().nodes.find((node) => node.name === name);
    if (node === undefined) throw new Error(`the cluster has no node ${name}`);
    return node;
  }
}

/** Reads the access to the API server from a kubeconfig in JSON. */
function accessOf(path: string): ApiAccess {
  const { clusters: [{ cluster }], users: [{ user }] } = JSON.parse(Deno.readTextFileSync(path));
  const identity = { cert: atob(user["client-certificate-data"]), key: atob(user["client-key-data"]) };
  return { server: cluster.server, ca: atob(cluster["certificate-authority-data"]), identity };
}

function programEnd({ success, stdout, stderr }: Deno.CommandOutput): ProgramEnd {
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { success, out: out!, err: err! };
}
