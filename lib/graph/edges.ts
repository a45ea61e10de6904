/**
 * The edges of a graph: arrows between the same nodes are one edge, with counts.
 *
 * @module
 */
import type { CallVerdict } from "./verdict.ts";

/** An edge. The counts are of callers and services, or of parts of routes. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /**
   * `call`: policies decide. `route`: a rule sends traffic on. `entrance`: through a gateway or a waypoint. `traffic`:
   * measured between two ends without an edge in the configuration.
   */
  readonly kind: "call" | "route" | "entrance" | "traffic";
  readonly allowed: number;
  readonly conditional: number;
  readonly denied: number;
  /** Allowed or not: the caller's namespace does not see the service. */
  readonly hidden: number;
  /** What decides about single requests, sorted. Absent: nothing. */
  readonly conditions?: readonly string[];
  /** Parts of traffic, such as `v1 90 %`. Absent: no rule divides it. */
  readonly shares?: readonly string[];
  /** Namespaces that the edge is not for, because they do not see all the services. Absent: none. */
  readonly except?: readonly string[];
  /** Keys of the deciding objects. Absent: no object decides. */
  readonly causes?: readonly string[];
  /** The number of conditions, shares, exceptions and causes that are left out. Absent: none. */
  readonly leftOut?: number;
  /** Measured requests per second, and failed requests among them. Absent: none, or nobody measures. */
  readonly requests?: number;
  readonly errors?: number;
}

/** What an arrow has beside its verdict. */
export interface ArrowDetails {
  readonly isHidden?: boolean;
  readonly share?: string;
  readonly except?: readonly string[];
}

/** Most texts of each list of an edge: an edge between namespaces may stand for thousands of arrows. */
const MAX_TEXTS = 20;

const LISTS = ["conditions", "shares", "except", "causes"] as const;

interface OpenEdge {
  readonly ends: Pick<GraphEdge, "from" | "to" | "kind">;
  readonly counts: { allowed: number; conditional: number; denied: number; hidden: number };
  readonly lists: Readonly<Record<(typeof LISTS)[number], Set<string>>>;
}

/** Collects arrows. */
export class GraphEdges {
  readonly #edges = new Map<string, OpenEdge>();

  /** Adds an arrow. */
  add(ends: OpenEdge["ends"], verdict: CallVerdict, { isHidden = false, share, except = [] }: ArrowDetails = {}): void {
    const edge = this.#edges.getOrInsertComputed(`${ends.kind} ${ends.from} ${ends.to}`, () => ({
      ends,
      counts: { allowed: 0, conditional: 0, denied: 0, hidden: 0 },
      lists: { conditions: new Set(), shares: new Set(), except: new Set(), causes: new Set() },
    }));
    edge.counts[isHidden ? "hidden" : verdict.result]++;
    const { conditions, shares, except: others, causes } = edge.lists;
    for (const one of verdict.conditions) conditions.add(one);
    for (const one of verdict.causes) causes.add(one);
    for (const one of except) others.add(one);
    if (share !== undefined) shares.add(share);
  }

  /** All edges, sorted. */
  all(): readonly GraphEdge[] {
    return [...this.#edges].sort(([a], [b]) => a < b ? -1 : 1).map(([, edge]) => closed(edge));
  }
}

function closed({ ends, counts, lists }: OpenEdge): GraphEdge {
  const texts = LISTS.filter((name) => lists[name].size > 0).map((name) => {
    const all = [...lists[name]];
    return [name, (name === "shares" ? all : all.sort()).slice(0, MAX_TEXTS)] as const;
  });
  const leftOut = LISTS.reduce((sum, name) => sum + Math.max(0, lists[name].size - MAX_TEXTS), 0);
  return { ...ends, ...counts, ...Object.fromEntries(texts), ...leftOut > 0 ? { leftOut } : {} };
}
