/**
 * Starts a real cluster of the orchestrator on this machine, prints the path of its kubeconfig, and ends the cluster on
 * a signal.
 *
 *     deno task cluster                one node
 *     deno task cluster --nodes 2      two nodes
 *
 * Permissions: the permissions of `./cluster.ts`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { API_SERVER_PROGRAMS, CLUSTER_PROGRAMS } from "../../../scripts/orchestrator/binaries.ts";
import { builtPrograms } from "../../orch/support/server/programs.ts";
import { Cluster } from "./cluster.ts";
import { serveOrders } from "./control_server.ts";
import { CLUSTER_IMAGES, imageArchives } from "./images.ts";
import { noCluster } from "./programs.ts";

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "1" },
    plugin: { type: "string", default: "bridge" },
    number: { type: "string", default: "0" },
    images: { type: "string", multiple: true, default: [] },
  },
});
const [nodes, number] = [Number(values.nodes), Number(values.number)];
const { plugin } = values;
if (!Number.isInteger(nodes) || nodes < 1 || nodes > 9) {
  console.error(`--nodes=${values.nodes}: expected a number from 1 to 9`);
  Deno.exit(2);
}
if (!Number.isInteger(number) || number < 0 || number > 7) {
  console.error(`--number=${values.number}: expected a number from 0 to 7`);
  Deno.exit(2);
}
if (plugin !== "bridge" && plugin !== "ptp") {
  console.error(`--plugin=${plugin}: expected bridge or ptp`);
  Deno.exit(2);
}
if (noCluster !== undefined) {
  console.error(`no cluster can run here: ${noCluster}`);
  Deno.exit(1);
}
const started = performance.now();
const say = (line: string) => console.error(`${((performance.now() - started) / 1000).toFixed(1)} s: ${line}`);
await builtPrograms([...API_SERVER_PROGRAMS, ...CLUSTER_PROGRAMS]);
const images = values.images.length > 0 ? values.images : await builtImages();
const cluster = await Cluster.start({ nodes, plugin, number, images, say });
const orders = serveOrders(cluster);
console.log(cluster.kubeconfig);
const ended = Promise.withResolvers<void>();
for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => ended.resolve());
await ended.promise;
await orders.shutdown();
await cluster[Symbol.asyncDispose]();
Deno.exit(0);

async function builtImages(): Promise<readonly string[]> {
  const archives = await imageArchives(CLUSTER_IMAGES);
  say("the images are made");
  return archives;
}
