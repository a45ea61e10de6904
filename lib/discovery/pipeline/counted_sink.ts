/**
 * A registry's updates on their way to the aggregate: counted and announced.
 *
 * @module
 */
import type { ChangeEvent } from "./debounce.ts";
import type { RegistrySink } from "../../registry/types.ts";

/** Updates so far, by the names that metric `pilot_inbound_updates` has for them. */
export interface RegistryUpdates {
  eds: number;
  svc: number;
  svcdelete: number;
}

/** Why a push follows an update, as metric `pilot_push_triggers` has it. */
export type RegistryTrigger = "service" | "endpoint" | "proxy";

/** The change that a registry's report makes, by its trigger: made once, because reports may come by the thousand. */
export const REPORTED: Readonly<Record<RegistryTrigger, ChangeEvent>> = {
  service: { reason: "service", objects: [], full: true },
  endpoint: { reason: "endpoint", objects: [], full: false },
  proxy: { reason: "proxy", objects: [], full: false },
};

/** A sink before another one: it counts updates and announces those that it has handed on. */
export function countedSink(
  sink: RegistrySink,
  updates: RegistryUpdates,
  handedOn: (trigger: RegistryTrigger) => void,
): RegistrySink {
  return {
    services: (upserted, removed) => {
      updates.svc += upserted.length;
      updates.svcdelete += removed.length;
      sink.services(upserted, removed);
      handedOn("service");
    },
    endpoints: (service, shard, endpoints) => {
      updates.eds++;
      sink.endpoints(service, shard, endpoints);
      handedOn("endpoint");
    },
    workloads: (upserted, removed) => {
      sink.workloads(upserted, removed);
      handedOn("proxy");
    },
    networks: (known) => sink.networks(known),
  };
}
