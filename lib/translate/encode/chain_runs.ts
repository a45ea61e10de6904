/**
 * Filter chains as fields of a listener, in runs of bytes. Content shared with other listeners is encoded and
 * compressed once.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { encode } from "../../pb/codec.ts";
import { joinedParts } from "../../pb/joined_any.ts";
import { Block, type ByteRun } from "../../resource/block.ts";
import { anyRuns, fieldRuns, textRun } from "../../resource/field_runs.ts";

type FilterChain = envoy.config.listener.v3.FilterChain;
type Filter = envoy.config.listener.v3.Filter;

const LISTENER = "envoy.config.listener.v3.Listener";
const CHAIN = "envoy.config.listener.v3.FilterChain";

/** Numbers of the fields `Listener.filter_chains`, `FilterChain.filters`, `Filter.name` and `Filter.typed_config`. */
const FILTER_CHAINS = 3, FILTERS = 3, NAME = 1, TYPED_CONFIG = 4;

/**
 * A chain shared by many listeners becomes a single block. In any other chain, shared parts of filters become blocks.
 */
export function chainRuns(chain: FilterChain): readonly ByteRun[] {
  const { filters = [], ...own } = chain;
  if (!filters.some(({ typed_config: packed }) => packed && joinedParts(packed))) return [wholeChain(chain)];
  return fieldRuns(FILTER_CHAINS, [encode(CHAIN, own), ...filters.flatMap(filterRuns)]);
}

const chains = new WeakMap<FilterChain, Block>();

function wholeChain(chain: FilterChain): Block {
  return chains.getOrInsertComputed(chain, () => new Block([encode(LISTENER, { filter_chains: [chain] })]));
}

/** Encoded messages concatenate, and fields may come in any order. */
function filterRuns(filter: Filter): readonly ByteRun[] {
  const { name = "", typed_config: packed } = filter;
  const parts = packed && joinedParts(packed);
  if (!parts) return [encode(CHAIN, { filters: [filter] })];
  const content = anyRuns<ByteRun>(packed.type_url ?? "", [sharedBlock(parts.shared), parts.own]);
  return fieldRuns(FILTERS, [textRun(NAME, name), ...fieldRuns(TYPED_CONFIG, content)]);
}

/** Blocks by the encoded fields that filters share. */
const shared = new WeakMap<Uint8Array, Block>();

function sharedBlock(bytes: Uint8Array): Block {
  return shared.getOrInsertComputed(bytes, () => new Block([bytes]));
}
