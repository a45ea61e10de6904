/**
 * A server with the injector's configuration of `manifests/` in front of a real API.
 *
 * Permissions: the permissions of `./server/api_server.ts` and of a server.
 * @module
 */
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import type { Kernel } from "../../../lib/kernel/kernel.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { ApiError } from "../../../lib/orch/client/api_error.ts";
import { openLog } from "../../discovery/open_log.ts";
import { withServer } from "../../discovery/running.ts";
import { until } from "../../patience.ts";
import type { ApiServer } from "./server/api_server.ts";
import type { StoredObject } from "./server/objects.ts";
import { manifests } from "./server/rights.ts";

export type Labels = Readonly<Record<string, string>>;

interface Entry {
  readonly name: string;
  readonly clientConfig: object;
}

export interface Running {
  readonly discovery: DiscoveryServer;
  readonly kernel: Kernel;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Runs a server with the webhook configuration of `manifests/`, pointed at the server's address. The API calls the
 * webhook when `run` is called.
 */
export async function serve(
  server: ApiServer,
  systemNamespace: string,
  run: (running: Running) => Promise<void>,
  settings: Partial<SettingsOf<"pilot-discovery">> = {},
): Promise<void> {
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: true };
  const options = {
    ...{ configDir: undefined, orch, systemNamespace },
    ...{ secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] }, webhooks: "127.0.0.1:0" },
  };
  const folder = await Deno.makeTempDir();
  const places = { ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: `${folder}/self` };
  const [, manifest] = manifests("webhooks");
  const { log, lines } = openLog();
  try {
    await withServer({}, async (discovery, _, kernel) => {
      const clientConfig = { url: `https://localhost:${discovery.ports.webhooks}/inject/cluster/c7/net/n7` };
      const webhooks = (manifest!["webhooks"] as readonly Entry[]).map((entry) => ({ ...entry, clientConfig }));
      await server.objects.create({ ...manifest!, webhooks });
      try {
        await kernel.readiness.whenReady;
        await asked(server);
        await run({ discovery, kernel, lines });
      } finally {
        await server.objects.delete(manifest!);
      }
    }, { options, log, settings: { MESHD_CUSTOM_HOST: "localhost", ...places, ...settings } });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Resolves when the API asks the server, and gets answers. */
async function asked(server: ApiServer): Promise<void> {
  const namespace = await server.namespace({ "mesh-injection": "enabled" });
  await until("a pod with a proxy", async () => {
    try {
      return proxyOf(await create(server, namespace, {}, "?dryRun=All")) !== undefined;
    } catch (error) {
      // The API lacks the roots so far. A failed assertion about a created pod is thrown on.
      if (error instanceof ApiError && error.status === 500) return false;
      throw error;
    }
  });
}

export function create(
  { client }: ApiServer,
  namespace: string,
  metadata: { readonly labels?: Labels; readonly annotations?: Labels } = {},
  query = "",
  containers: readonly object[] = [{ name: "app", image: "cart:1" }],
): Promise<StoredObject> {
  const body = {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { generateName: "cart-", ...metadata } },
    spec: { serviceAccountName: "default", containers },
  };
  const path = `/api/v1/namespaces/${namespace}/pods${query}`;
  return client.json({ method: "POST", path, body }) as Promise<unknown> as Promise<StoredObject>;
}

export interface Container {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

export function containersOf(pod: StoredObject): readonly Container[] {
  const { containers, initContainers = [] } = pod["spec"] as Readonly<Record<string, readonly Container[]>>;
  return [...containers!, ...initContainers];
}

export function proxyOf(pod: StoredObject): Container | undefined {
  return containersOf(pod).find(({ name }) => name === "mesh-proxy");
}
