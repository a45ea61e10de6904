/**
 * A discovery server in the process of a program, with all parts of the program `pilot-discovery`.
 *
 * Permissions: net (the listen addresses), read (the folder, the mesh files, and for previews the library's own files,
 * which a worker loads), env (`LOG_TOKENS` and `LOG_STREAM`, which the YAML package reads).
 *
 * @module
 */
import { type RunningServer, type ServerOptions, startServerWith } from "../../discovery/start.ts";
import { defaultSettings } from "../../kernel/settings/read.ts";
import { serverExplainer } from "../explain/of_server.ts";
import { WorkerPreviews } from "../preview/runner.ts";

/**
 * Starts a discovery server in this process. The server explains requests of its connected proxies (`/debug/explain`)
 * and answers previews (`POST /debug/preview`, each in a worker).
 *
 * ```ts
 * import { startServer } from "@mesh/pilot";
 *
 * const configDir = await Deno.makeTempDir();
 * const server = await startServer({ configDir });
 * const ready = await fetch(`http://127.0.0.1:${server.ports.http}/ready`);
 * await ready.body?.cancel();
 * await server.stop();
 * if (ready.status !== 200) throw new Error(String(ready.status));
 * ```
 *
 * @returns When the sources are synced and the server listens.
 * @throws {StartError} When the folder cannot be read, the mesh configuration has errors, or a port cannot be used.
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { domain = "cluster.local", configDir: folder = "" } = options;
  const settings = defaultSettings("pilot-discovery", options.settings ?? {});
  const preview = new WorkerPreviews({ settings, domain, folder });
  return await startServerWith(options, settings, { explainer: serverExplainer(domain), preview });
}
