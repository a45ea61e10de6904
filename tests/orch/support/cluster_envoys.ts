/**
 * Real Envoys in two clusters, for tests: `east` in the server's own cluster, `west` in the remote cluster `west`.
 *
 * Permissions: run (Envoy), net (loopback), read and write (a temporary folder).
 * @module
 */
import { startEnvoy } from "../../../scripts/demo/envoy.ts";
import type { EnvoyProcess } from "../../../scripts/envoy.ts";
import { envoyPath } from "../../e2e/support/mesh.ts";

const binary = envoyPath();

/** Runs an Envoy in each cluster. */
export async function withEnvoys(
  port: number,
  namespace: string,
  run: (east: EnvoyProcess, west: EnvoyProcess) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const envoys: EnvoyProcess[] = [];
  try {
    for (const [name, cluster] of [["east", "Orch"], ["west", "west"]] as const) {
      const identity = { type: "sidecar", name, namespace, address: `10.9.1.${name.length}`, labels: {} } as const;
      const metadata = { CLUSTER_ID: cluster, DNS_CAPTURE: "true" };
      envoys.push(
        await startEnvoy({ binary: binary!, folder, discoveryPort: port, identity: { ...identity, metadata } }),
      );
    }
    await run(envoys[0]!, envoys[1]!);
  } finally {
    for (const envoy of envoys) await envoy.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Addresses of a service's endpoints in an Envoy. @param domain Of the service's host. */
export async function dialled(
  { adminPort }: EnvoyProcess,
  namespace: string,
  service: string,
  domain = "cluster.local",
): Promise<string> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/clusters`)).text();
  const host = `${service}\\.${namespace}\\.svc\\.${domain}`;
  const found = text.matchAll(new RegExp(`^outbound\\|80\\|\\|${host}::(10\\.[^:]+):`, "gm"));
  return [...new Set([...found].map(([, address]) => address))].sort().join();
}
