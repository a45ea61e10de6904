/**
 * The inputs of a pipeline.
 *
 * @module
 */
import type { MeshConfig, MeshNetworks } from "../../config/mesh/types.ts";
import type { Finding } from "../../finding/finding.ts";
import type { TokenKeySource } from "../../mesh/options.ts";
import type { ObjectIndex } from "../../mesh/object_index.ts";
import type { PaceOptions } from "../../kernel/time/paced.ts";
import type { ServiceEntryOptions } from "../../registry/service_entry/registry.ts";
import type { CacheSwitches } from "../../translate/machine/cache/caches.ts";
import type { StagedObjects } from "../../rollout/staged_objects.ts";
import type { BuildFailed } from "../../translate/machine/results/row.ts";
import type { ResultRows } from "../../translate/machine/results/table.ts";
import type { Proxy } from "../../translate/proxy/node.ts";
import type { TranslateSettings } from "../../translate/reader/settings.ts";
import type { DebounceOptions, MergedChange, Timers } from "./debounce.ts";
import type { GatewayNames } from "./networks.ts";

export interface PipelineTokenKeys extends TokenKeySource {
  findings(): Iterable<Finding>;
}

/** Inputs of a pipeline. */
export interface PipelineOptions {
  readonly mesh: MeshConfig;
  readonly networks: MeshNetworks;
  readonly settings: TranslateSettings;
  readonly caches: CacheSwitches;
  readonly debounce: DebounceOptions;
  readonly entries: Omit<ServiceEntryOptions, "networkOf">;
  /** `ENABLE_ENHANCED_DESTINATIONRULE_MERGE`. */
  readonly enhancedDestinationRuleMerge: boolean;
  readonly timers?: Timers;
  /** How pushes are paced, for tests. Default: the defaults of `paced`. */
  readonly pace?: Omit<PaceOptions, "signal">;
  /** Keys of token issuers. Default: none are known. */
  readonly tokenKeys?: PipelineTokenKeys;
  /** Resolves host names of networks' gateways. Default: nobody does. */
  readonly gatewayNames?: GatewayNames | undefined;
  /** The kinds of results. Default: those of the product. */
  readonly results?: ResultRows;
  /** Objects that only some proxies have. Default: every proxy has every object at once. */
  readonly staged?: StagedObjects | undefined;
  /** Plans of rollouts are findings, because the server has no place for the state of rollouts. Default: false. */
  readonly stagesNothing?: boolean;
  /** Further indexes of the mesh. Default: none. */
  readonly indexes?: readonly ObjectIndex[];
  /** Reads a proxy's properties again after the mesh configuration changed. */
  readonly readAgain: (proxy: Proxy, mesh: MeshConfig) => Proxy;
  /** Called when a builder threw. The resources of the builder stay unchanged. */
  readonly buildFailed: BuildFailed;
  /** Called with an exception in a push; the earlier resources stay in force. */
  readonly failed: (error: unknown, change: MergedChange) => void;
  /** Called after each push: seconds of debouncing, and of translation. */
  readonly measured?: (times: { readonly debounce: number; readonly translate: number }) => void;
}
