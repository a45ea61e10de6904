/**
 * Gives addresses to Services of type LoadBalancer, as the controller of a cloud does. kube-proxy forwards the traffic
 * to these addresses.
 *
 * Permissions: net (the API server).
 *
 * @module
 */
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import type { ClusterNetwork } from "./network.ts";

/** The fields of a Service that matter here. */
interface Service {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion: string };
  readonly spec: { readonly type?: string; readonly loadBalancerIP?: string };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly unknown[] } };
}

/** Longest silence of a watch, ms. */
const IDLE = 3_600_000;

/** Gives addresses until the signal aborts. Each Service keeps its address. */
export async function giveAddresses(client: ApiClient, network: ClusterNetwork, signal: AbortSignal): Promise<void> {
  const given = new Map<string, string>();
  const look = async ({ metadata: { name, namespace }, spec, status }: Service) => {
    if (spec.type !== "LoadBalancer" || status?.loadBalancer?.ingress?.length) return;
    const key = `${namespace}/${name}`;
    const ip = spec.loadBalancerIP ?? given.get(key) ?? network.balancer(given.size + 1);
    // An address outside of the pool stays pending, as with a cloud.
    if (!ip.startsWith(network.balancer(0).slice(0, -1))) return;
    given.set(key, ip);
    const path = `/api/v1/namespaces/${namespace}/services/${name}/status`;
    const body = { status: { loadBalancer: { ingress: [{ ip }] } } };
    // A Service that has been deleted meanwhile needs no address.
    await client.tell({ method: "PATCH", path, body, type: "application/merge-patch+json" }).catch(() => {});
  };
  while (!signal.aborted) {
    try {
      const answer = await client.send({ path: "/api/v1/services?watch=1", signal });
      for await (const lines of answer.lines(IDLE)) {
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as { type: string; object: Service };
          if (type === "ADDED" || type === "MODIFIED") await look(object);
        }
      }
    } catch {
      // The API server restarts, or the cluster ends.
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
