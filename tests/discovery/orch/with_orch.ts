/** A server whose configuration comes from a stand-in for an orchestrator's API, and its log. */
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import type { Kernel } from "../../../lib/kernel/kernel.ts";
import { createLog, defaultLogOptions, type Log } from "../../../lib/kernel/log/log.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { PATIENCE } from "../../patience.ts";
import { withServer } from "../running.ts";
import type { MemoryApi } from "./memory_api.ts";

/** Resolves when a condition holds. The condition follows the store, the mesh configuration or the log. */
export async function until(server: DiscoveryServer, holds: () => boolean): Promise<void> {
  const over = Promise.withResolvers<void>();
  const look = () => void (holds() && over.resolve());
  const end = [server.store.subscribe(look), server.configuration.facts.subscribe(look)];
  server.mesh.onChange(look);
  const timer = setTimeout(() => over.reject(new Error(`it did not come to ${holds}`)), PATIENCE);
  look();
  try {
    await over.promise;
  } finally {
    clearTimeout(timer);
    for (const one of end) one();
  }
}

/** Lines of a log, and how to wait for one. */
export function openLog(): { readonly log: Log; readonly line: (pattern: RegExp) => Promise<string> } {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const log = createLog(["orch"], { ...defaultLogOptions, levels: new Map([["all", "info"]]) }, {
    open: () => ({
      write: (bytes) => {
        lines.push(new TextDecoder().decode(bytes));
        for (const look of waiting) look();
      },
      close: () => {},
    }),
  });
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no line like ${pattern} among ${lines.join("")}`)), PATIENCE);
      const look = () => {
        const found = lines.find((one) => pattern.test(one));
        if (found === undefined) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { log, line };
}

interface Given {
  readonly start?: boolean;
  readonly namespace?: string;
  readonly shared?: string;
  readonly kinds?: boolean;
  readonly services?: boolean;
  readonly log?: Log;
  /** Further settings. */
  readonly settings?: Partial<SettingsOf<"pilot-discovery">>;
  /** Milliseconds between checks of the known objects. Default: the program's default. */
  readonly checks?: number;
}

/** Runs a server over a stand-in for the API. */
export async function withOrch(
  api: MemoryApi,
  run: (server: DiscoveryServer, kernel: Kernel) => Promise<void>,
  { start = true, namespace = "", shared = "", kinds = true, services = true, log, checks, settings = {} }: Given = {},
): Promise<void> {
  if (start) api.start();
  const folder = await Deno.makeTempDir({ prefix: "orch-" });
  const file = `${folder}/config`;
  const parts = [
    `clusters: [{name: k, cluster: {server: "${api.address}"}}]`,
    "contexts: [{name: c, context: {cluster: k}}]",
  ];
  await Deno.writeTextFile(file, ["current-context: c", ...parts].join("\n"));
  const orch = {
    place: { from: "files", files: [file], by: "test" },
    qps: 0,
    burst: 1,
    allowed: [],
    namespace,
    kinds,
    services,
  } as const;
  const changes = {
    options: { configDir: undefined, orch },
    settings: {
      SHARED_MESH_CONFIG: shared,
      ...settings,
      ...(checks === undefined ? {} : { MESH_SELF_CHECK_INTERVAL: checks }),
    },
    ...(log ? { log } : {}),
  };
  try {
    await withServer({}, (server, _, kernel) => run(server, kernel), changes);
  } finally {
    await api.stop();
    await Deno.remove(folder, { recursive: true });
  }
}
