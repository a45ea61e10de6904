/**
 * One test over two feeds of the orchestrator's objects: a real API, and manifests in a folder (`--registries=File`).
 *
 * Permissions: the permissions of `./server/api_server.ts`.
 * @module
 */
import { parseAllDocuments } from "yaml";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import type { DiscoveryServerOptions } from "../../../lib/discovery/server_options.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { withServer } from "../../discovery/running.ts";
import type { ApiServer } from "./server/api_server.ts";
import type { ObjectDraft, ObjectId } from "./server/objects.ts";
import { apiServerTests } from "./server/tests.ts";

/** The objects of one feed. */
export interface ObjectFeed {
  /** A name used by no other test. */
  readonly name: string;
  readonly isFolder: boolean;
  /** Makes an object, or sets the given fields, including status. */
  put(object: ObjectDraft & ObjectId): Promise<void>;
  drop(id: ObjectId): Promise<void>;
  /** Writes the mesh configuration anew; JSON. */
  meshConfig(config: Readonly<Record<string, unknown>>): Promise<void>;
  /** The same for the mesh networks. */
  meshNetworks(networks: Readonly<Record<string, unknown>>): Promise<void>;
  /** Runs a server with the feed as its source. */
  serve(
    run: (server: DiscoveryServer) => Promise<void>,
    settings?: Partial<SettingsOf<"pilot-discovery">>,
  ): Promise<void>;
}

/** Registers tests, each once over each feed. Call once a file. */
export function twoFeeds(): (name: string, run: (feed: ObjectFeed) => Promise<void>) => void {
  const apiTest = apiServerTests();
  return (name, run) => {
    Deno.test(`${name} (a folder)`, () => withFolder((paths) => run(folderFeed(paths))));
    apiTest(`${name} (the API)`, async ({ server, namespace }) => {
      await defineKinds(server);
      await withFolder((paths) => run(apiFeed(server, namespace, paths)));
    });
  };
}

interface FeedPaths {
  readonly manifests: string;
  readonly mesh: string;
  readonly networks: string;
}

async function withFolder(run: (paths: FeedPaths) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "feeds-" });
  const paths = { manifests: `${folder}/manifests`, mesh: `${folder}/mesh`, networks: `${folder}/networks` };
  await Deno.mkdir(paths.manifests);
  try {
    await run(paths);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The common part of both feeds: the files of the mesh, and a server with the files. */
function feedFiles({ mesh, networks }: FeedPaths, options: Partial<DiscoveryServerOptions>) {
  return {
    meshConfig: (config: Readonly<Record<string, unknown>>) => replaceFile(mesh, config),
    meshNetworks: (config: Readonly<Record<string, unknown>>) => replaceFile(networks, config),
    serve: (run: (server: DiscoveryServer) => Promise<void>, settings: Partial<SettingsOf<"pilot-discovery">> = {}) =>
      withServer({}, run, { options: { meshConfig: mesh, networksConfig: networks, ...options }, settings }),
  };
}

/** Replaces a file at once: a reader sees the old text or the new text. */
async function replaceFile(path: string, content: unknown): Promise<void> {
  await Deno.writeTextFile(`${path}.new`, JSON.stringify(content));
  await Deno.rename(`${path}.new`, path);
}

function folderFeed(paths: FeedPaths): ObjectFeed {
  const fileOf = ({ kind, metadata: { namespace = "", name } }: ObjectId) =>
    `${paths.manifests}/${kind}-${namespace}-${name}.yaml`;
  return {
    name: "test",
    isFolder: true,
    put: (object) => replaceFile(fileOf(object), object),
    drop: (id) => Deno.remove(fileOf(id)),
    ...feedFiles(paths, { configDir: paths.manifests, manifestServices: true }),
  };
}

function apiFeed(server: ApiServer, namespace: string, paths: FeedPaths): ObjectFeed {
  const { objects } = server;
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 0, burst: 1, allowed: [], namespace: "", kinds: true, services: true };
  return {
    name: namespace,
    isFolder: false,
    put: async ({ status, ...object }) => {
      await objects.apply(object as ObjectDraft & ObjectId);
      if (status !== undefined) await objects.patch(object as ObjectId, { status }, "status");
    },
    drop: (id) => objects.delete(id),
    ...feedFiles(paths, { configDir: undefined, orch }),
  };
}

const defined = new WeakSet<ApiServer>();

/** The definitions of our kinds, once a server. */
export async function defineKinds(server: ApiServer): Promise<void> {
  if (defined.has(server)) return;
  const text = await Deno.readTextFile(new URL("../../../manifests/definitions.yaml", import.meta.url));
  for (const document of parseAllDocuments(text)) await server.objects.define(document.toJS());
  defined.add(server);
}
