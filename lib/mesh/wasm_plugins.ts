/**
 * WasmPlugin objects, and the running plugins of a proxy in order: plugins of the proxy's namespace before plugins of
 * the root namespace, the oldest first, and within a phase by priority.
 *
 * @module
 */
import type { WasmPluginSpec, WasmTrafficSelector } from "../config/kinds/wasm_plugin/schema.ts";
import type { ConfigObject } from "../config/types.ts";
import { oldest, type Selected } from "./selection/index.ts";
import type { PolicyReach } from "./selection/gateway_targets.ts";
import { MergedSelection } from "./selection/merged.ts";
import type { PolicyWorkload } from "./selection/remembered.ts";
import { SharedValues } from "../incremental/weak_table.ts";
import type { TelemetrySide } from "./telemetry/access_logging.ts";

/** A WasmPlugin. */
export type WasmPlugin = ConfigObject<"WasmPlugin">;

/** A plugin in the listeners of a side: the place, without the content. */
export interface PluginUse {
  /** Name of the filter, and of the filter's extension configuration. */
  readonly name: string;
  /** Key of the object. */
  readonly key: string;
  readonly level: "http" | "network";
  readonly phase: WasmPluginSpec["phase"];
  /** Ports with traffic through the plugin. Absent: all. */
  readonly ports?: readonly number[];
}

/** The plugins of a proxy. */
export interface EffectivePlugins {
  /** In running order within a phase. Equal lists are the same object, even for unequal plugins. */
  readonly uses: { readonly [S in TelemetrySide]: readonly PluginUse[] };
  readonly plugins: readonly WasmPlugin[];
}

/** Prefix of the names of WasmPlugins' extension configurations. */
const PREFIX = "extensions.istio.io/wasmplugin/";

/** Priority of a plugin without a priority: the plugin runs last in the phase. */
const UNSET = -Infinity;

/** Name of the extension configuration of a plugin. */
export function pluginResource({ meta: { namespace, name } }: Pick<WasmPlugin, "meta">): string {
  return `${PREFIX}${namespace}.${name}`;
}

/** All WasmPlugin objects of the mesh. */
export class WasmPluginIndex {
  readonly #merged: MergedSelection<"WasmPlugin", EffectivePlugins>;

  constructor(rootNamespace: string, reach: PolicyReach = {}) {
    const uses = new SharedValues<readonly PluginUse[]>();
    const merge = (plugins: readonly WasmPlugin[]): EffectivePlugins => ({
      plugins,
      uses: { client: uses.of(usesOf(plugins, "client")), server: uses.of(usesOf(plugins, "server")) },
    });
    const merging = { choose: inOrder, merge, nothing: merge([]) };
    this.#merged = new MergedSelection(rootNamespace, merging, reach);
  }

  /**
   * Replaces objects by others.
   *
   * @param removed No object of the same key may stay.
   * @returns The namespaces of workloads whose plugins may have changed. `*`: all.
   */
  update(removed: readonly WasmPlugin[], added: readonly WasmPlugin[]): Set<string> {
    return this.#merged.update(removed, added);
  }

  /** To be called when workloads may have other targets. */
  forget(): void {
    this.#merged.forget();
  }

  /** The plugins for a workload. */
  of(workload: PolicyWorkload): EffectivePlugins {
    return this.#merged.of(workload);
  }
}

function inOrder({ root, namespace, workload }: Selected<"WasmPlugin">): WasmPlugin[] {
  const all = [...[...namespace, ...workload].sort(oldest), ...root];
  return all.sort((a, b) => {
    const [first, second] = [a.spec.priority ?? UNSET, b.spec.priority ?? UNSET];
    return first === second ? 0 : second > first ? 1 : -1;
  });
}

function usesOf(plugins: readonly WasmPlugin[], side: TelemetrySide): PluginUse[] {
  return plugins.flatMap((plugin) => {
    const { spec: { match = [], phase, type }, key } = plugin;
    const matching = match.filter(({ mode }) => isOf(mode, side));
    if (match.length > 0 && matching.length === 0) return [];
    const everywhere = match.length === 0 || matching.some(({ ports = [] }) => ports.length === 0);
    const ports = matching.flatMap(({ ports = [] }) => ports.map(({ number }) => number));
    return [{
      name: pluginResource(plugin),
      key,
      level: type === "NETWORK" ? "network" as const : "http" as const,
      phase,
      ...(everywhere ? {} : { ports }),
    }];
  });
}

function isOf(mode: WasmTrafficSelector["mode"], side: TelemetrySide): boolean {
  return mode === "UNDEFINED" || mode === "CLIENT_AND_SERVER" || mode === (side === "client" ? "CLIENT" : "SERVER");
}
