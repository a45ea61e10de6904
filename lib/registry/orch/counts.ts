/**
 * The counts of the registry of the orchestrator's objects, for metrics.
 *
 * @module
 */
import type { RegistryKind } from "./options.ts";

/** The fate of an object. */
export type RegistryEvent = "add" | "update" | "delete";

/** Names of the kinds in metric `pilot_k8s_reg_events`, as dashboards know them. */
const NAMES: Readonly<Record<RegistryKind, string>> = {
  Namespace: "Namespaces",
  Node: "Nodes",
  Service: "Services",
  EndpointSlice: "EndpointSlice",
  Endpoints: "Endpoints",
  Pod: "Pods",
  ServiceExport: "ServiceExports",
  ServiceImport: "ServiceImports",
};

export class RegistryCounts {
  readonly #events = new Map<string, number>();
  readonly #waiting = new Map<string, readonly string[]>();
  #withoutPod = 0;

  /** Number of endpoints that came before their pod so far (`pilot_k8s_endpoints_with_no_pods`). */
  get withoutPod(): number {
    return this.#withoutPod;
  }

  /**
   * The endpoints waiting for their pod (`endpoint_no_pod`), and their addresses (`pilot_k8s_endpoints_pending_pod`).
   */
  get waiting(): { readonly endpoints: number; readonly addresses: number } {
    const all = [...this.#waiting.values()].flat();
    return { endpoints: all.length, addresses: new Set(all).size };
  }

  /** Events so far, by kind and the fate of the object. */
  *events(): IterableIterator<{ readonly type: string; readonly event: RegistryEvent; readonly count: number }> {
    for (const [key, count] of this.#events) {
      const [type = "", event] = key.split(" ");
      yield { type, event: event as RegistryEvent, count };
    }
  }

  event(kind: RegistryKind, event: RegistryEvent): void {
    const key = `${NAMES[kind]} ${event}`;
    this.#events.set(key, (this.#events.get(key) ?? 0) + 1);
  }

  /** The addresses of a service's endpoints without a known pod. */
  waits(service: string, addresses: readonly string[]): void {
    const before = this.#waiting.get(service);
    if (addresses.length === 0) this.#waiting.delete(service);
    else this.#waiting.set(service, addresses);
    this.#withoutPod += addresses.filter((address) => !before?.includes(address)).length;
  }
}
