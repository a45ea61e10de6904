/**
 * Which node tunnels have acknowledged a resource, and which have rejected it.
 *
 * @module
 */
import { structText } from "../pb/wellknown.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import { isTunnelId } from "../translate/proxy/identity.ts";
import { findInStack, type SetStack } from "../xds/ads/set_stack.ts";
import type { Watch } from "../xds/ads/watch.ts";
import type { XdsConnection } from "../xds/connection.ts";
import type { CellPart } from "./list_page.ts";
import type { DebugView } from "./view.ts";
import { counted } from "./words.ts";

/** A tunnel that rejected a resource. */
export interface TunnelRejection {
  /** The node of the tunnel, or else its node id. */
  readonly tunnel: string;
  /** The words of the tunnel. */
  readonly reason: string;
}

/** What the tunnels have of a resource. */
export interface TunnelAcks {
  /** Connected tunnels that should have the resource. A tunnel that asks for single addresses may not need it. */
  readonly wanted: number;
  /** Tunnels that acknowledged the present version. */
  readonly acknowledged: number;
  readonly rejected: readonly TunnelRejection[];
  /** Tunnels that have not answered yet. */
  readonly waiting: readonly string[];
}

/** Most tunnels that are named. */
const MAX_NAMED = 5;

/** Tunnels with the same acknowledged resources: a resource is looked up once for all of them. */
interface TunnelGroup {
  readonly acknowledged: SetStack;
  readonly tunnels: string[];
}

/** Connected tunnels at the time of a request. */
export class ConnectedTunnels {
  readonly #connections: readonly XdsConnection[];
  readonly #byType = new Map<
    string,
    { readonly groups: TunnelGroup[]; readonly single: [string, Watch | undefined][] }
  >();

  constructor({ xds }: Pick<DebugView, "xds">) {
    this.#connections = [...xds.streams()].filter(({ node }) => isTunnelId(node?.id ?? ""));
  }

  /** Number of connected tunnels. */
  get size(): number {
    return this.#connections.length;
  }

  /** What the tunnels have of a resource. */
  of(resource: Pick<EncodedResource, "typeUrl" | "name" | "version">): TunnelAcks {
    const { groups, single } = this.#byType.getOrInsertComputed(resource.typeUrl, (type) => this.#grouped(type));
    const { name, version } = resource;
    const found = { wanted: 0, acknowledged: 0, rejected: [] as TunnelRejection[], waiting: [] as string[] };
    for (const { acknowledged, tunnels } of groups) {
      found.wanted += tunnels.length;
      if (findInStack(acknowledged, name)?.version === version) found.acknowledged += tunnels.length;
      else found.waiting.push(...tunnels);
    }
    for (const [tunnel, watch] of single) {
      const reason = watch?.resources.rejectionOf(name);
      // A tunnel that asks for single addresses.
      if (reason === undefined && watch?.wildcard === false && !findInStack(watch.resources.want, name)) continue;
      found.wanted++;
      if (reason !== undefined) found.rejected.push({ tunnel, reason });
      else if (watch && findInStack(watch.resources.acknowledged, name)?.version === version) found.acknowledged++;
      else found.waiting.push(tunnel);
    }
    return found;
  }

  #grouped(typeUrl: string) {
    const groups = new Map<unknown, TunnelGroup>();
    const single: [string, Watch | undefined][] = [];
    for (const connection of this.#connections) {
      const watch = connection.stream?.watches.get(typeUrl);
      const tunnel = structText(connection.node?.metadata, "NODE_NAME") || connection.node?.id || connection.id;
      const stack = watch?.resources.acknowledged ?? [];
      if (watch === undefined || watch.resources.rejecting || !watch.wildcard || stack.length !== 1) {
        single.push([tunnel, watch]);
      } else {
        groups.getOrInsertComputed(stack[0]!.set, () => ({ acknowledged: stack, tunnels: [] })).tunnels.push(tunnel);
      }
    }
    return { groups: [...groups.values()], single };
  }
}

/** `on 3 of 3 tunnels`, and the words of tunnels that rejected the resource. */
export function acksCell({ wanted, acknowledged, rejected, waiting }: TunnelAcks): readonly CellPart[] {
  if (wanted === 0) return [{ dim: "no tunnel asks for it" }];
  const isComplete = acknowledged === wanted;
  const word = `on ${acknowledged} of ${counted(wanted, "tunnel")}`;
  const behind = waiting.slice(0, MAX_NAMED).join(", ") + (waiting.length > MAX_NAMED ? ", ..." : "");
  return [
    { tone: isComplete ? "good" : rejected.length > 0 ? "bad" : "warn", word },
    ...rejected.slice(0, MAX_NAMED).map(({ tunnel, reason }) => `NACKed by ${tunnel}: ${reason}`),
    ...rejected.length > MAX_NAMED ? [`and by ${rejected.length - MAX_NAMED} more`] : [],
    ...waiting.length > 0 ? [{ dim: `no answer of ${behind}` }] : [],
  ];
}
