/**
 * Waves of pods in ambient mode that come, send some requests, and end.
 *
 * Permissions: the permissions of the cluster.
 *
 * @module
 */
import assert from "node:assert/strict";
import { connections } from "./ambient.ts";
import type { ClusterHandle } from "./handle.ts";
import { until } from "./waiting.ts";
import { applyObjects, ECHO_IMAGE } from "./workloads.ts";

/** Pods of a wave: seven waves are two hundred pods. */
const WAVE = 30;

/** Requests of a pod of a wave. The first is the pod's first instruction. */
const REQUESTS = 5;

interface Ended {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly nodeName: string };
  readonly status: { readonly phase: string; readonly podIP?: string };
}

/** A Job of pods that send some requests, and fail at the first that has no answer with status 200. */
function waveOf(namespace: string, name: string, host: string): Record<string, unknown> {
  const asks = `printf 'GET / HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n' >&3`;
  const once = `exec 3<>/dev/tcp/${host}/80 && ${asks} && IFS= read -r -t 10 line <&3 && [[ $line == *" 200 "* ]]`;
  const script = `for ((i = 1; i <= ${REQUESTS}; i++)); do (${once}) || { echo "request $i: $line"; exit 1; }; done`;
  const container = {
    name: "app",
    image: ECHO_IMAGE,
    imagePullPolicy: "IfNotPresent",
    command: ["bash", "-c", script],
  };
  const spec = { restartPolicy: "Never", terminationGracePeriodSeconds: 1, containers: [container] };
  return {
    ...{ apiVersion: "batch/v1", kind: "Job", metadata: { name, namespace } },
    spec: { parallelism: WAVE, completions: WAVE, backoffLimit: 0, template: { spec } },
  };
}

/** Runs waves of pods, one after the other. The pods of each wave get the addresses of the wave before. */
export class Waves {
  readonly #pods: Ended[] = [];

  constructor(readonly cluster: ClusterHandle, readonly namespace: string, readonly host: string) {}

  /**
   * Runs a wave. Each request of each pod must succeed, by a tunnel.
   *
   * @param tunnelsStay False: the tunnels end meanwhile, and their logs with them. Then the logs are not read.
   */
  async run(tunnelsStay = true): Promise<void> {
    const { cluster, namespace } = this;
    for (const node of cluster.nodes) await cluster.onNode(node, "rm -f /var/lib/cni/networks/*/last_reserved_ip.*");
    const name = `wave${this.#pods.length}`;
    await applyObjects(cluster, [waveOf(namespace, name, this.host)]);
    const own = ["--namespace", namespace, `--selector=job-name=${name}`];
    let pods: readonly Ended[] = [];
    await until(`the pods of ${name} have ended`, async () => {
      pods = JSON.parse(await cluster.kubectl(["get", "pods", ...own, "--output=json"])).items;
      return pods.length === WAVE && pods.every(({ status }) => ["Succeeded", "Failed"].includes(status.phase));
    });
    const words = await cluster.kubectl(["logs", ...own, "--prefix", "--tail=-1"]);
    assert.deepEqual(pods.map(({ status }) => status.phase), pods.map(() => "Succeeded"), words);
    if (tunnelsStay) await this.#byTunnel(pods);
    this.#pods.push(...pods);
    await cluster.kubectl(["--namespace", namespace, "delete", "job", name, "--cascade=foreground"]);
  }

  /** Each request of the pods went out by a tunnel. */
  async #byTunnel(pods: readonly Ended[]): Promise<void> {
    const out = (await connections(this.cluster)).filter(({ way }) => way === "out");
    for (const { metadata: { uid } } of pods) {
      const own = out.filter((connection) => connection.uid === uid).map(({ by, refused }) => refused ?? by);
      assert.deepEqual(own, Array(REQUESTS).fill("hbone"), uid);
    }
  }

  /** Says how many pods there were, and how many addresses. */
  summary(): { readonly pods: number; readonly addresses: number; readonly nodes: number } {
    const distinct = (of: (pod: Ended) => string) => new Set(this.#pods.map(of)).size;
    const addresses = distinct(({ status }) => status.podIP ?? "");
    return { pods: this.#pods.length, addresses, nodes: distinct(({ spec }) => spec.nodeName) };
  }
}
