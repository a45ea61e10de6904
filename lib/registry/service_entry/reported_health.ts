/**
 * Health of workload entries, from their agents' reports and from their status.
 *
 * @module
 */
import { HEALTH_CHECKED } from "../../config/kinds/workload_entry/registration.ts";
import type { ConfigObject } from "../../config/types.ts";
import { canonicalIp } from "../address.ts";

/** A workload outside the orchestrator: by the name of its WorkloadEntry, or by its address. */
export type ReportPlace =
  | { readonly namespace: string; readonly name: string }
  /** `address`: canonical. */
  | { readonly namespace: string; readonly address: string };

/** The health of a workload from its agent's report. */
export interface HealthReport {
  readonly healthy: boolean;
  /** The account of the agent's proven identity; absent: not required. */
  readonly serviceAccount?: string;
  /** The agent's stream to this server has ended: the entry's status goes before the report. */
  readonly isLate?: boolean;
}

/** A WorkloadEntry with its origin. */
export type WorkloadEntryObject = ConfigObject<"WorkloadEntry">;

/** Whether an agent probes the entry's workload (annotation `proxy.mesh.io/health-checks-enabled`). */
export function isChecked({ meta }: WorkloadEntryObject): boolean {
  return meta.annotations[HEALTH_CHECKED] === "true";
}

/** A place as a text. */
export function placeKey(place: ReportPlace): string {
  return "name" in place ? `name ${place.namespace}/${place.name}` : `address ${place.namespace}/${place.address}`;
}

/** The place of an entry's address as a text. */
export function addressKey({ meta: { namespace }, spec: { address = "" } }: WorkloadEntryObject): string {
  return placeKey({ namespace, address: canonicalIp(address) });
}

export class ReportedHealth {
  /** Reports by place; there are at most as many as reporting agents. */
  readonly #reports = new Map<string, HealthReport>();
  /** Keys of entries whose first report is awaited. */
  readonly #awaited = new Set<string>();

  /** @param report undefined: nobody reports any more */
  set(place: ReportPlace, report: HealthReport | undefined): void {
    if (report === undefined) this.#reports.delete(placeKey(place));
    else this.#reports.set(placeKey(place), report);
  }

  /** The entry counts as healthy until {@linkcode settle} finds a report, or until {@linkcode forget}. */
  await(object: WorkloadEntryObject): void {
    this.#awaited.add(object.key);
  }

  /** Ends the wait for an entry with a report. */
  settle(object: WorkloadEntryObject): void {
    if (this.#reportOn(object) !== undefined) this.#awaited.delete(object.key);
  }

  /** Ends the wait for an entry. @returns whether a report was awaited */
  forget(key: string): boolean {
    return this.#awaited.delete(key);
  }

  /**
   * Whether the workload of a checked entry is healthy: by its agent, by its status, or while the agent's report is
   * awaited.
   */
  isHealthy(object: WorkloadEntryObject): boolean {
    const report = this.#reportOn(object);
    const said = report === undefined || report.isLate ? object.healthy : undefined;
    return said ?? report?.healthy ?? this.#awaited.has(object.key);
  }

  /** Only an agent with the entry's service account may report on the entry. */
  #reportOn(object: WorkloadEntryObject): HealthReport | undefined {
    const { meta: { namespace, name }, spec: { serviceAccount = "" } } = object;
    const reports = [placeKey({ namespace, name }), addressKey(object)].map((key) => this.#reports.get(key));
    return reports.find((report) =>
      report !== undefined && ["", report.serviceAccount ?? serviceAccount].includes(serviceAccount)
    );
  }
}
