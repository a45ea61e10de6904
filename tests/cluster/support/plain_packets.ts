/**
 * Plain packets on their way out of pods, counted by the kernel where pods are attached to their nodes. A pod in ambient
 * mode sends packets to the port of tunnels alone. So each packet of such a pod to a port of an application has escaped.
 *
 * Permissions: the permissions of the cluster.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { ClusterHandle } from "./handle.ts";
import { until } from "./waiting.ts";
import { applyObjects, echoObjects } from "./workloads.ts";

/** Ports of the tests' servers: of their Services, and of their pods. */
const PORTS = "{ 80, 8080, 9000 }";

const TABLE = "mesh_test";

/** Runs on a node before its kubelet. */
const BOOT = "/var/lib/boot.sh";

/** The name of the pod that is not in the mesh. */
const OUTSIDE = "outside";

/** Sends requests to a URL without end. Prints a line for each answer. Begins with the pod's first instruction. */
export function dials(host: string, pause = "0.2"): readonly string[] {
  const asks = `printf 'GET / HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n' >&3`;
  const once = `exec 3<>/dev/tcp/${host}/80 && ${asks} && IFS= read -r -t 10 line <&3 && echo "$line"`;
  return ["bash", "-c", `while true; do (${once}) 2>/dev/null; sleep ${pause}; done`];
}

/** The counts of plain packets. */
export interface PlainPackets extends AsyncDisposable {
  /** Requires that no pod but the outsider has sent a plain packet to a server. */
  noneEscaped(): Promise<void>;
  /** Requires also that the outsider was never answered. @returns the outsider's packets */
  neverAnswered(): Promise<number>;
  /** Has a node count from its next boot on, before its first pod. The counts until then are lost. */
  alsoAfterReboot(node: string): Promise<void>;
}

/**
 * Counts the plain packets of all pods of all nodes. A pod outside of the mesh, which dials a server without end, proves
 * that the counters count. Resolves when the pod has been counted.
 *
 * @param namespace The outsider's namespace.
 * @param host The server that the outsider dials. The server refuses plain text.
 * @param pod Further fields of the outsider's pod.
 */
export async function countPlainPackets(
  cluster: ClusterHandle,
  namespace: string,
  host: string,
  pod: Readonly<Record<string, unknown>> = {},
): Promise<PlainPackets> {
  await using stack = new AsyncDisposableStack();
  for (const node of cluster.nodes) {
    stack.defer(async () => void await cluster.onNode(node, `nft delete table bridge ${TABLE}`));
    await cluster.onNode(node, `nft -f - <<'END'\n${table(cluster.network.pods)}\nEND`);
  }
  stack.defer(async () => {
    // An outsider that outlives its test is a stranger to the next.
    await cluster.kubectl(["--namespace", namespace, "delete", "deployment", OUTSIDE, "--cascade=foreground"]);
  });
  const container = { command: dials(host) };
  await applyObjects(
    cluster,
    echoObjects({ namespace, name: OUTSIDE, args: [], container, pod: { terminationGracePeriodSeconds: 1, ...pod } }),
  );
  const get = ["--namespace", namespace, "get", "pods", `--selector=app=${OUTSIDE}`];
  let address = "";
  await until("the outsider has an address", async () => {
    address = await cluster.kubectl([...get, "--output=jsonpath={.items[*].status.podIP}"]);
    return address !== "";
  });
  const addOutsider = `nft add element bridge ${TABLE} outsiders { ${address} }`;
  for (const node of cluster.nodes) await cluster.onNode(node, addOutsider);
  await until("the outsider's packets are counted", async () => (await sum(cluster, "outside")) > 0);
  // The outsider's first packets came before its address was known.
  for (const node of cluster.nodes) await cluster.onNode(node, `nft reset counter bridge ${TABLE} escaped`);
  const tables = stack.move();
  return {
    noneEscaped: async () => {
      const count = await sum(cluster, "escaped");
      if (count > 0) assert.fail(`${count} plain packets of pods in ambient mode:\n${await escapes(cluster)}`);
    },
    neverAnswered: async () => {
      const logs = ["--namespace", namespace, "logs", `--selector=app=${OUTSIDE}`, "--tail=20"];
      assert.equal(await cluster.kubectl(logs), "", "answers to plain text");
      return await sum(cluster, "outside");
    },
    alsoAfterReboot: async (node) => {
      tables.defer(async () => void await cluster.onNode(node, `rm ${BOOT}`));
      const script = `nft -f - <<'END'\n${table(cluster.network.pods)}\nEND\n${addOutsider}`;
      await cluster.onNode(node, `cat >${BOOT} <<'SCRIPT'\n${script}\nSCRIPT`);
    },
    [Symbol.asyncDispose]: () => tables.disposeAsync(),
  };
}

/** Sets with what has escaped. This nft cannot list flags of packets in a set of several fields. */
const ESCAPES = `type ipv4_addr . ipv4_addr . inet_service
    size 1024
    flags dynamic
    counter`;

/** Counters at the bridge to which the pods of a node are attached. */
function table(pods: string): string {
  return `table bridge ${TABLE} {
  counter escaped { }
  counter outside { }
  set outsiders {
    type ipv4_addr
  }
  set first {
    ${ESCAPES}
  }
  set later {
    ${ESCAPES}
  }
  chain from_pods {
    type filter hook prerouting priority -300
    ip saddr ${pods} tcp dport ${PORTS} ip saddr @outsiders counter name outside
    ip saddr ${pods} tcp dport ${PORTS} ip saddr != @outsiders counter name escaped jump noted
  }
  chain noted {
    tcp flags & (syn | ack) == syn add @first { ip saddr . ip daddr . tcp dport } return
    add @later { ip saddr . ip daddr . tcp dport }
  }
}`;
}

/** A counter's packets on all nodes. */
async function sum(cluster: ClusterHandle, counter: string): Promise<number> {
  let packets = 0;
  for (const node of cluster.nodes) {
    const text = await cluster.onNode(node, `nft list counter bridge ${TABLE} ${counter}`);
    packets += Number(/packets (\d+)/.exec(text)![1]);
  }
  return packets;
}

/** What has escaped: source and destination, of first packets of connections and of later packets, with their count. */
async function escapes(cluster: ClusterHandle): Promise<string> {
  const all = cluster.nodes.flatMap((node) => ["first", "later"].map((set) => ({ node, set })));
  const lists = await Promise.all(
    all.map(async ({ node, set }) => `${node}: ${await cluster.onNode(node, `nft list set bridge ${TABLE} ${set}`)}`),
  );
  return lists.join("\n");
}
