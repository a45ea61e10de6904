/**
 * Ambient mode on a cluster, by the manifests: servers, node agents, and the tests' node tunnel in the place of the
 * operator's. A test sees each connection of a captured pod in the tunnel's log.
 *
 * Permissions: those of the cluster.
 *
 * @module
 */
import type { ConnectionEvent, QuestionEvent, TunnelEvent } from "../../tunnel/path/log.ts";
import type { ClusterHandle } from "./handle.ts";
import { MESH_NAMESPACE, printManifests, rolledOut } from "./mesh.ts";
import { NODE_AGENT } from "./node_plugin.ts";
import { until } from "./waiting.ts";

const SERVER = "deployment/meshd";
const TUNNEL = "daemonset/ztunnel";

/** Label of namespaces in ambient mode. */
export const AMBIENT: Readonly<Record<string, string>> = { "mesh.io/dataplane-mode": "ambient" };

/** Values of an installation with ambient mode. */
const VALUES = {
  ambient: { enabled: true },
  tunnel: {
    ...{ image: "docker.io/local/tunnel", tag: "1", terminationGracePeriodSeconds: 6 },
    resources: { requests: { cpu: "50m", memory: "64Mi" } },
  },
};

/**
 * Switches servers to ambient mode and installs node agents, until the end of a test. Tunnels are not started.
 *
 * @param dnsCapture Whether tunnels answer DNS of captured pods. Default: yes.
 */
export async function ambientUntilEnd(cluster: ClusterHandle, dnsCapture = true): Promise<AsyncDisposable> {
  const values = { ...VALUES, ambient: { ...VALUES.ambient, dnsCapture } };
  const [servers, plugin, former] = [
    await printManifests(values, "--only=server"),
    await printManifests(values, "--only=plugin"),
    await printManifests({}, "--only=server"),
  ];
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => {
    await cluster.apply(former, "--force-conflicts");
    await rolledOut(cluster, MESH_NAMESPACE, SERVER);
  });
  stack.defer(async () => {
    // An agent that ends asks whether its set is gone. Without its rights it would leave the plugin in place.
    await deleted(cluster, NODE_AGENT, "k8s-app=mesh-cni-node");
    await cluster.kubectl(["delete", "--ignore-not-found", "-f", "-"], plugin);
  });
  await cluster.apply(servers, "--force-conflicts");
  await cluster.apply(plugin, "--force-conflicts");
  for (const workload of [SERVER, NODE_AGENT]) await rolledOut(cluster, MESH_NAMESPACE, workload);
  return stack.move();
}

/** Starts a tunnel on each node. Resolves when all are ready. */
export async function startTunnels(cluster: ClusterHandle): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.defer(() => deleted(cluster, TUNNEL, "app=ztunnel"));
  await cluster.apply(await printManifests(VALUES, "--only=tunnel"), "--force-conflicts");
  await rolledOut(cluster, MESH_NAMESPACE, TUNNEL);
  return stack.move();
}

/** Deletes a set, and waits for the end of its pods. */
async function deleted(cluster: ClusterHandle, set: string, selector: string): Promise<void> {
  await cluster.kubectl(["--namespace", MESH_NAMESPACE, "delete", "--ignore-not-found", set]);
  const pods = ["get", "pods", "--namespace", MESH_NAMESPACE, `-l=${selector}`, "-o=name"];
  await until(`the pods of ${set} have ended`, async () => (await cluster.kubectl(pods)).trim() === "");
}

/** Everything that the present tunnels have reported. */
async function reportedBy(cluster: ClusterHandle): Promise<readonly TunnelEvent[]> {
  const text = await cluster.kubectl(["--namespace", MESH_NAMESPACE, "logs", "-l=app=ztunnel", "--tail=-1"]);
  return text.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

/** All connections that the present tunnels have taken. */
export async function connections(cluster: ClusterHandle): Promise<readonly ConnectionEvent[]> {
  return (await reportedBy(cluster)).filter((event) => event.event === "connection");
}

/** All questions about names that the present tunnels have taken. */
export async function questions(cluster: ClusterHandle): Promise<readonly QuestionEvent[]> {
  return (await reportedBy(cluster)).filter((event) => event.event === "question");
}

/** A running pod. */
export interface AmbientPod {
  readonly name: string;
  readonly uid: string;
  readonly address: string;
  readonly redirection: string | undefined;
}

interface ListedPod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status: { readonly podIP?: string };
}

/** Pods of a workload that are not ending. */
export async function podsOf(cluster: ClusterHandle, namespace: string, app: string): Promise<AmbientPod[]> {
  const get = ["--namespace", namespace, "get", "pods", `--selector=app=${app}`, "--output=json"];
  const { items } = JSON.parse(await cluster.kubectl(get)) as { readonly items: readonly ListedPod[] };
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata, status }) => ({
    ...{ name: metadata.name, uid: metadata.uid, address: status.podIP ?? "" },
    redirection: metadata.annotations?.["ambient.mesh.io/redirection"],
  }));
}

/**
 * `install-cni doctor` about a pod, by the agent of the pod's node.
 *
 * @param pod NAMESPACE/NAME
 * @returns exit code 0, and the text
 */
export async function doctorOf(cluster: ClusterHandle, pod: string): Promise<{ success: boolean; out: string }> {
  const [namespace = "", name = ""] = pod.split("/");
  const get = ["--namespace", namespace, "get", "pod", name, "--output=jsonpath={.spec.nodeName}"];
  const node = await cluster.kubectl(get);
  const own = ["--namespace", MESH_NAMESPACE];
  const where = ["--selector=k8s-app=mesh-cni-node", `--field-selector=spec.nodeName=${node}`, "--output=name"];
  const agent = (await cluster.kubectl([...own, "get", "pods", ...where])).trim();
  return await cluster.tryKubectl([...own, "exec", agent, "--", "install-cni", "doctor", pod]);
}
