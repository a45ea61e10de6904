/**
 * The patches of each proxy, by part of the configuration. A patch of listeners leaves clusters and routes alone.
 *
 * @module
 */
import type { Mesh } from "../../mesh/mesh.ts";
import { RememberedPolicies } from "../../mesh/selection/remembered.ts";
import { SharedLists } from "../../incremental/weak_table.ts";
import { compileFilter } from "../../patches/compile.ts";
import { patchesFor } from "../../patches/for_proxy.ts";
import { isOfListeners } from "../../patches/listener.ts";
import { isOfRoutes } from "../../patches/routes.ts";
import type { CompiledPatch } from "../../patches/types.ts";
import type { ProxyProperties } from "./proxy_properties.ts";

/** A part of a proxy's configuration. */
export type PatchPart = (typeof PATCH_PARTS)[number];

export const PATCH_PARTS = ["clusters", "listeners", "routes", "extensions"] as const;

/** The patches for a part, in order. Equal lists are the same object. */
export type PatchList = readonly CompiledPatch[];

/** No patches, for any part. */
export const NO_PATCHES: PatchList = [];

const BELONGS: { readonly [P in PatchPart]: (patch: CompiledPatch) => boolean } = {
  clusters: ({ applyTo }) => applyTo === "CLUSTER",
  listeners: isOfListeners,
  routes: isOfRoutes,
  extensions: ({ applyTo }) => applyTo === "EXTENSION_CONFIG",
};

type Lists = { readonly [P in PatchPart]: PatchList };

const NO_LISTS: Lists = { clusters: NO_PATCHES, listeners: NO_PATCHES, routes: NO_PATCHES, extensions: NO_PATCHES };

/** Finds the patches of proxies; each once while the ProxyFilters stay. */
export class PatchSelection {
  readonly mesh: Mesh;
  readonly #lists = new SharedLists<CompiledPatch>();
  /** By proxy: the proxy's version and its rejections decide, too. */
  readonly #remembered = new RememberedPolicies(
    (properties: ProxyProperties) => this.#listsOf(properties),
    (properties) => properties,
  );

  constructor(mesh: Mesh) {
    this.mesh = mesh;
  }

  /** Call it after a change of ProxyFilters. The patches are compiled now, so that no proxy waits. */
  renew(): void {
    this.#remembered.forget();
    for (const filter of this.mesh.proxyFilters) compileFilter(filter);
  }

  /** The patches of a proxy. */
  of(properties: ProxyProperties, part: PatchPart): PatchList {
    if (this.mesh.proxyFilters.size === 0) return NO_PATCHES;
    return this.#remembered.of(properties)[part];
  }

  #listsOf(properties: ProxyProperties): Lists {
    const { patched } = properties;
    if (patched === undefined) return NO_LISTS;
    const all = patchesFor(this.mesh.proxyFilters.of(properties), patched);
    if (all.length === 0) return NO_LISTS;
    const list = (part: PatchPart): PatchList => {
      const own = all.filter(BELONGS[part]);
      return own.length === 0 ? NO_PATCHES : this.#lists.of(own);
    };
    return {
      clusters: list("clusters"),
      listeners: list("listeners"),
      routes: list("routes"),
      extensions: list("extensions"),
    };
  }
}
