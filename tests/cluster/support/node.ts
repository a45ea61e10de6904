/**
 * A node of a cluster: kubelet, containerd, runc and kube-proxy, in Linux namespaces. The files of the node are in the
 * folder of the cluster, so they outlive a reboot.
 *
 * Permissions: read and write (temp folder), run (nsenter, setpriv, the programs).
 *
 * @module
 */
import { builtProgram } from "../../../scripts/orchestrator/binaries.ts";
import { removeGroups } from "./control_groups.ts";
import type { ControlPlane } from "./control_plane.ts";
import { containerdConfig, kubeletConfig, kubeletFlags, kubeProxyFlags, podNetwork } from "./files.ts";
import { type InnerProgram, layWire, Namespaces } from "./namespaces.ts";
import type { ClusterNetwork } from "./network.ts";

/** Settings of a node. */
export interface NodeOptions {
  /** Number of the node, from 1; the name is `nodeN`. */
  readonly number: number;
  /** Number of nodes of the cluster. */
  readonly nodes: number;
  /** The plugin that connects pods. */
  readonly plugin: "bridge" | "ptp";
  /** Archives of images for the container runtime. */
  readonly images: readonly string[];
}

/** Programs of a node, in the order of their start. */
type NodeProgram = "containerd" | "kubelet" | "kube-proxy";

/** Longest wait for the container runtime, in steps of 100 ms. */
const RUNTIME_TRIES = 300;

/** Processors that the node reports. The host has fewer, and pods request whole processors that they hardly use. */
const PROCESSORS = 16;

/** The node has these folders to itself: mounts hide the host's folders. `/etc` is an overlay over the host's files. */
const OWN_FOLDERS = ["/var/lib", "/var/log", "/opt"];

/**
 * Gives the control group of all pods more CPU weight. With the usual weight all pods together get as much of a busy
 * machine as one process outside, and probes of pods fail.
 */
const POD_WEIGHT = `group=/sys/fs/cgroup/cpu/k8s.io
if [ -d /sys/fs/cgroup/cpu ]; then mkdir -p "$group" && echo 8192 > "$group/cpu.shares"; fi`;

export class ClusterNode {
  readonly name: string;
  readonly address: string;
  readonly folder: string;
  readonly #plane: ControlPlane;
  readonly #network: ClusterNetwork;
  readonly #options: NodeOptions;
  readonly #running = new Map<NodeProgram, InnerProgram>();
  #namespaces: Namespaces | undefined;

  /** @param folder Folder of the cluster. */
  constructor(plane: ControlPlane, folder: string, network: ClusterNetwork, options: NodeOptions) {
    this.name = `node${options.number}`;
    this.address = network.node(options.number);
    this.folder = `${folder}/${this.name}`;
    this.#plane = plane;
    this.#network = network;
    this.#options = options;
  }

  /** The namespaces of the running node. */
  get namespaces(): Namespaces {
    if (this.#namespaces === undefined) throw new Error(`${this.name} does not run`);
    return this.#namespaces;
  }

  /** Writes the node's files, starts the container runtime, and loads the images. */
  async prepare(): Promise<void> {
    for (const path of ["etc-upper", "etc-work", ...OWN_FOLDERS.map((path) => path.slice(1).replace("/", "-"))]) {
      await Deno.mkdir(`${this.folder}/${path}`, { recursive: true });
    }
    await this.#writeFiles();
    await this.#boot();
    for (const image of this.#options.images) await this.shell(`ctr -n k8s.io images import ${image} >/dev/null`);
  }

  /** Starts the kubelet and kube-proxy. The API server must be ready. */
  startKubelet(): void {
    const kubeconfig = `${this.folder}/kubelet.kubeconfig`;
    const config = `${this.folder}/kubelet.json`;
    this.#start("kubelet", builtProgram("kubelet")!, kubeletFlags(config, kubeconfig, this.name, this.address));
    const admin = `${this.folder}/../control/admin.kubeconfig`;
    this.#start("kube-proxy", builtProgram("kube-proxy")!, kubeProxyFlags(admin, this.name, this.#network));
  }

  /** A running program of the node. */
  program(name: NodeProgram): InnerProgram {
    const program = this.#running.get(name);
    if (program === undefined) throw new Error(`${name} does not run on ${this.name}`);
    return program;
  }

  /** Stops a program and starts it again. Containers run on. */
  async restart(name: NodeProgram, signal: "TERM" | "KILL" = "TERM"): Promise<void> {
    await this.program(name).stop(signal);
    if (name === "containerd") return await this.#startRuntime();
    await this.program("kube-proxy").stop("KILL");
    this.startKubelet();
  }

  /**
   * Ends every process and the network of the node at once, and boots the node again. Files stay. The shell script
   * `/var/lib/boot.sh`, if there, runs before the kubelet starts.
   */
  async reboot(): Promise<void> {
    const containers = await this.containers();
    await this.end();
    // The kubelet waits seconds for each group of a container without processes.
    await removeGroups(containers);
    await this.#boot();
    await this.shell("if [ -f /var/lib/boot.sh ]; then sh -e /var/lib/boot.sh; fi");
    this.startKubelet();
  }

  /** Runs a shell script on the node. @returns standard output */
  async shell(script: string): Promise<string> {
    return await this.namespaces.shell(script);
  }

  /** Names of the containers, also of ended containers. None if the runtime does not answer. */
  async containers(): Promise<readonly string[]> {
    return (await this.shell("ctr -n k8s.io containers ls -q").catch(() => "")).split("\n").filter((id) => id !== "");
  }

  async end(): Promise<void> {
    await this.#namespaces?.end();
    this.#namespaces = undefined;
    this.#running.clear();
  }

  async #boot(): Promise<void> {
    this.#namespaces = await Namespaces.make();
    await this.shell(this.#mounts());
    await this.shell(POD_WEIGHT);
    await this.#plug();
    await this.#startRuntime();
  }

  async #startRuntime(): Promise<void> {
    this.#start("containerd", "containerd", ["--config", `${this.folder}/containerd.toml`]);
    for (let tries = 1;; tries++) {
      if (await this.shell("ctr version").then(() => true, () => false)) return;
      if (tries === RUNTIME_TRIES) {
        throw new Error(`containerd does not answer:\n${await this.program("containerd").log()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  #start(name: NodeProgram, path: string, args: readonly string[]): void {
    this.#running.set(name, this.namespaces.start(name, path, args, this.folder));
  }

  /** The node's view of the file system. */
  #mounts(): string {
    const { folder } = this;
    const binds = OWN_FOLDERS.map((path) => `mount --bind ${folder}/${path.slice(1).replace("/", "-")} ${path}`);
    return [
      `hostname ${this.name}`,
      // The network namespace of the node has a separate view of /sys. The control groups are the host's.
      `mkdir -p ${folder}/cgroup && mount --rbind /sys/fs/cgroup ${folder}/cgroup`,
      "mount -t sysfs sysfs /sys",
      `mount --rbind ${folder}/cgroup /sys/fs/cgroup`,
      ...processors(),
      "mount -t tmpfs tmpfs /run",
      "mkdir -p /run/containerd /run/lock",
      `mount -t overlay overlay -o lowerdir=/etc,upperdir=${folder}/etc-upper,workdir=${folder}/etc-work /etc`,
      ...binds,
      "mkdir -p /opt/cni/bin /etc/cni/net.d /var/lib/kubelet /var/lib/containerd /var/log/pods /var/log/containers",
      "cp -n /usr/lib/cni/* /opt/cni/bin/",
      `[ -e /etc/cni/net.d/.made ] || { cp ${folder}/10-pods.conflist /etc/cni/net.d/ && touch /etc/cni/net.d/.made; }`,
      "mount --make-rshared /",
    ].join("\n");
  }

  /** Connects the node to the bridge of the control plane, and sets the routes to the pods of all nodes. */
  async #plug(): Promise<void> {
    const { number, nodes } = this.#options;
    const { control } = this.#network;
    await this.#plane.namespaces.shell(`ip link del ${this.name} 2>/dev/null || true`);
    const ours = { pid: this.namespaces.pid, device: "eth0" };
    await layWire({ pid: this.#plane.namespaces.pid, device: this.name }, ours);
    await this.#plane.namespaces.shell([
      `ip link set ${this.name} master nodes up`,
      `ip route replace ${this.#network.podsOf(number)} via ${this.address}`,
      // The first node holds the addresses of load balancers: a test machine's kernel may lack dummy devices.
      ...number === 1 ? [`ip route replace ${this.#network.balancers} via ${this.address}`] : [],
    ].join("\n"));
    const others = Array.from({ length: nodes }, (_, i) => i + 1).filter((other) => other !== number);
    await this.shell([
      "ip link set lo up",
      `ip addr add ${this.address}/24 dev eth0`,
      "ip link set eth0 up",
      `ip route add default via ${control}`,
      ...others.map((other) => `ip route add ${this.#network.podsOf(other)} via ${this.#network.node(other)}`),
      "echo 1 > /proc/sys/net/ipv4/ip_forward",
      // kube-proxy forwards to an address of a load balancer a moment after the Service has the address. A connection that
      // comes earlier is refused. Otherwise the kernel would remember the connection, and drop each further attempt.
      `iptables -A FORWARD -d ${this.#network.balancers} -j REJECT`,
    ].join("\n"));
  }

  async #writeFiles(): Promise<void> {
    const user = await this.#plane.keys.user(`system:node:${this.name}`, ["system:nodes"]);
    const kubeconfig = await this.#plane.writeKubeconfig(`${this.name}.kubeconfig`, user);
    await Deno.copyFile(kubeconfig, `${this.folder}/kubelet.kubeconfig`);
    const network = podNetwork(this.#network.podsOf(this.#options.number), this.#options.plugin);
    const kubelet = kubeletConfig(this.#network, `${this.folder}/../control`);
    const files = {
      "containerd.toml": containerdConfig(),
      "10-pods.conflist": JSON.stringify(network, null, 2),
      "kubelet.json": JSON.stringify(kubelet, null, 2),
    };
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${this.folder}/${name}`, text);
  }
}

/** Commands that show the kubelet {@linkcode PROCESSORS} processors. */
function processors(): string[] {
  const folder = "/sys/devices/system/cpu";
  const last = PROCESSORS - 1;
  return [
    `mount -t tmpfs tmpfs ${folder}`,
    `echo 0-${last} | tee ${folder}/online ${folder}/possible ${folder}/present >/dev/null`,
    `for i in $(seq 0 ${last}); do mkdir -p ${folder}/cpu$i/topology; echo $i > ${folder}/cpu$i/topology/core_id; ` +
    `echo 0 > ${folder}/cpu$i/topology/physical_package_id; done`,
    "[ ! -d /sys/devices/system/node ] || mount -t tmpfs tmpfs /sys/devices/system/node",
  ];
}
