/**
 * ProxyConfig: proxy settings for the workloads of a namespace or selector.
 *
 * @module
 */
import type { StringMap, WorkloadSelector } from "../common/types.ts";

/** Spec of a ProxyConfig object. (The proxy settings of the mesh configuration are `ProxySettings` in `lib/config/mesh`.) */
export interface ProxyConfigSpec {
  readonly selector?: WorkloadSelector;
  /** Worker threads; presence kept: 0 means all cores. Absent: derived from the CPU limit. */
  readonly concurrency?: number;
  readonly environmentVariables?: StringMap;
  readonly image?: { readonly imageType?: string };
}
