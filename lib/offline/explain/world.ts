/**
 * What is asked to explain a request: proxies with their resources, services, objects and where those are written.
 *
 * @module
 */
import type { Origin } from "../../config/finding/origin.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import type { Labels } from "../../registry/labels.ts";
import type { ProxyResources } from "../../simulate/types.ts";
import type { FieldPlace } from "../field_place.ts";
import type { Resolver } from "./resolve.ts";

/** A proxy on the way. */
export interface ProxyOnWay {
  readonly type: "sidecar" | "router";
  readonly namespace: string;
  readonly name: string;
  readonly address: string;
  readonly labels: Labels;
  /** Node id. */
  readonly id: string;
}

/** What is asked on the way. */
export interface ExplainWorld {
  readonly resolver: Resolver;
  /** All that a proxy has. */
  resources(proxy: ProxyOnWay): Promise<ProxyResources>;
  /** The proxy beside the workload of an address. */
  proxyAt(address: string): ProxyOnWay | undefined;
  /** An object by its key. */
  object(key: string): Pick<AnyConfigObject, "kind" | "spec" | "origin"> | undefined;
  /** Where a field is written. */
  place(origin: Origin, field: string): FieldPlace | undefined;
}
