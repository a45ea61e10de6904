/**
 * The registration of workloads in a server, by its settings.
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import type { ConfigStore } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import { ApiShelf, OWN_VERSION } from "./api_shelf.ts";
import { cleanUpEntries, type CleanUpParts } from "./clean_up.ts";
import type { DepartureTimes } from "./departed.ts";
import { MemoryShelf } from "./memory_shelf.ts";
import { Registrar } from "./registrar.ts";
import type { EntryShelf } from "./shelf.ts";

/** Rank of entries in memory: entries of users have precedence. */
const REGISTERED_RANK = 999;

/** Inputs of the registration of a server. */
export interface RegistrationParts {
  readonly store: ConfigStore;
  /** Undefined: there is no orchestrator. */
  readonly client: ApiClient | undefined;
  /** Longest life of a connection, milliseconds (`--keepaliveMaxServerConnectionAge`). */
  readonly maxConnectionAge: number;
  /** Metrics of queues. Default: there are none. */
  readonly queueMetrics?: Metrics | undefined;
}

/** The settings in use. */
type RegistrationSettings = Pick<
  DiscoverySettings,
  | "PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION"
  | "PILOT_WORKLOAD_ENTRY_GRACE_PERIOD"
  | "MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY"
  | "POD_NAME"
>;

/**
 * The registrar of a server, with the clean-up of entries in memory; undefined: workloads do not register themselves.
 */
export function startRegistration(
  { store, client, maxConnectionAge, queueMetrics }: RegistrationParts,
  settings: RegistrationSettings,
  { clock, log: logs, metrics, stopper }: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
): Registrar | undefined {
  if (!settings.PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION) return undefined;
  const log = logs.scope("wle");
  const memory = new MemoryShelf(store.addSource("registration", REGISTERED_RANK));
  const registrar = new Registrar({
    ...{ store, clock, log, metrics, queueMetrics },
    controller: settings.POD_NAME || `${Deno.hostname()}-${crypto.randomUUID().slice(0, 8)}`,
    shelfOf: (object) => client === undefined ? memory : apiShelfOf(client, object) ?? memory,
    validateIdentity: settings.MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY,
  });
  const stop = new AbortController();
  const isHere = ({ origin }: ConfigObject) => origin.from === "derived" && origin.source === "registration";
  const cleaned = cleanUpEntries({
    ...{ store, clock, log, metrics, times: departureTimes(settings, maxConnectionAge) },
    shelfOf: (entry) => isHere(entry) ? memory : undefined,
  }, stop.signal);
  stopper.add("registration of workloads", async () => {
    await registrar.stop();
    stop.abort();
    await cleaned;
  });
  return registrar;
}

/**
 * Whether entries of departed workloads are removed. Health checks alone are enough: entries of earlier registrations
 * may be left.
 */
export function cleansEntries(
  { PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION: registers, PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS: checks }: Pick<
    DiscoverySettings,
    "PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION" | "PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS"
  >,
): boolean {
  return registers || checks;
}

/** The clean-up of entries in the orchestrator. */
export function registrationDuty(
  { store, client, maxConnectionAge }: RegistrationParts & { readonly client: ApiClient },
  settings: RegistrationSettings,
  { clock, log, metrics }: Pick<Kernel, "log" | "metrics" | "clock">,
): Duty {
  const parts: CleanUpParts = {
    ...{ store, clock, log: log.scope("wle"), metrics, times: departureTimes(settings, maxConnectionAge) },
    shelfOf: (entry) => apiShelfOf(client, entry),
  };
  return {
    lock: "mesh-auto-registration",
    about: "entries of departed workloads",
    run: (signal) => cleanUpEntries(parts, signal),
  };
}

function departureTimes(settings: RegistrationSettings, maxConnectionAge: number): DepartureTimes {
  return { grace: settings.PILOT_WORKLOAD_ENTRY_GRACE_PERIOD, connection: 1.5 * maxConnectionAge };
}

/** Undefined: the object is not of the orchestrator. */
function apiShelfOf(client: ApiClient, { origin }: ConfigObject): EntryShelf | undefined {
  if (origin.from !== "api") return undefined;
  return new ApiShelf(client, origin.written?.apiVersion ?? OWN_VERSION);
}
