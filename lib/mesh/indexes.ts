/**
 * The indexes of a mesh, for scopes.
 *
 * @module
 */
import type { MeshConfig } from "../config/mesh/types.ts";
import type { DestinationRuleIndex } from "./destination_rule_index.ts";
import type { ServiceIndex } from "./service_index.ts";
import type { VirtualServiceIndex } from "./virtual_service_index.ts";

/** The indexes for scopes. */
export interface MeshIndexes {
  readonly config: MeshConfig;
  readonly services: ServiceIndex;
  readonly virtualServices: VirtualServiceIndex;
  readonly destinationRules: DestinationRuleIndex;
}
