/**
 * The inputs of an explanation: proxies with their resources, services, objects and the places of objects.
 *
 * @module
 */
import type { Origin } from "../../finding/origin.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import type { FieldPlace, ProxyOnWay } from "../../debug/explanation.ts";
import type { MeetingRequest } from "../../simulate/for_request.ts";
import type { ProxyResources } from "../../simulate/types.ts";
import type { Resolver } from "./resolve.ts";
import type { TunnelWorld } from "./tunnel.ts";

/** The world that an explanation reads. */
export interface ExplainWorld {
  readonly resolver: Resolver;
  /** The resources of a proxy that a request may meet. */
  resources(proxy: ProxyOnWay, request: MeetingRequest): Promise<ProxyResources>;
  /** The workload of an address in the form of its proxy, even if no proxy runs. */
  workloadAt(address: string): ProxyOnWay | undefined;
  /** The pods of a workload, by the workload's key, likewise. */
  workloadOf(key: string): ProxyOnWay | undefined;
  /** The node tunnels; undefined: no workload is in ambient mode. Absent: nothing is known of tunnels. */
  tunnels?(): TunnelWorld | undefined;
  /** Sentences about objects for a host that are hidden from a client. */
  hidden(host: string, client: ProxyOnWay): readonly string[];
  /** An object by its key. */
  object(key: string): Pick<AnyConfigObject, "kind" | "spec" | "origin"> | undefined;
  /** Where a field is written. */
  place(origin: Origin, field: string): FieldPlace | undefined;
}
