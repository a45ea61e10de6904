/**
 * Starts the memory of what workloads have called.
 *
 * Permissions: read, write (`MESH_CALLS_DIR`), or the permissions of the client.
 *
 * @module
 */
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import { CallFile } from "./call_file.ts";
import { CallKeeper, type CallShelf } from "./call_keeper.ts";
import { CallMaps } from "./call_maps.ts";
import { CallMemory } from "./call_memory.ts";

/**
 * Starts the memory with what is stored.
 *
 * @returns undefined: nothing is remembered (`MESH_CALLS_LIFETIME` is 0)
 */
export async function startCalls(
  { client, systemNamespace }: { readonly client: ApiClient | undefined; readonly systemNamespace: string },
  settings: Pick<DiscoverySettings, "MESH_CALLS_DIR" | "MESH_CALLS_LIFETIME">,
  { clock, log, stopper }: Pick<Kernel, "clock" | "log" | "stopper">,
): Promise<CallMemory | undefined> {
  const lifetime = settings.MESH_CALLS_LIFETIME;
  if (lifetime === 0) return undefined;
  const memory = new CallMemory({ lifetime, clock });
  const shelf = shelfOf(client, systemNamespace, settings.MESH_CALLS_DIR);
  const keeper = new CallKeeper(memory, shelf, clock, log.scope("ads"));
  stopper.add("what workloads have called", () => keeper.stop());
  await keeper.start();
  return memory;
}

function shelfOf(client: ApiClient | undefined, systemNamespace: string, folder: string): CallShelf {
  if (client !== undefined) return new CallMaps(client, systemNamespace);
  return folder === "" ? IN_PROCESS : new CallFile(folder);
}

/** Calls are remembered only by the process. Its keeper still forgets old names. */
const IN_PROCESS: CallShelf = {
  place: "the process",
  start: () => Promise.resolve(),
  save: () => Promise.resolve(),
  stop: () => Promise.resolve(),
};
