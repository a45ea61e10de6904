/**
 * The configuration of injection on a cluster.
 *
 * Permissions: the permissions of the cluster.
 *
 * @module
 */
import type { ClusterHandle } from "./handle.ts";
import { MESH_NAMESPACE } from "./mesh.ts";
import { until } from "./waiting.ts";
import { ECHO_IMAGE } from "./workloads.ts";

/** Answers of the injector in a row. After so many answers, all servers are taken to be up to date. */
const SAME_ANSWERS = 8;

const TARGET = ["--namespace", MESH_NAMESPACE, "patch", "configmap", "mesh-sidecar-injector", "--type=merge"];

/** Texts of the injector's config map. */
export interface InjectorTexts {
  readonly values?: string;
  readonly config?: string;
}

/** Changes the injector's config map. Servers take the change some time later. */
export async function patchInjector(cluster: ClusterHandle, data: InjectorTexts): Promise<void> {
  await cluster.kubectl([...TARGET, "--patch", JSON.stringify({ data })]);
}

/** A pod as the injector answers. */
export interface InjectedPod {
  readonly spec: {
    readonly containers: readonly { readonly name: string; readonly image: string }[];
    readonly initContainers?: readonly { readonly name: string; readonly image: string }[];
  };
}

/**
 * Changes the injector's config map, and waits until all servers inject accordingly.
 *
 * @param shows Whether an injected pod shows the change.
 * @param annotations Of the pod.
 */
export async function configureInjector(
  cluster: ClusterHandle,
  data: InjectorTexts,
  shows: (pod: InjectedPod) => boolean,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  await patchInjector(cluster, data);
  const metadata = { name: "trial", namespace: "default", labels: { "sidecar.mesh.io/inject": "true" }, annotations };
  const spec = { containers: [{ name: "app", image: ECHO_IMAGE }] };
  const pod = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata, spec });
  const dryRun = ["create", "--dry-run=server", "--output=json", "-f", "-"];
  let same = 0;
  await until("all servers inject by the new configuration", async () => {
    // On a busy machine a server may be late for a call.
    const { success, out } = await cluster.tryKubectl(dryRun, pod);
    same = success && shows(JSON.parse(out)) ? same + 1 : 0;
    return same === SAME_ANSWERS;
  });
}
