/**
 * The extension configurations of a proxy, requested by name from listeners' filters (ECDS).
 *
 * @module
 */
import type { ResourceSet } from "../../resource/set.ts";
import { encodeExtension } from "../encode/encode.ts";
import { sharedTcpProxies } from "../filters/network/shared_tcp_proxy.ts";
import { reported } from "../message/finding.ts";
import type { ReportNote } from "../message/notes.ts";
import { added } from "../patches/added.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { wasmExtension } from "./wasm.ts";

/** The extension configurations of a proxy. */
export interface ExtensionSets {
  readonly configs: ResourceSet;
  /**
   * Secrets needed in configurations, by the name of the configuration: `kubernetes://NAMESPACE/NAME`. Each stream
   * inserts the secrets separately, because not every client may read them.
   */
  readonly pullSecrets: ReadonlyMap<string, string>;
}

/** The extension configurations for a proxy: additions of patches, and WasmPlugins. WasmPlugins have precedence. */
export function extensionSets(read: Reader, empty: ResourceSet, report: ReportNote): ExtensionSets {
  if (aspect(read, "library")) return { configs: empty, pullSecrets: new Map() };
  const built = read.wasmPlugins().map((plugin) => wasmExtension(read, plugin));
  const all = [
    ...added(read, "extensions", report),
    ...built.map(reported("not-as-written", report)),
    ...sharedTcpProxies(read),
  ];
  return {
    configs: empty.with(all.map(encodeExtension)),
    pullSecrets: new Map(
      built.flatMap(({ message: { name = "" }, pullSecret }) => pullSecret === undefined ? [] : [[name, pullSecret]]),
    ),
  };
}
