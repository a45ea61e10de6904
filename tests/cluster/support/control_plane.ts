/**
 * The control plane of a cluster: etcd, API server, controller manager, scheduler and CoreDNS, in Linux namespaces. A
 * bridge there connects the nodes.
 *
 * Permissions: read and write (temp folder), run (nsenter, setpriv, openssl, the programs).
 *
 * @module
 */
import { builtProgram } from "../../../scripts/orchestrator/binaries.ts";
import { STORE_SOCKETS, storeFlags } from "../../orch/support/server/flags.ts";
import { kubeconfigOf } from "../../orch/support/server/kubeconfig.ts";
import { ServerKeys } from "../../orch/support/server/keys.ts";
import { API_PORT, apiServerFlags, clusterManagerFlags, corefile, schedulerFlags } from "./files.ts";
import { type InnerProgram, Namespaces } from "./namespaces.ts";
import type { ClusterNetwork } from "./network.ts";

/** Folder of the control plane's files in the folder of a cluster. */
const FOLDER = "control";

export class ControlPlane {
  readonly namespaces: Namespaces;
  readonly keys: ServerKeys;
  readonly #folder: string;
  readonly #network: ClusterNetwork;
  readonly #apiFlags: readonly string[];
  readonly #running = new Map<string, InnerProgram>();

  private constructor(
    namespaces: Namespaces,
    keys: ServerKeys,
    folder: string,
    network: ClusterNetwork,
    apiFlags: readonly string[],
  ) {
    this.namespaces = namespaces;
    this.keys = keys;
    this.#folder = folder;
    this.#network = network;
    this.#apiFlags = apiFlags;
  }

  /**
   * Starts the control plane. The API server may not be ready yet.
   *
   * @param folder Of the cluster.
   * @param apiFlags Further flags of the API server.
   */
  static async start(folder: string, network: ClusterNetwork, apiFlags: readonly string[]): Promise<ControlPlane> {
    const own = `${folder}/${FOLDER}`;
    await Deno.mkdir(own);
    const keys = await ServerKeys.make(own, [network.apiService, network.control]);
    const namespaces = await Namespaces.make();
    const plane = new ControlPlane(namespaces, keys, own, network, apiFlags);
    const admin = await keys.user("admin", ["system:masters"]);
    await Deno.writeTextFile(`${own}/admin.crt`, admin.certificate);
    await Deno.writeTextFile(`${own}/admin.key`, admin.key);
    await plane.writeKubeconfig("admin.kubeconfig", admin);
    await Deno.writeTextFile(`${own}/Corefile`, corefile(network, `${own}/admin.kubeconfig`));
    await plane.#makeBridge();
    await plane.startApi();
    return plane;
  }

  /** Starts the programs that need a ready API server. */
  startClients(): void {
    const kubeconfig = `${this.#folder}/admin.kubeconfig`;
    const built = (name: "kube-controller-manager" | "kube-scheduler" | "coredns") => builtProgram(name)!;
    this.#start("kube-controller-manager", built("kube-controller-manager"), clusterManagerFlags(kubeconfig));
    this.#start("kube-scheduler", built("kube-scheduler"), schedulerFlags(kubeconfig));
    this.#start("coredns", built("coredns"), ["-conf", `${this.#folder}/Corefile`]);
  }

  /** Starts etcd and the API server. Call the method again after both have been stopped. */
  async startApi(): Promise<void> {
    for (const socket of STORE_SOCKETS) await Deno.remove(`${this.#folder}/${socket}`).catch(() => {});
    this.#start("etcd", "etcd", storeFlags());
    this.#start("kube-apiserver", builtProgram("kube-apiserver")!, apiServerFlags(this.#network, this.#apiFlags));
  }

  /** A running program of the control plane. */
  program(name: string): InnerProgram {
    const program = this.#running.get(name);
    if (program === undefined) throw new Error(`${name} does not run in the control plane`);
    return program;
  }

  /** Writes a kubeconfig for programs inside the cluster. @returns the path */
  async writeKubeconfig(name: string, { certificate, key }: { certificate: string; key: string }): Promise<string> {
    const server = `https://${this.#network.control}:${API_PORT}`;
    const path = `${this.#folder}/${name}`;
    await Deno.writeTextFile(path, kubeconfigOf({ server, ca: this.keys.ca, identity: { cert: certificate, key } }));
    return path;
  }

  async end(): Promise<void> {
    await this.namespaces.end();
    await this.keys[Symbol.asyncDispose]();
  }

  /** Makes the bridge for the nodes. */
  async #makeBridge(): Promise<void> {
    const { control } = this.#network;
    await this.namespaces.shell([
      "hostname control",
      "ip link set lo up",
      "ip link add nodes type bridge",
      `ip addr add ${control}/24 dev nodes`,
      "ip link set nodes up",
      "echo 1 > /proc/sys/net/ipv4/ip_forward",
    ].join("\n"));
  }

  #start(name: string, path: string, args: readonly string[]): void {
    this.#running.set(name, this.namespaces.start(name, path, args, this.#folder));
  }
}
