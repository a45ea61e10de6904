/**
 * Two real API servers for tests of several clusters: the server's own cluster, `Orch`, and a remote cluster.
 *
 * Permissions: the permissions of `./server/api_server.ts`.
 * @module
 */
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import type { Kernel } from "../../../lib/kernel/kernel.ts";
import { type ServerChanges, withServer } from "../../discovery/running.ts";
import { namespaceDraft, serviceDraft, sliceDraft } from "./drafts.ts";
import { defineKinds } from "./feeds.ts";
import { type ApiServer, type ApiServerOptions, startApiServer } from "./server/api_server.ts";
import { noApiServer } from "./server/programs.ts";
import { until } from "../../patience.ts";

/** The argument of a test of two clusters. */
export interface TwoClusters {
  readonly own: ApiServer;
  readonly remote: ApiServer;
  /** A namespace in both clusters, used by no other test. */
  readonly namespace: string;
}

/**
 * Starts two servers before the tests of the calling file and stops both afterwards. Call once a file. @returns
 * registers a test
 */
export function twoClusterTests(
  options: ApiServerOptions = {},
): (name: string, run: (clusters: TwoClusters) => Promise<void>) => void {
  let servers: ApiServer[] = [];
  const ignore = noApiServer !== undefined;
  if (!ignore) {
    Deno.test.beforeAll(async () => {
      servers = await Promise.all([startApiServer(options), startApiServer(options)]);
      await defineKinds(servers[0]!);
    });
    Deno.test.afterAll(async () => {
      for (const server of servers) await server[Symbol.asyncDispose]();
    });
  }
  return (name, run) => {
    Deno.test({
      name: ignore ? `${name} (ignored: ${noApiServer})` : name,
      ignore,
      fn: async () => {
        const [own, remote] = servers as [ApiServer, ApiServer];
        const namespace = await own.namespace();
        await remote.objects.apply(namespaceDraft(namespace));
        await run({ own, remote, namespace });
      },
    });
  };
}

/** A secret about clusters. @param entries Text of the access by the cluster's name. */
export function clusterSecret(
  namespace: string,
  name: string,
  entries: Readonly<Record<string, string>>,
  label = "mesh/multiCluster",
) {
  const data = Object.fromEntries(Object.entries(entries).map(([id, text]) => [id, btoa(text)]));
  return { apiVersion: "v1", kind: "Secret", metadata: { namespace, name, labels: { [label]: "true" } }, data };
}

/** A service with its slice. @param clusterIP Default: the API server assigns an address. */
export async function putService(
  { objects }: ApiServer,
  namespace: string,
  name: string,
  addresses: readonly string[],
  spec: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await objects.apply(serviceDraft(namespace, name, { spec }));
  await objects.apply(sliceDraft(namespace, name, addresses));
}

/** Runs a server over the API of the own cluster. The secrets of remote clusters are in the test's namespace. */
export async function serveClusters(
  { own, namespace }: TwoClusters,
  run: (server: DiscoveryServer, kernel: Kernel) => Promise<void>,
  { options = {}, settings = {}, ...changes }: ServerChanges = {},
): Promise<void> {
  const place = { from: "files", files: [own.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 0, burst: 1, allowed: [], namespace: "", kinds: true, services: true };
  const all = {
    ...changes,
    options: { configDir: undefined, orch, clusterRegistriesNamespace: namespace, ...options },
    settings: { PILOT_DEBOUNCE_AFTER: 10, ...settings },
  };
  await withServer({}, (server, _folder, kernel) => run(server, kernel), all);
}

/** Addresses of a service's endpoints. */
export function endpointsOf({ pipeline }: DiscoveryServer, namespace: string, name: string): string {
  const key = `${namespace}/${name}.${namespace}.svc.cluster.local` as const;
  return pipeline.endpoints.endpoints(key).map(({ address }) => address).sort().join();
}

/** Resolves when a service has the given addresses. */
export async function untilEndpoints(
  server: DiscoveryServer,
  namespace: string,
  name: string,
  expected: readonly string[],
): Promise<void> {
  const text = expected.toSorted().join();
  await until(`endpoints ${text} of ${name}`, () => endpointsOf(server, namespace, name) === text);
}
