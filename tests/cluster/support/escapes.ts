/**
 * Connections that bypass a proxy: a listener outside of the mesh, and pods that dial the listener from their first
 * instruction on. The proxies of these pods send nothing to the listener, so only a pod without redirection reaches it.
 *
 * Permissions: read and write (the folder of the cluster), the permissions of the cluster.
 *
 * @module
 */
import assert from "node:assert/strict";
import { until } from "./waiting.ts";
import type { ClusterHandle } from "./handle.ts";
import { applyObjects, ECHO_IMAGE, echoObjects, type WorkloadOptions } from "./workloads.ts";

/** Attempts of the init container of a dialling pod. */
const FIRST = 20;

/** The listener, which is beside the control plane and outlives nodes. */
export interface Listener extends AsyncDisposable {
  /** The connections so far, a line each: time, address, workload, container, number of the attempt. */
  connections(): Promise<readonly string[]>;
  /** A workload that dials the listener. */
  dialling(options: DiallingOptions): readonly Record<string, unknown>[];
}

/** See {@linkcode Listener.dialling}. */
export interface DiallingOptions extends WorkloadOptions {
  /**
   * Whether the pod's first container is redirected. Then an init container dials too. Otherwise the redirecting init
   * container comes after the application's init containers. Default: yes.
   */
  readonly redirectedBefore?: boolean;
}

/** Starts a listener. Each listener of a cluster has its own port. */
export async function listen(cluster: ClusterHandle, port: number): Promise<Listener> {
  const file = `${cluster.folder}/reached-${port}`;
  const note = `while read -r line; do echo "$(date -u +%T.%3N) $SOCAT_PEERADDR $line" >>${file}; done`;
  const socat = `socat -u TCP-LISTEN:${port},fork,reuseaddr SYSTEM:'${note}'`;
  await cluster.onControl(`: > ${file}; ${socat} </dev/null >/dev/null 2>&1 & echo $! > ${file}.pid`);
  const script = (name: string, times: string, pause: string) =>
    `for ((tries = 1; ${times}; tries++)); do ` +
    `(exec 3<>/dev/tcp/${cluster.network.control}/${port} && echo ${name} attempt $tries >&3) 2>/dev/null; ` +
    `echo $tries; ${pause}; done`;
  return {
    connections: async () => (await Deno.readTextFile(file)).split("\n").filter((line) => line !== ""),
    dialling: ({ container = {}, pod = {}, redirectedBefore = true, ...options }) => {
      const { name } = options;
      const run = (script: string) => ({ command: ["bash", "-c", script] });
      const image = { image: ECHO_IMAGE, imagePullPolicy: "IfNotPresent", ...container };
      const first = { name: "first", ...image, ...run(script(`${name} init`, `tries <= ${FIRST}`, "sleep 0.02")) };
      return echoObjects({
        ...options,
        args: [],
        container: { ...container, ...run(script(`${name} app`, "1", "sleep $((tries < 10 ? 0 : 1)).1")) },
        pod: { ...redirectedBefore ? { initContainers: [first] } : {}, ...pod },
      });
    },
    [Symbol.asyncDispose]: async () => {
      await cluster.onControl(`kill "$(cat ${file}.pid)"; rm -f ${file} ${file}.pid`);
    },
  };
}

/** The policy by which the proxies of a namespace send nothing to addresses outside of the mesh. */
export function registryOnly(namespace: string): Record<string, unknown> {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "Sidecar",
    metadata: { name: "default", namespace },
    spec: { outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } },
  };
}

/** Workload outside of the mesh, which proves that a listener hears of pods without redirection. */
export const OUTSIDE = "outside";

/** Starts the workload outside of the mesh, and waits until it reaches a listener. */
export async function hearsOutsiders(cluster: ClusterHandle, listener: Listener, namespace: string): Promise<void> {
  await applyObjects(cluster, listener.dialling({ namespace, name: OUTSIDE }));
  await until("a pod without a proxy reaches the listener", async () => (await listener.connections()).length > 0);
}

/** Requires that only the workload outside of the mesh has reached a listener. */
export async function noneEscaped(listener: Listener): Promise<void> {
  const escaped = (await listener.connections()).filter((line) => !line.includes(` ${OUTSIDE} `));
  assert.deepEqual(escaped, []);
}

/** Attempts of the running containers of a workload to reach a listener. At least one: the test has tried. */
export async function attempts(cluster: ClusterHandle, namespace: string, app: string): Promise<number> {
  const logs = ["--namespace", namespace, "logs", `--selector=app=${app}`, "--container=app", "--tail=1"];
  const counts = (await cluster.kubectl(logs)).trim().split("\n").map(Number);
  const sum = counts.reduce((a, b) => a + b, 0);
  assert.ok(sum > 0, `${app} has not tried`);
  return sum;
}
