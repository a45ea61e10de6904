/**
 * The demo on a real cluster of this machine: kubelet, containerd, kube-proxy, and the images and manifests of this
 * tree. It installs the mesh, runs a shop of four services behind a gateway, and shows STRICT, a canary by weight, and a
 * rollout under load.
 *
 * Permissions: root; the permissions of `../../tests/cluster/support/handle.ts`, run (setpriv, deno).
 *
 * @module
 */
import { startClusterProcess } from "../test/cluster_process.ts";
import { ClusterHandle } from "../../tests/cluster/support/handle.ts";
import { applyManifests, installMesh, MESH_NAMESPACE, rolledOut } from "../../tests/cluster/support/mesh.ts";
import {
  applyObjects,
  deployEcho,
  type Load,
  request,
  startLoad,
  strictPolicy,
} from "../../tests/cluster/support/workloads.ts";
import { GATEWAY, gatewayObjects, SHOP, shopObjects, STRANGERS, weights } from "./cluster_shop.ts";

/** Inputs of the demo. */
interface ClusterDemo {
  readonly say: (line?: string) => void;
  /** Whether the demo stays at its end, until interrupted. */
  readonly stays: boolean;
  /** Resolves when the demo must end. */
  readonly end: Promise<unknown>;
}

const ROOT = new URL("../../", import.meta.url).pathname;

/** Requests a second. Each request becomes four in the shop, through ten proxies on the processors of this machine. */
const RATE = 20;

/** Longest wait for a change, ms. */
const PATIENCE = 90_000;

/** The whole demo, from no cluster to no cluster. */
export async function playCluster({ say, stays, end }: ClusterDemo): Promise<void> {
  say("1  a cluster of one node is started (the first time its programs are built, in some minutes) ...");
  await using process = await startClusterProcess(ROOT);
  const cluster = new ClusterHandle(process.folder);
  say(`     kubectl --kubeconfig=${cluster.kubeconfig} get pods --all-namespaces`);
  await Promise.race([show(cluster, say), end]);
  if (!stays) return;
  say("\nIt stays until you press Ctrl-C.");
  await end;
}

async function show(cluster: ClusterHandle, say: (line: string) => void): Promise<void> {
  await installMesh(cluster);
  say(`2  the mesh is installed by manifests/: two servers in ${MESH_NAMESPACE}`);
  const address = await openShop(cluster);
  say("3  a shop of four services runs, each pod with a proxy, behind a gateway:");
  say(`     the gateway at ${address} -> web -> catalog, cart -> stock`);
  await strict(cluster, say);
  const load = await startLoad(cluster, { namespace: STRANGERS, url: `http://${address}/`, rate: RATE });
  await canary(cluster, say);
  await rollout(cluster, load, say);
}

/** Starts the shop and the gateway. @returns the address of the gateway */
async function openShop(cluster: ClusterHandle): Promise<string> {
  await applyManifests(cluster, "gateway.yaml");
  await applyObjects(cluster, shopObjects());
  await applyObjects(cluster, gatewayObjects());
  const services = ["web", "catalog", "catalog-v2", "cart", "stock"].map((name) => [SHOP, `deployment/${name}`]);
  for (const [namespace, name] of [...services, [GATEWAY.namespace, `deployment/${GATEWAY.name}`]]) {
    await rolledOut(cluster, namespace!, name!);
  }
  const path = "-o=jsonpath={.status.loadBalancer.ingress[0].ip}";
  return await cluster.kubectl(["--namespace", GATEWAY.namespace, "get", "service", GATEWAY.name, path]);
}

async function strict(cluster: ClusterHandle, say: (line: string) => void): Promise<void> {
  await deployEcho(cluster, { namespace: STRANGERS, name: "stranger" });
  const stranger = () =>
    request(cluster, { namespace: STRANGERS, workload: "deployment/stranger" }, `http://cart.${SHOP}/`);
  say("4  a pod without a proxy calls the cart:");
  say(`     as the mesh is installed: status ${(await stranger()).status}`);
  await applyObjects(cluster, [strictPolicy(SHOP)]);
  const refused = await eventually(stranger, ({ status }) => status !== 200);
  say(`     with mutual TLS STRICT in the shop: ${refused.error ?? `status ${refused.status}`}`);
  const member = await request(cluster, { namespace: SHOP, workload: "deployment/web" }, `http://cart.${SHOP}/`);
  say(`     the service web, with a proxy: status ${member.status}`);
}

async function canary(cluster: ClusterHandle, say: (line: string) => void): Promise<void> {
  const versions = async () => {
    const counts: Record<string, number> = {};
    const one = () => request(cluster, { namespace: SHOP, workload: "deployment/web" }, `http://catalog.${SHOP}/`);
    for (const { status, body = "" } of await Promise.all(Array.from({ length: 10 }, one))) {
      const answerer = status === 200 ? JSON.parse(body).version : body;
      counts[answerer] = (counts[answerer] ?? 0) + 1;
    }
    return counts;
  };
  say("5  the catalog has a version v2; of ten requests, by the weights of a VirtualService:");
  for (const share of [0, 50, 100]) {
    await applyObjects(cluster, [weights(share)]);
    const counts = await eventually(
      versions,
      ({ v1 = 0, v2 = 0 }) => share === 0 ? v2 === 0 : share === 100 ? v1 === 0 : v1 * v2 > 0,
    );
    say(`     ${share} % for v2: ${JSON.stringify(counts)}`);
  }
}

async function rollout(cluster: ClusterHandle, load: Load, say: (line: string) => void): Promise<void> {
  say(`6  web, cart and the servers of the mesh are rolled out anew, under ${RATE} requests a second:`);
  const workloads = [[SHOP, "deployment/web"], [SHOP, "deployment/cart"], [
    MESH_NAMESPACE,
    "deployment/meshd",
  ]] as const;
  for (const [namespace, name] of workloads) {
    await cluster.kubectl(["--namespace", namespace, "rollout", "restart", name]);
  }
  await Promise.all(workloads.map(([namespace, name]) => rolledOut(cluster, namespace, name)));
  const { sent, failed, slowestMs, failures } = await load.end();
  say(`     since step 5: ${sent} requests, ${failed} failed, the slowest took ${slowestMs} ms`);
  for (const { at, error } of failures) say(`       ${at} ${error}`);
}

/** Asks until an answer is as expected. */
async function eventually<T>(ask: () => Promise<T>, expected: (answer: T) => boolean): Promise<T> {
  for (const started = performance.now();;) {
    const answer = await ask();
    if (expected(answer)) return answer;
    if (performance.now() - started > PATIENCE) throw new Error(`not in time; last answer: ${JSON.stringify(answer)}`);
  }
}
