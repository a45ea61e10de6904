/**
 * Staged rollouts of a server, by its settings.
 *
 * Permissions: read, write (`MESH_ROLLOUT_DIR`), or the permissions of the client; sys (hostname).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import type { TrafficSource } from "../../graph/traffic.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { readDefaults } from "../../rollout/defaults.ts";
import { StagedObjects } from "../../rollout/staged_objects.ts";
import type { XdsServer } from "../../xds/server.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import { newReporterName } from "../status/server_reports.ts";
import { StartError } from "../settings/start_error.ts";
import { RolloutDriver } from "./driver.ts";
import { MapShelf, RolloutsForbidden } from "./map_shelf.ts";
import { SharedServers } from "./servers.ts";
import { FolderShelf, type RolloutShelf } from "./shelf.ts";

/** Time until the log says that the server waits for the state of rollouts, milliseconds. */
const READ_TIME = 5000;

/** The objects of rollouts, and where their state is kept. */
export interface KeptRollouts {
  readonly staged: StagedObjects;
  readonly shelf: RolloutShelf;
  /** The duty of the server that decides. Empty: this server is alone. */
  readonly duties: readonly Duty[];
  /** Undefined: the objects come from folders, and this server is alone. */
  readonly shared?: { readonly shelf: MapShelf; readonly servers: SharedServers };
}

type RolloutSettings = Pick<
  DiscoverySettings,
  "MESH_ROLLOUT_DEFAULTS" | "MESH_ROLLOUT_DIR" | "MESH_ROLLOUT_SOAK" | "POD_NAME" | "REVISION"
>;

/**
 * Reads the kept rollouts. Undefined: no object is staged, because there is no place for the state of rollouts.
 *
 * @param client Undefined: the server has no orchestrator, and reads objects only from folders.
 * @throws {StartError} when there is state that cannot be read: the last good versions of objects would be unknown
 */
export async function readRollouts(
  { orch, systemNamespace, domain }: {
    readonly orch?: { readonly kinds: boolean } | undefined;
    readonly systemNamespace: string;
    readonly domain: string;
  },
  client: ApiClient | undefined,
  settings: RolloutSettings,
  kernel: Pick<Kernel, "clock" | "log" | "stopper">,
): Promise<KeptRollouts | undefined> {
  const read = readDefaults(settings.MESH_ROLLOUT_DEFAULTS);
  if ("faults" in read) {
    throw new StartError(read.faults.map((text) => ({ option: "MESH_ROLLOUT_DEFAULTS", text })));
  }
  const { defaults } = read;
  const staged = new StagedObjects({
    ...{ now: () => kernel.clock.now(), soakMs: settings.MESH_ROLLOUT_SOAK },
    ...{ domain, defaults, rootNamespace: systemNamespace },
  });
  if (orch?.kinds) return client && await sharedRollouts(staged, client, systemNamespace, settings, kernel);
  const folder = settings.MESH_ROLLOUT_DIR;
  if (folder === "") {
    if (defaults.size === 0) return undefined;
    const text = "expected a folder in MESH_ROLLOUT_DIR: without a place for the state of rollouts no object is staged";
    throw new StartError([{ option: "MESH_ROLLOUT_DEFAULTS", text }]);
  }
  const shelf = new FolderShelf(folder);
  try {
    staged.restore(await shelf.read());
  } catch (error) {
    const words = errorMessage(error);
    const text = `got ${JSON.stringify(folder)}, expected a folder whose rollouts can be read (${words})`;
    throw new StartError([{ option: "MESH_ROLLOUT_DIR", text }], error);
  }
  return { staged, shelf, duties: [] };
}

/** The rollouts of the servers of an orchestrator. Undefined: the account may not read their state. */
async function sharedRollouts(
  staged: StagedObjects,
  client: ApiClient,
  namespace: string,
  settings: RolloutSettings,
  { log: logs, stopper }: Pick<Kernel, "log" | "stopper">,
): Promise<KeptRollouts | undefined> {
  const log = logs.scope("model");
  const revision = settings.REVISION || "default";
  const shelf = new MapShelf({ client, namespace, revision, log });
  stopper.add("kept rollouts", () => shelf.stop());
  const waits = client.clock.after(READ_TIME, () => {
    log.warn("the state of rollouts is not read yet, and the server waits for it", { trouble: shelf.trouble });
  });
  try {
    staged.restore(await shelf.read());
  } catch (error) {
    if (!(error instanceof RolloutsForbidden)) throw error;
    log.warn("the account may not read the state of rollouts, so no object is staged", { error });
    return undefined;
  } finally {
    waits();
  }
  const server = newReporterName(settings.POD_NAME);
  const servers = new SharedServers({ client, namespace, revision, server, log });
  return { staged, shelf, duties: [servers.duty], shared: { shelf, servers } };
}

/** Begins to drive rollouts. The driver ends with the kernel. */
export function driveRollouts(
  { staged, shelf, shared }: KeptRollouts,
  { pipeline, xds, traffic }: {
    readonly pipeline: Pipeline;
    readonly xds: XdsServer;
    /** Measures errors. Undefined: acknowledgements alone decide. */
    readonly traffic: TrafficSource | undefined;
  },
  { clock, log, metrics, stopper }: Pick<Kernel, "clock" | "log" | "metrics" | "stopper">,
): RolloutDriver {
  const ended = metrics.counter("mesh_rollouts_ended");
  const driver = new RolloutDriver({
    ...{ staged, shelf, pipeline, xds, traffic, clock, log: log.scope("model") },
    ended: (outcome) => ended.inc({ outcome }),
    ...shared && { servers: shared.servers },
  });
  if (shared !== undefined) {
    shared.shelf.follow((key, record) => driver.adopt(key, record));
    // A deciding server does not follow the records of others, so it reads them again at the end of its turn.
    shared.servers.onTurn(() => shared.shelf.again());
    stopper.add("shared rollouts", () => shared.servers.stop());
  }
  const gauge = metrics.gauge("mesh_rollouts");
  metrics.onScrape(() => {
    const phases = staged.rollouts().map(({ phase }) => phase);
    for (const phase of ["spreading", "soaking", "taken-back"] as const) {
      gauge.set({ phase: phase.replace("-", "_") }, phases.filter((one) => one === phase).length);
    }
  });
  stopper.add("rollouts", () => driver.stop());
  return driver;
}
