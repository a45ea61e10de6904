/**
 * Patches of listeners and their parts, from the outside in: the listener, its listener filters, each chain with its
 * network and HTTP filters. Added chains come last and are not patched.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { mergedUnderName } from "../pb/merge.ts";
import { attempted } from "./attempt.ts";
import { patchChain } from "./chain.ts";
import { PATCHED_MESSAGE } from "./messages.ts";
import { mergeFilters, patchFilterList } from "./filters.ts";
import { listenerFilterName, matchesListener } from "./listener_match.ts";
import { type CompiledPatch, isFor, type PatchContext, type PatchTarget, type ReportPatch } from "./types.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

/** The targets that belong to a listener. */
const OF_LISTENERS: ReadonlySet<PatchTarget> = new Set([
  "LISTENER",
  "LISTENER_FILTER",
  "FILTER_CHAIN",
  "NETWORK_FILTER",
  "HTTP_FILTER",
]);

/** Whether a patch applies to listeners or their parts. */
export function isOfListeners({ applyTo }: CompiledPatch): boolean {
  return OF_LISTENERS.has(applyTo);
}

/**
 * A listener with matching patches applied.
 *
 * @param patches All patches of a proxy.
 * @returns The same object if no patch matches. Undefined for a removed listener.
 */
export function patchListener(
  listener: Listener,
  patches: readonly CompiledPatch[],
  context: PatchContext,
  report: ReportPatch,
): Listener | undefined {
  const fitting = patches.filter((patch) =>
    isOfListeners(patch) && isFor(patch, context) && matchesListener(listener, patch)
  );
  if (fitting.length === 0) return listener;
  let now = listener;
  for (const patch of fitting) {
    if (patch.applyTo !== "LISTENER") continue;
    if (patch.operation === "REMOVE") {
      report({ patch });
      return undefined;
    }
    if (patch.operation !== "MERGE") continue;
    now = attempted(
      patch,
      now,
      report,
      (before) => mergedUnderName(PATCHED_MESSAGE.LISTENER, { ...before }, patch.value),
    );
  }
  return patchChains(patchListenerFilters(now, fitting, report), fitting, report);
}

function patchListenerFilters(listener: Listener, fitting: readonly CompiledPatch[], report: ReportPatch): Listener {
  const patches = fitting.filter(({ applyTo }) => applyTo === "LISTENER_FILTER");
  const before = listener.listener_filters ?? [];
  const filters = mergedInTurn(before, patches, report);
  return filters === before ? listener : { ...listener, listener_filters: [...filters] };
}

/** Merges of listener filters are applied in turn with other operations, unlike merges of other filters. */
function mergedInTurn(
  filters: readonly envoy.config.listener.v3.ListenerFilter[],
  patches: readonly CompiledPatch[],
  report: ReportPatch,
): readonly envoy.config.listener.v3.ListenerFilter[] {
  return patches.reduce((before, patch) => {
    if (patch.operation !== "MERGE") return patchFilterList(before, [patch], listenerFilterName, report);
    return listenerFilterName(patch) === undefined ? before : mergeFilters(before, [patch], listenerFilterName, report);
  }, filters);
}

function patchChains(listener: Listener, fitting: readonly CompiledPatch[], report: ReportPatch): Listener {
  const before = listener.filter_chains ?? [];
  const patched = before.map((chain) => patchChain(listener, chain, fitting, report));
  const fallback = listener.default_filter_chain;
  const patchedFallback = fallback && patchChain(listener, fallback, fitting, report);
  const added = fitting.filter(({ applyTo, operation }) => applyTo === "FILTER_CHAIN" && operation === "ADD");
  for (const patch of added) report({ patch });
  const same = added.length === 0 && patchedFallback === fallback && patched.every((chain, i) => chain === before[i]);
  if (same) return listener;
  const { default_filter_chain: _, ...rest } = listener;
  return {
    ...rest,
    filter_chains: [
      ...patched.filter((chain) => chain !== undefined),
      ...added.map(({ value }) => value as FilterChain),
    ],
    ...(patchedFallback ? { default_filter_chain: patchedFallback } : {}),
  };
}

/** Whether a listener still has a way to accept connections. Envoy refuses a listener without any. */
export function hasChains(
  { filter_chains = [], default_filter_chain, api_listener, udp_listener_config }: Listener,
): boolean {
  return filter_chains.length > 0 || default_filter_chain !== undefined || api_listener !== undefined ||
    udp_listener_config !== undefined;
}
