/**
 * Orders for a running cluster from other processes, over a socket in the folder of the cluster:
 *
 *     POST /nodes/NAME/reboot
 *     POST /nodes/NAME/restart/PROGRAM/SIGNAL
 *
 * The file `cluster.json` beside the socket holds the {@linkcode ClusterState}.
 *
 * Permissions: read and write (the folder).
 *
 * @module
 */
import type { Cluster } from "./cluster.ts";

/** What other processes need to know of a cluster. */
export interface ClusterState {
  /** Number of the cluster. The addresses follow from the number. */
  readonly number: number;
  /** Process ids of the first processes of the control plane and of each node, as the host sees the processes. */
  readonly control: number;
  readonly nodes: readonly { readonly name: string; readonly address: string; readonly pid: number }[];
}

export const STATE_FILE = "cluster.json", CONTROL_SOCKET = "control.sock";

/** Serves orders until the server is shut down. */
export function serveOrders(cluster: Cluster): Deno.HttpServer {
  writeState(cluster);
  return Deno.serve({ path: `${cluster.folder}/${CONTROL_SOCKET}`, onListen: () => {} }, async (request) => {
    const [, name, order, program, signal] = new URL(request.url).pathname.slice(1).split("/");
    const node = cluster.nodes.find((node) => node.name === name);
    if (node === undefined) return new Response(`no node ${name}`, { status: 404 });
    try {
      if (order === "reboot") await node.reboot();
      else if (order === "restart" && (program === "kubelet" || program === "containerd")) {
        await node.restart(program, signal === "KILL" ? "KILL" : "TERM");
      } else return new Response(`no order ${order} ${program}`, { status: 404 });
      writeState(cluster);
      return new Response("done");
    } catch (error) {
      return new Response((error as Error).message, { status: 500 });
    }
  });
}

function writeState({ folder, number, plane, nodes }: Cluster): void {
  const state: ClusterState = {
    number,
    control: plane.namespaces.pid,
    nodes: nodes.map(({ name, address, namespaces: { pid } }) => ({ name, address, pid })),
  };
  Deno.writeTextFileSync(`${folder}/${STATE_FILE}`, JSON.stringify(state, null, 2));
}
