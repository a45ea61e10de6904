/**
 * The installer as a service on a node: installs and restores the plugin, serves health, metrics and the plugin's log,
 * repairs pods, and leaves the node in good order.
 *
 *     flags, variables ─> desired ─> installer ─> node's folders
 *     node's folders, credentials ─watch─┘        │ ready?
 *     orchestrator ─pods─> repair          /readyz, metrics
 *
 * Permissions: net (listen addresses, the orchestrator's API), read and write (the node's folders, as mounted), and the
 * permissions of in-place repair.
 *
 * @module
 */
import type { Kernel } from "../kernel/kernel.ts";
import { type Ambient, ambientAgent, type AmbientNodeOptions } from "./ambient/start.ts";
import type { Logger } from "../kernel/log/log.ts";
import { Installer } from "./install/loop.ts";
import type { NodeFolders } from "./install/installer.ts";
import { readOrchConfig } from "./install/orch_config.ts";
import { currentDesiredState, type DesiredStateOptions, keepsExecutable } from "./install/desired_state.ts";
import { systemFileCalls } from "./node/file_calls.ts";
import { RestPods } from "./pods/rest.ts";
import type { PodSource } from "./pods/source.ts";
import { systemRedirector } from "./plugin/system_redirector.ts";
import type { RepairOptions } from "./repair/broken.ts";
import type { RepairPlace } from "./repair/in_place.ts";
import { type RepairWorld, runRepair } from "./repair/repair.ts";
import { type NodeIntrospection, type NodePorts, serveNode } from "./serve/servers.ts";

/** How the service is started. Ports of 0 are chosen by the system. */
export interface NodeAgentOptions {
  readonly folders: NodeFolders;
  readonly desired: DesiredStateOptions;
  readonly healthPort: number;
  readonly monitoringPort: number;
  /** Only clients of this machine get metrics. */
  readonly metricsLocalOnly: boolean;
  /**
   * Host names allowed in requests for metrics in this case, in addition to addresses and localhost (MESH_DEBUG_HOSTS).
   */
  readonly names: readonly string[];
  /** Pages about the process. Absent: none. */
  readonly introspection?: NodeIntrospection;
  /** Undefined: pods are not repaired. */
  readonly repair: RepairOptions | undefined;
  /** The node whose pods are redirected in place, instead of this node. */
  readonly repairPlace?: Partial<RepairPlace>;
  /** Name of the cluster, for metrics (CLUSTER_ID). */
  readonly cluster: string;
  /** Undefined: no ambient mode on this node. */
  readonly ambient?: AmbientNodeOptions;
  /** Instead of the orchestrator's API. */
  readonly pods?: PodSource;
}

/** A running service. */
export interface NodeAgent {
  readonly installer: Installer;
  readonly ports: NodePorts;
}

/** The folder of the pods' network namespaces, mounted from the node. */
export const NAMESPACES = "/var/run/netns";

/** Longest wait for the orchestrator's word on whether another installer comes, milliseconds. */
const LEAVE_MS = 4000;

/**
 * Starts the service. Its parts end by the kernel's stopper.
 * @throws {TemplateError} When the template of the network configuration cannot be used.
 * @throws {NodeAgentStartError} When ports or the run folder cannot be used: all faults at once.
 */
export async function startNodeAgent(options: NodeAgentOptions, kernel: Kernel): Promise<NodeAgent> {
  const log = kernel.log.scope("cni-agent");
  const { folders } = options;
  const desired = () => currentDesiredState(options.desired);
  const pods = options.pods ?? new RestPods(() => readOrchConfig(desired().orchConfig), kernel.log.scope("klog"));
  const installer = new Installer({
    folders,
    credentials: options.desired.credentials,
    desired,
    keepExecutable: keepsExecutable(options.desired),
    calls: systemFileCalls,
    clock: kernel.clock,
    log,
    metrics: kernel.metrics,
    runFolderMade: () => ports.renewSocket(),
  });
  const { scopedLock, excludeNamespaces } = options.desired;
  const ambient = options.ambient && ambientAgent(options.ambient, { runDir: folders.run, scopedLock }, pods, kernel);
  const notReady = () => ambient?.agent.notReady ?? installer.notReady;
  const ports = await serveNode({ ...options, runDir: folders.run }, kernel, pods, notReady, ambient?.agent);
  const place = {
    namespaces: NAMESPACES,
    redirector: () => systemRedirector({ scopedLock, factsFile: undefined }),
    ...{ excludeNamespaces, ...options.repairPlace },
  };
  if (options.repair !== undefined) startRepair(options.repair, { pods, cluster: options.cluster, place }, kernel);
  kernel.stopper.add("installer", async () => {
    const how = await howToLeave(options.desired, pods, kernel);
    await installer.stop();
    installer.leave(how);
    if (ambient !== undefined) await leaveAmbient(ambient, how, log);
  });
  if (ambient === undefined) installer.start();
  // Until then the plugin of an earlier run keeps pods in ambient mode without network.
  else startAmbient(ambient, log, () => installer.start());
  return { installer, ports };
}

/** Starts the agent. The plugin is installed when the agent has brought in the node's pods. */
function startAmbient({ agent }: Ambient, log: Logger, ready: () => void): void {
  agent.start().then(ready, (error) => log.error("the ambient node agent cannot start", { error }));
}

/** Rules of pods stay in either case: without them the pods would leave the mesh. */
async function leaveAmbient({ agent, leaveForGood }: Ambient, how: Leaving, log: Logger): Promise<void> {
  await agent.stop();
  if (how !== "for good") return;
  await leaveForGood().catch((error) => log.warn("the exemption of probes cannot be taken away", { error }));
}

function startRepair(
  options: RepairOptions,
  node: Pick<RepairWorld, "pods" | "cluster" | "place">,
  kernel: Kernel,
): void {
  const log = kernel.log.scope("cni-agent");
  const ended = new AbortController();
  const { clock, metrics } = kernel;
  const running = runRepair(options, { ...node, clock, log, metrics }, ended.signal)
    .catch((error) => log.error("repair of pods ended", { error }));
  kernel.stopper.add("repair", async () => {
    ended.abort(new Error("stopped"));
    await running;
  });
}

/** Whether another installer comes, with the reason. */
type Leaving = { readonly handOver: string } | "for good";

/**
 * For good only if the user says so, or if the orchestrator reports that the installer's daemon set is gone or going. A restart of the node, an
 * upgrade, and an unreachable orchestrator leave the plugin in place: without the plugin pods would start outside of
 * the mesh.
 */
async function howToLeave(
  desired: DesiredStateOptions,
  pods: PodSource,
  kernel: Kernel,
): Promise<Leaving> {
  const log = kernel.log.scope("cni-agent");
  if (desired.leavesForGood === true) return "for good";
  if (desired.podName === "") {
    return { handOver: "POD_NAME is not set, so it is not known whether another installer comes" };
  }
  const late = AbortSignal.timeout(LEAVE_MS);
  const never = new Promise<never>((_, reject) =>
    late.addEventListener("abort", () => reject(late.reason), { once: true })
  );
  try {
    const stays = await Promise.race([pods.setStays(desired.podNamespace, desired.podName), never]);
    return stays ? { handOver: "the daemon set stays: another installer is expected" } : "for good";
  } catch (error) {
    log.warn("the orchestrator did not say whether another installer comes", { error });
    return { handOver: "the orchestrator did not say whether another installer comes" };
  }
}
