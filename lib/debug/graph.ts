/**
 * `/debug/graph`: the service graph. The same nodes and edges are drawn for people.
 *
 * @module
 */
import * as z from "zod";
import type { GraphEdge } from "../graph/edges.ts";
import { type TrafficKnown, type TrafficSource, withTraffic } from "../graph/traffic.ts";
import type { GraphNode, ServiceGraph } from "../graph/service_graph.ts";
import { LazyList, LazyObject, longJsonResponse } from "../http/json_stream.ts";
import { type HttpRequest, type HttpResponse, textResponse } from "../http/message.ts";
import { objectUrl, serviceUrl, withQuery } from "./links.ts";
import type { Cell, CellPart, ListColumn, ListTable, StateWord } from "./list_page.ts";
import { queried, textQuery } from "./query.ts";
import type { DebugView } from "./view.ts";
import { counted } from "./words.ts";

/** Queries of the graph. */
export const GRAPH_QUERY = z.object({ namespace: textQuery("a namespace with services").optional() });

/** The graph of a page, and what is known of the traffic in it. */
export interface ShownGraph {
  readonly graph: ServiceGraph;
  /** Undefined: nobody measures. */
  readonly traffic: { readonly source: TrafficSource; readonly known: TrafficKnown } | undefined;
}

/** The graph for a request. Undefined: no service is in the asked namespace. */
export async function graphOf(view: DebugView, opened: string | undefined): Promise<ShownGraph | undefined> {
  const { translator: { mesh }, traffic: source } = view;
  if (opened !== undefined && !Iterator.from(mesh.services.all()).some((one) => one.namespace === opened)) {
    return undefined;
  }
  const known = await source?.known(opened);
  const graph = view.graph(opened);
  if (source === undefined || known === undefined) return { graph, traffic: undefined };
  return {
    graph: known.state === "measured" ? withTraffic(graph, known.flows, mesh) : graph,
    traffic: { source, known },
  };
}

/** The sentence about a namespace without services. */
export function noNamespace(namespace: string): string {
  return `There is no service in namespace ${JSON.stringify(namespace)}; /debug/registryz lists the services.`;
}

/** The graph as JSON. */
export const graphPage: (request: HttpRequest, view: DebugView) => HttpResponse | Promise<HttpResponse> = queried(
  GRAPH_QUERY,
  async (request, view, { namespace }) => {
    const shown = await graphOf(view, namespace);
    if (shown === undefined) return textResponse(404, `${noNamespace(namespace ?? "")}\n`);
    const { nodes, edges, ...rest } = shown.graph;
    const lists = [["nodes", LazyList.of(nodes, (node) => node)], [
      "edges",
      LazyList.of(edges, (edge) => edge),
    ]] as const;
    return longJsonResponse(new LazyObject([...Object.entries(rest), ...trafficField(shown), ...lists]), request);
  },
);

/** The state of the measurement, without its flows, which are on the edges. */
function trafficField({ traffic }: ShownGraph): (readonly [string, unknown])[] {
  if (traffic === undefined) return [];
  const { source: { address, window }, known } = traffic;
  const { flows: _, ...state } = known.state === "measured" ? known : { ...known, flows: [] };
  return [["traffic", { address, window, ...state }]];
}

/** What is known of the traffic, in a sentence. */
export function trafficWord({ source, known }: NonNullable<ShownGraph["traffic"]>, now: number): StateWord {
  const from = `Prometheus at ${source.address}`;
  if (known.state === "asked") {
    return { tone: "dim", word: `Requests and errors: ${from} has not answered yet. Load the page again.` };
  }
  if (known.state === "failed") return { tone: "warn", word: `No requests and errors from ${from}: ${known.problem}` };
  const age = Math.max(0, Math.round((now - known.at) / 1000));
  const most = known.isCut ? `, only the ${known.flows.length} busiest pairs` : "";
  const word = `Requests and errors of ${source.window / 60} minutes from ${from}, ${
    counted(age, "second")
  } ago${most}`;
  return known.problem === undefined
    ? { tone: "good", word }
    : { tone: "warn", word: `${word}. The last question failed: ${known.problem}` };
}

/** The result of an edge as a whole. `measured`: nothing but measured traffic. */
export type EdgeResult = "allowed" | "conditional" | "denied" | "hidden" | "measured";

/** What an edge shows: denied or hidden only if nothing passes. */
export function edgeResult({ kind, allowed, conditional, denied, hidden }: GraphEdge): EdgeResult {
  if (kind === "traffic") return "measured";
  if (conditional > 0 || allowed > 0 && denied > 0) return "conditional";
  if (allowed > 0) return "allowed";
  return denied > 0 ? "denied" : hidden > 0 ? "hidden" : "allowed";
}

/** The address of the graph with a namespace opened. */
export function graphUrl(namespace?: string): string {
  return withQuery("/debug/graph", { namespace });
}

/** Where a node leads; undefined: nowhere. */
export function nodeUrl({ kind, id, name }: GraphNode): string | undefined {
  if (kind === "namespace") return graphUrl(name);
  return kind === "service" ? serviceUrl(id.slice("service ".length)) : undefined;
}

const TONES: Readonly<Record<EdgeResult, StateWord["tone"]>> = {
  allowed: "good",
  conditional: "warn",
  denied: "bad",
  hidden: "dim",
  measured: "dim",
};

/** The counts of an edge in words. */
export function countWords(edge: GraphEdge): readonly StateWord[] {
  const words = {
    allowed: "allowed",
    conditional: "with conditions",
    denied: "denied",
    hidden: "not visible",
  } as const;
  const found = (["allowed", "conditional", "denied", "hidden"] as const).filter((result) => edge[result] > 0);
  return found.map((result) => ({ tone: TONES[result], word: `${edge[result]} ${words[result]}` }));
}

/** The share of failed requests at which an edge is bad, and not only worth a look. */
const BAD_SHARE = 0.01;

/** The traffic of an edge in words: its rate, and its errors. Empty: none is measured. */
export function trafficWords({ requests = 0, errors = 0 }: GraphEdge): readonly (string | StateWord)[] {
  if (requests === 0) return [];
  const share = errors / requests;
  const rate = `${rateText(requests)}/s`;
  if (errors === 0) return [rate];
  return [rate, { tone: share < BAD_SHARE ? "warn" : "bad", word: `${percentText(share)} errors` }];
}

function rateText(rate: number): string {
  return rate >= 100 ? String(Math.round(rate)) : rate < 0.01 ? "under 0.01" : String(Number(rate.toPrecision(2)));
}

function percentText(share: number): string {
  const percent = 100 * share;
  return percent < 0.1 ? "under 0.1 %" : `${Number(percent.toPrecision(2))} %`;
}

/** The nodes of a graph by id, for the cells of a table. */
export type NodesById = ReadonlyMap<string, GraphNode>;

function nodeCell(id: string, nodes: NodesById): Cell {
  const node = nodes.get(id);
  const link = node && nodeUrl(node);
  const text = node?.name ?? id;
  const kind: CellPart[] = node === undefined || node.kind === "anyone" ? [] : [{ dim: node.kind }];
  return [link === undefined ? text : { text, link }, ...kind];
}

/** The edges of a graph. @param isMeasured with a column of measured traffic */
export function edgesTable(isMeasured: boolean): ListTable<GraphEdge, NodesById> {
  if (!isMeasured) return EDGES;
  const requests: ListColumn<GraphEdge, NodesById> = {
    title: "Requests",
    cell: trafficWords,
    order: ({ requests = 0 }) => requests,
  };
  return { ...EDGES, columns: [...EDGES.columns.slice(0, 4), requests, ...EDGES.columns.slice(4)] };
}

const EDGES: ListTable<GraphEdge, NodesById> = {
  noun: "edge",
  none: "No configuration lets anybody call a service here.",
  searched: ({ from, to }) => `${from} ${to}`,
  filters: [
    { name: "kind", of: ({ kind }) => kind, options: ["call", "route", "entrance", "traffic"] },
    { name: "result", of: edgeResult, options: Object.keys(TONES) },
  ],
  columns: [
    { title: "From", cell: ({ from }, nodes) => nodeCell(from, nodes) },
    { title: "To", cell: ({ to }, nodes) => nodeCell(to, nodes) },
    { title: "Kind", cell: ({ kind }) => kind },
    { title: "Result", cell: countWords },
    { title: "Depends on", cell: ({ conditions = [] }) => conditions.join(", ") },
    { title: "Traffic", cell: ({ shares = [] }) => shares },
    { title: "Not for", cell: ({ except = [] }) => except.join(", ") },
    { title: "Decided by", cell: causeLinks },
  ],
};

/** The most objects named in a row. */
const NAMED_CAUSES = 5;

function causeLinks({ causes = [], leftOut = 0 }: GraphEdge): Cell {
  const links = causes.slice(0, NAMED_CAUSES).map((key): CellPart => ({ text: key, link: objectUrl(key) }));
  const more = causes.length - links.length;
  if (more <= 0) return links;
  return [...links, { dim: `and ${more}${leftOut > 0 ? " or more" : ""} others` }];
}

/** Mutual TLS of a node's services, in words. */
export function tlsText({ tls = {} }: GraphNode): string {
  const modes = Object.entries(tls);
  if (modes.length === 0) return "";
  const word = (mode: string) => mode === "outside" ? "outside the mesh" : `mutual TLS ${mode}`;
  if (modes.length === 1) return word(modes[0]![0]);
  return modes.map(([mode, count]) => `${count} ${word(mode)}`).join(", ");
}

/** The nodes of a graph that stand for services. */
export const NODES: ListTable<GraphNode, void> = {
  noun: "service",
  none: "The mesh has no service.",
  columns: [
    {
      title: "Name",
      cell: (node) => {
        const link = nodeUrl(node);
        return link === undefined ? node.name : { text: node.name, link };
      },
    },
    { title: "Services", isNumber: true, cell: ({ services }) => services ?? 1 },
    { title: "Mutual TLS", cell: tlsText },
    { title: "Own traffic", cell: ({ shares = [] }) => shares },
  ],
};
