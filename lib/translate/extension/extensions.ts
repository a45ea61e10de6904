/**
 * The extension configurations of a proxy: what filters of its listeners ask for by name (ECDS).
 *
 * @module
 */
import type { ResourceSet } from "../../resource/set.ts";
import { encodeExtension } from "../encode/encode.ts";
import { reported, type ReportFinding } from "../message/finding.ts";
import type { Reader } from "../reader/reader.ts";
import { wasmExtension } from "./wasm.ts";

/** The extension configurations of a proxy. */
export interface ExtensionSets {
  readonly configs: ResourceSet;
  /**
   * Secrets that belong into some of them, by the name of the configuration: `kubernetes://NAMESPACE/NAME`. They are put
   * in for each stream, because not every client may read them.
   */
  readonly pullSecrets: ReadonlyMap<string, string>;
}

/** Those that are for a proxy. */
export function extensionSets(read: Reader, empty: ResourceSet, report: ReportFinding): ExtensionSets {
  const built = read.wasmPlugins().map((plugin) => wasmExtension(read, plugin));
  return {
    configs: empty.with(built.map(reported("not-as-written", report)).map(encodeExtension)),
    pullSecrets: new Map(
      built.flatMap(({ message: { name = "" }, pullSecret }) => pullSecret === undefined ? [] : [[name, pullSecret]]),
    ),
  };
}
