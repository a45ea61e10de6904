/**
 * A further cluster for a test, with its handle.
 *
 * Permissions: the permissions of `./main.ts`.
 *
 * @module
 */
import { startClusterProcess } from "../../../scripts/test/cluster_process.ts";
import { ClusterHandle } from "./handle.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** A running cluster. Disposing of it ends the cluster. */
export interface StartedCluster extends AsyncDisposable {
  readonly handle: ClusterHandle;
}

/**
 * Starts a cluster.
 *
 * @param args Of `deno task cluster`.
 * @throws {Error} with the output, when the cluster does not start
 */
export async function startCluster(args: readonly string[] = []): Promise<StartedCluster> {
  const cluster = await startClusterProcess(ROOT, args);
  return { handle: new ClusterHandle(cluster.folder), [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
}
