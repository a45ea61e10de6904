/**
 * Patches of a filter chain, its network filters and its HTTP filters.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import type { Any } from "../pb/codec.ts";
import { decodeApi, encodeApi, packedName } from "../pb/envoy_api.ts";
import { joinedParts, withParts } from "../pb/joined_any.ts";
import { bytesOf, merged } from "../pb/merge.ts";
import { takeField } from "../pb/one_field.ts";
import { attempted } from "./attempt.ts";
import { PATCHED_MESSAGE } from "./messages.ts";
import { mergeFilters, patchFilterList } from "./filters.ts";
import { httpFilterName, matchesChain, networkFilterName } from "./listener_match.ts";
import { PatchedContents, PatchedParts } from "./patched_parts.ts";
import { mergedSocket } from "./transport_socket.ts";
import type { CompiledPatch, ReportPatch } from "./types.ts";

type Listener = envoy.config.listener.v3.Listener;
type NetworkLevelFilter = envoy.config.listener.v3.Filter;
type FilterChain = envoy.config.listener.v3.FilterChain;
type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

/** Name of the network filter with HTTP filters inside. */
const MANAGER_NAME = "envoy.filters.network.http_connection_manager";
/** Message of the HTTP connection manager. */
export const MANAGER = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

const NO_FILTERS: readonly NetworkLevelFilter[] = [];

/**
 * A chain with matching patches applied.
 *
 * @param patches The patches that match the listener.
 * @returns The same object if no patch matches. Undefined for a removed chain.
 */
export function patchChain(
  listener: Listener,
  chain: FilterChain,
  patches: readonly CompiledPatch[],
  report: ReportPatch,
): FilterChain | undefined {
  let now = chain;
  for (const patch of patches) {
    if (patch.applyTo !== "FILTER_CHAIN" || !matchesChain(listener, now, patch)) continue;
    if (patch.operation === "REMOVE") {
      report({ patch });
      return undefined;
    }
    if (patch.operation === "MERGE") now = attempted(patch, now, report, (before) => mergedChain(before, patch));
  }
  const left = patches.filter((patch) => matchesChain(listener, now, patch));
  return chains.patched(now, left, report, (heard) => {
    const before = now.filters ?? NO_FILTERS;
    const filters = patchNetworkFilters(before, left, heard);
    return filters === before ? now : { ...now, filters: [...filters] };
  });
}

/** A chain shared by many listeners remains a single object, so the chain is encoded once. */
const chains = new PatchedParts<FilterChain>();

function mergedChain(chain: FilterChain, { value }: CompiledPatch): FilterChain {
  const own = chain.transport_socket;
  const wanted = (value as FilterChain).transport_socket;
  if (own && wanted && own.name === wanted.name) return { ...chain, transport_socket: mergedSocket(own, wanted) };
  return merged(PATCHED_MESSAGE.FILTER_CHAIN, { ...chain }, value);
}

function patchNetworkFilters(
  before: readonly NetworkLevelFilter[],
  patches: readonly CompiledPatch[],
  report: ReportPatch,
): readonly NetworkLevelFilter[] {
  const own = patches.filter(({ applyTo }) => applyTo === "NETWORK_FILTER");
  const listed = patchFilterList(before, own, networkFilterName, report);
  const filters = mergeFilters(listed, own, networkFilterName, report);
  const http = patches.filter(({ applyTo }) => applyTo === "HTTP_FILTER");
  if (http.length === 0) return filters;
  const now = filters.map((filter) => patchHttpFilters(filter, http, report));
  return now.every((filter, i) => filter === filters[i]) ? filters : now;
}

/** The HTTP filters of a connection manager; other filters have none. */
function patchHttpFilters(
  filter: NetworkLevelFilter,
  patches: readonly CompiledPatch[],
  report: ReportPatch,
): NetworkLevelFilter {
  const { name = "", typed_config: config } = filter;
  if (name !== MANAGER_NAME || config === undefined || packedName(config) !== MANAGER) return filter;
  const fitting = patches.filter((patch) => (networkFilterName(patch) ?? name) === name);
  if (fitting.length === 0) return filter;
  const parts = joinedParts(config);
  if (parts === undefined) {
    return managers.patched(filter, fitting, report, (heard) => patchManager(filter, config, fitting, heard));
  }
  // The filter belongs to one workload, but the patched fields are shared.
  const { shared, own } = parts;
  const patched = sharedFields.patched(shared, fitting, report, (heard) => patchFields(shared, fitting, heard));
  return patched === shared ? filter : { ...filter, typed_config: withParts(config, { shared: patched, own }) };
}

const managers = new PatchedParts<NetworkLevelFilter>();
/** Fields shared by connection managers, with patched HTTP filters. */
const sharedFields = new PatchedParts<Uint8Array>();
const filterLists = new PatchedContents();

/** Number of the field `http_filters`. */
const HTTP_FILTERS = 5;

/** Everything but the HTTP filters stays encoded: most managers differ only in other fields. */
function patchManager(
  filter: NetworkLevelFilter,
  config: Partial<Any>,
  fitting: readonly CompiledPatch[],
  report: ReportPatch,
): NetworkLevelFilter {
  const whole = bytesOf(config);
  const patched = patchFields(whole, fitting, report);
  return patched === whole ? filter : { ...filter, typed_config: { type_url: config.type_url!, value: patched } };
}

/**
 * Patches the HTTP filters among the encoded fields of a manager.
 *
 * @returns The same bytes if nothing changed.
 */
function patchFields(fields: Uint8Array, fitting: readonly CompiledPatch[], report: ReportPatch): Uint8Array {
  const taken = takeField(fields, HTTP_FILTERS);
  const patched = filterLists.patched(taken.field, fitting, report, (heard) => {
    const { http_filters: before = [] } = decodeApi(MANAGER, taken.field) as HttpConnectionManager;
    const listed = patchFilterList(before, fitting, httpFilterName, heard);
    const filters = mergeFilters(listed, fitting, httpFilterName, heard);
    return filters === before ? undefined : encodeApi(MANAGER, { http_filters: filters });
  });
  return patched === undefined ? fields : taken.with(patched);
}
