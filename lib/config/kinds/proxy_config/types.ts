/**
 * ProxyConfig: proxy settings for the workloads of a namespace or selector.
 *
 * @module
 */
import type { StringMap, WorkloadSelector } from "../common/types.ts";

/** Spec of a ProxyConfig object. (The proxy settings of the mesh configuration are `ProxySettings` in `lib/config/mesh`.) */
export interface ProxyConfigSpec {
  /** Workloads of the namespace that it is for; absent: all of them. */
  readonly selector?: WorkloadSelector;
  /** Worker threads; 0 means all cores. Absent: derived from the CPU limit. */
  readonly concurrency?: number;
  /** Variables of the proxy's container. */
  readonly environmentVariables?: StringMap;
  /** Image of the proxy's container. */
  readonly image?: {
    /** Type of the image, such as `distroless`. */
    readonly imageType?: string;
  };
}
