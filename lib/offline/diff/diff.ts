/**
 * The effect of a change of configuration on proxies: the resources of each proxy, and the fate of its connections. The
 * effect is found by making the change in a server's pipeline.
 *
 * @module
 */
import type { Finding } from "../../finding/finding.ts";
import type { OfflineMesh } from "../offline_mesh.ts";
import { messageJson } from "../../pb/json.ts";
import { TYPE_URL_PREFIX } from "../../pb/codec.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import { typeRules } from "../../xds/protocol/types.ts";
import { connectionsEnded, type EndedConnections } from "./connections.ts";
import { differencesOf, type FieldDifference } from "./json_diff.ts";
import { bytesOf, type ChangeBlock, changeId, type ResourceChange, snapshot, StateDiffs } from "./state_diff.ts";

/** A proxy in the comparison. */
export interface ComparedProxy {
  readonly name: string;
  readonly state: ProxyState;
}

/** A changed resource of a proxy. */
export interface ChangedResource {
  /** `cds`, `eds`, `lds`, `rds`, `vhds`, `sds`, `ecds`. */
  readonly type: string;
  readonly name: string;
  readonly change: "new" | "changed" | "gone";
  /**
   * Keys of the changed objects behind the resource. If no object behind the resource changed: all changed objects if
   * there are few, or else the objects behind the resource.
   */
  readonly objects: readonly string[];
  /** Before compression. */
  readonly bytes: number;
  readonly differences: readonly FieldDifference[];
}

/** Proxies with the same changes. */
export interface ChangedProxies {
  readonly proxies: readonly string[];
  /**
   * By type and name. If very many resources differ for many groups of proxies, only the first resources are listed.
   */
  readonly resources: readonly ChangedResource[];
  /** The number of changed resources, listed or not. */
  readonly count: number;
  /** Bytes for each of the proxies, before compression. */
  readonly bytes: number;
  /** Connections ended by the change; empty: all connections stay. */
  readonly ended: readonly EndedConnections[];
}

/** The effects of a change. */
export interface BlastRadius {
  readonly proxies: {
    readonly compared: number;
    readonly changed: number;
    /** Named only by the new texts. */
    readonly added: readonly string[];
    /** Named only by the old texts. */
    readonly gone: readonly string[];
  };
  /** Most proxies first. */
  readonly groups: readonly ChangedProxies[];
  readonly objects: { readonly written: readonly string[]; readonly removed: readonly string[] };
  readonly findings: { readonly appeared: readonly Finding[]; readonly resolved: readonly Finding[] };
}

/** Whether nothing differs: nothing to send, nothing new to tell. */
export function isSame({ groups, proxies, findings }: BlastRadius): boolean {
  return groups.length === 0 && proxies.added.length === 0 && proxies.gone.length === 0 &&
    findings.appeared.length === 0 && findings.resolved.length === 0;
}

/** The resources that a change sends to connected proxies. */
export function* changedProxies(
  mesh: OfflineMesh,
  proxies: readonly ComparedProxy[],
  change: () => Generator<void, readonly string[]>,
): Generator<void, ChangedProxies[]> {
  const before = new Map(proxies.map(({ state }) => [state, snapshot(state)]));
  const objects = new Set(yield* change());
  const diffs = new StateDiffs();
  const groups = new Map<string, { proxies: string[]; blocks: readonly ChangeBlock[] }>();
  for (const { name, state } of proxies) {
    const blocks = diffs.between(before.get(state)!, snapshot(state));
    yield;
    if (blocks.length === 0) continue;
    const id = blocks.map((block) => block.id).sort().join();
    const group = groups.get(id);
    if (group) group.proxies.push(name);
    else groups.set(id, { proxies: [name], blocks });
  }
  const most = [...groups.values()].sort((a, b) => b.proxies.length - a.proxies.length);
  const found = yield* describedGroups(most, objects);
  if (mesh.failures.length > 0) throw mesh.failures[0]!.error;
  return found;
}

/** Listed resources in all, and the least number for each group. */
const MAX_LISTED = 50_000;
const LEAST_LISTED = 20;

function* describedGroups(
  groups: readonly { readonly proxies: readonly string[]; readonly blocks: readonly ChangeBlock[] }[],
  objects: ReadonlySet<string>,
): Generator<void, ChangedProxies[]> {
  const known = new Map<string, ChangedResource>();
  const described = new Map<ChangeBlock, DescribedBlock>();
  const found: ChangedProxies[] = [];
  let room = MAX_LISTED;
  for (const { proxies, blocks } of groups) {
    for (const block of blocks) {
      if (!described.has(block)) described.set(block, yield* describeBlock(block, objects, known));
    }
    const parts = blocks.map((block) => described.get(block)!);
    const all = parts.flatMap(({ resources }) => resources);
    const resources = all.sort(byTypeAndName).slice(0, Math.max(LEAST_LISTED, room));
    room -= resources.length;
    found.push({
      proxies,
      resources,
      count: all.length,
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      ended: parts.flatMap(({ ended }) => ended),
    });
    yield;
  }
  return found;
}

type DescribedBlock = Pick<ChangedProxies, "resources" | "bytes" | "ended">;

function* describeBlock(
  { changes }: ChangeBlock,
  objects: ReadonlySet<string>,
  known: Map<string, ChangedResource>,
): Generator<void, DescribedBlock> {
  const resources: ChangedResource[] = [];
  const ended: EndedConnections[] = [];
  for (const one of changes) {
    const id = changeId(one);
    const resource = known.get(id) ?? describe(one, objects);
    known.set(id, resource);
    resources.push(resource);
    const { typeUrl, name, before: old, after } = one;
    const { differences } = resource;
    const end = connectionsEnded({ typeUrl, name, isNew: old === undefined, isGone: after === undefined, differences });
    if (end !== undefined) ended.push(end);
    yield;
  }
  return { resources, bytes: resources.reduce((sum, { bytes }) => sum + bytes, 0), ended };
}

function byTypeAndName(a: ChangedResource, b: ChangedResource): number {
  return RANK.indexOf(a.type) - RANK.indexOf(b.type) || (a.name < b.name ? -1 : 1);
}

/** As many changed objects as a reader can look through. */
const FEW = 3;

const RANK: readonly string[] = ["lds", "rds", "vhds", "cds", "eds", "ecds", "sds"];

function describe(change: ResourceChange, objects: ReadonlySet<string>): ChangedResource {
  const { typeUrl, name, before, after } = change;
  const causes = [...new Set([...after?.causes ?? [], ...before?.causes ?? []])];
  const changed = causes.filter((key) => objects.has(key));
  const json = (one: EncodedResource) => messageJson(typeUrl.slice(TYPE_URL_PREFIX.length), one.value);
  return {
    type: typeRules(typeUrl).short,
    name,
    change: before === undefined ? "new" : after === undefined ? "gone" : "changed",
    objects: changed.length > 0 ? changed : objects.size <= FEW ? [...objects] : causes,
    bytes: bytesOf(change),
    differences: before && after ? differencesOf(json(before), json(after)) : [],
  };
}
