/**
 * ProxyConfig: proxy settings for the workloads of a namespace or selector.
 *
 * @module
 */
import { map } from "../../schema/containers.ts";
import { keepZero } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { int32, string } from "../../schema/scalars.ts";
import { ownMetadataKey } from "../../spelling/spelling.ts";
import { workloadSelector } from "../common/schema.ts";

export const proxyConfig = message({
  /** Workloads of the settings in the namespace; absent: all workloads. */
  selector: workloadSelector,
  /** Worker threads; 0 means all cores. Absent: derived from the CPU limit. */
  concurrency: keepZero(int32()),
  /** Variables of the proxy's container. */
  environmentVariables: map(string(), ownMetadataKey),
  /** Image of the proxy's container. */
  image: message({
    /** Type of the image, such as `distroless`. */
    imageType: string(),
  }),
});

/** Spec of a ProxyConfig object. (The proxy settings of the mesh configuration are `ProxySettings` in `lib/config/mesh`.) */
export interface ProxyConfigSpec extends Of<typeof proxyConfig> {}
