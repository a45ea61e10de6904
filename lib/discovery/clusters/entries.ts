/**
 * The workload entries of a remote cluster: workloads that services of that cluster select, and service entries of the
 * configuration (`PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY`).
 *
 * @module
 */
import type { ChangeSet } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { OrchRegistry } from "../../registry/orch/registry.ts";
import { type ConvertOptions, convertWorkload } from "../../registry/service_entry/convert.ts";
import type { Registry, RegistrySink } from "../../registry/types.ts";

export class RemoteEntries implements Registry {
  readonly provider = "External";
  readonly clusterId: string;
  readonly #options: ConvertOptions;
  readonly #services: Pick<OrchRegistry, "onWorkloads">;
  #sink: RegistrySink | undefined;

  /** @param services The registry of the same cluster. */
  constructor(options: ConvertOptions, services: Pick<OrchRegistry, "onWorkloads">) {
    this.#options = options;
    this.clusterId = options.clusterId;
    this.#services = services;
  }

  start(sink: RegistrySink): Promise<void> {
    this.#sink = sink;
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#sink = undefined;
    return Promise.resolve();
  }

  /** Takes changes of the cluster's workload entries. */
  take({ added, updated, removed }: Pick<ChangeSet, "added" | "updated" | "removed">): void {
    const workloads = [...added, ...updated.map((one) => one.new)].filter(isEntry)
      .map((entry) => convertWorkload(entry, "healthy", this.#options));
    const gone = removed.filter(isEntry).map(({ key }) => key);
    if (workloads.length + gone.length === 0) return;
    this.#sink?.workloads(workloads, gone);
    this.#services.onWorkloads(this, workloads, gone);
  }
}

function isEntry(object: ConfigObject): object is ConfigObject<"WorkloadEntry"> {
  return object.kind === "WorkloadEntry";
}
