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
  /** Instead of the orchestrator's API. */
  readonly pods?: PodSource;
}

/** A running service. */
export interface NodeAgent {
  readonly installer: Installer;
  readonly ports: NodePorts;
}

/** The folder of the pods' network namespaces, mounted from the node. */
const NAMESPACES = "/var/run/netns";

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
  const ports = await serveNode({ ...options, runDir: folders.run }, kernel, pods, () => installer.notReady);
  const { scopedLock, excludeNamespaces } = options.desired;
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
  });
  installer.start();
  return { installer, ports };
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

/**
 * For good only if the orchestrator reports that the installer's daemon set is gone or going. A restart of the node, an
 * upgrade, and an unreachable orchestrator leave the plugin in place: without the plugin pods would start outside of
 * the mesh.
 */
async function howToLeave(
  desired: DesiredStateOptions,
  pods: PodSource,
  kernel: Kernel,
): Promise<{ handOver: string } | "for good"> {
  const log = kernel.log.scope("cni-agent");
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
