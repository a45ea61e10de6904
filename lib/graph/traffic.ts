/**
 * Measured traffic in the service graph: requests and errors a second, on the edges that they took.
 *
 *     flows (namespaces, workloads, identities, hosts) ─> nodes of the graph ─> sums for each pair of nodes
 *                                                                                  ├─> on the edge between the nodes
 *                                                                                  └─> else an edge of its own
 *
 * Most calls are not named by any policy: their configured edge begins at "any workload", and their traffic is an edge
 * of its own between the real ends.
 *
 * @module
 */
import type { Mesh } from "../mesh/mesh.ts";
import { serviceKey } from "../registry/types.ts";
import type { GraphEdge } from "./edges.ts";
import type { GraphNode, ServiceGraph } from "./service_graph.ts";

/** Requests from workloads to a service. Empty texts: not known. */
export interface TrafficFlow {
  readonly from: { readonly namespace: string; readonly workload: string; readonly account: string };
  readonly to: { readonly namespace: string; readonly host: string };
  /** Per second. */
  readonly requests: number;
  /** Failed requests per second. */
  readonly errors: number;
}

/** What is known of the traffic now. */
export type TrafficKnown =
  /** There is no answer yet. */
  | { readonly state: "asked" }
  | { readonly state: "failed"; readonly problem: string }
  | {
    readonly state: "measured";
    /** Milliseconds since the epoch. */
    readonly at: number;
    readonly flows: readonly TrafficFlow[];
    /** There may be further flows with less traffic. */
    readonly isCut: boolean;
    /** Why there is no younger answer; absent: this is the last answer. */
    readonly problem?: string;
  };

/** A place that measures traffic. */
export interface TrafficSource {
  /** For people. */
  readonly address: string;
  /** Seconds over which rates are measured. */
  readonly window: number;
  /**
   * What is known about the whole mesh by namespace, or about the traffic of a namespace. Never waits long: an answer
   * that is missing or old is asked for beside.
   */
  known(opened: string | undefined): Promise<TrafficKnown>;
}

/** The graph with its traffic. */
export function withTraffic(graph: ServiceGraph, flows: readonly TrafficFlow[], mesh: Mesh): ServiceGraph {
  const ends = new FlowEnds(graph, mesh);
  const sums = new Map<string, Pick<GraphEdge, "from" | "to"> & { requests: number; errors: number }>();
  for (const flow of flows) {
    const [from, to] = [ends.source(flow), ends.target(flow)];
    const sum = sums.getOrInsertComputed(pairKey(from, to), () => ({ from, to, requests: 0, errors: 0 }));
    sum.requests += flow.requests;
    sum.errors += Math.min(flow.errors, flow.requests);
  }
  const edges = graph.edges.map((edge): GraphEdge => {
    const key = pairKey(edge.from, edge.to);
    const sum = edge.kind === "route" ? undefined : sums.get(key);
    if (sum === undefined) return edge;
    sums.delete(key);
    return { ...edge, requests: rounded(sum.requests), errors: rounded(sum.errors) };
  });
  const others = sums.values().map(({ from, to, requests, errors }): GraphEdge => ({
    ...{ from, to, kind: "traffic", allowed: 0, conditional: 0, denied: 0, hidden: 0 },
    ...{ requests: rounded(requests), errors: rounded(errors) },
  }));
  return { ...graph, nodes: ends.nodes(), edges: [...edges, ...[...others].sort(busiestFirst)] };
}

function pairKey(from: string, to: string): string {
  return `${from}\n${to}`;
}

function busiestFirst(a: GraphEdge, b: GraphEdge): number {
  return (b.requests ?? 0) - (a.requests ?? 0) || (pairKey(a.from, a.to) < pairKey(b.from, b.to) ? -1 : 1);
}

/** Three digits are as exact as a rate is. */
function rounded(rate: number): number {
  return Number(rate.toPrecision(3));
}

/** Finds the nodes of flows, and adds missing nodes. */
class FlowEnds {
  readonly #mesh: Mesh;
  readonly #opened: string | undefined;
  readonly #nodes: Map<string, GraphNode>;
  /** Gateways of identities, `ns/NAMESPACE/sa/ACCOUNT`. */
  readonly #gateways = new Map<string, string>();
  /** Services of the opened namespace by the name of a workload. Empty: several services have the workload. */
  readonly #services = new Map<string, string>();

  constructor({ nodes, opened }: ServiceGraph, mesh: Mesh) {
    this.#mesh = mesh;
    this.#opened = opened;
    this.#nodes = new Map(nodes.map((node) => [node.id, node]));
    for (const { id, accounts = [] } of nodes) for (const account of accounts) this.#gateways.set(account, id);
    if (opened === undefined) return;
    for (const service of mesh.services.all()) {
      if (service.namespace !== opened) continue;
      const id = `service ${serviceKey(service)}`;
      for (const workload of new Set(Iterator.from(mesh.endpoints(service)).map((one) => one.workloadName))) {
        const other = this.#services.get(workload);
        this.#services.set(workload, other === undefined || other === id ? id : "");
      }
    }
  }

  nodes(): readonly GraphNode[] {
    return [...this.#nodes.values()].sort((a, b) => a.id < b.id ? -1 : 1);
  }

  source({ from: { namespace, workload, account } }: TrafficFlow): string {
    if (namespace === "") return this.#node({ id: "workload unknown", kind: "workload", name: "unknown callers" });
    const gateway = this.#gateways.get(`ns/${namespace}/sa/${account}`);
    if (gateway !== undefined) return gateway;
    if (namespace !== this.#opened) return this.#namespace(namespace);
    const identity = `identity ${namespace}/${account}`;
    if (this.#nodes.has(identity)) return identity;
    const service = this.#services.get(workload);
    if (service !== undefined && service !== "") return service;
    if (workload === "") return this.#namespace(namespace);
    const name = `${namespace}/${workload}`;
    return this.#node({ id: `workload ${name}`, kind: "workload", name: workload, namespace });
  }

  target({ to: { namespace, host } }: TrafficFlow): string {
    if (namespace === "" && host === "") return this.#node({ id: "host unknown", kind: "host", name: "unknown hosts" });
    if (namespace !== "" && namespace !== this.#opened) return this.#namespace(namespace);
    const id = `service ${namespace}/${host}`;
    if (this.#nodes.has(id)) return id;
    const known = this.#mesh.services.of(host)[0];
    if (known !== undefined && known.namespace !== this.#opened) return this.#namespace(known.namespace);
    return known !== undefined && this.#nodes.has(`service ${serviceKey(known)}`)
      ? `service ${serviceKey(known)}`
      : this.#node({ id: `host ${host}`, kind: "host", name: host });
  }

  #namespace(namespace: string): string {
    return this.#node({ id: `namespace ${namespace}`, kind: "namespace", name: namespace });
  }

  #node(node: GraphNode): string {
    if (!this.#nodes.has(node.id)) this.#nodes.set(node.id, node);
    return node.id;
  }
}
