/**
 * The service graph for people: a picture, the same edges as a table, and the picture as a file.
 *
 * @module
 */
import { edgesTable, GRAPH_QUERY, graphOf, graphUrl, NODES, noNamespace, trafficWord } from "../debug/graph.ts";
import { withQuery } from "../debug/links.ts";
import { readQuery, refusedQuery, textQuery } from "../debug/query.ts";
import type { DebugView } from "../debug/view.ts";
import { counted } from "../debug/words.ts";
import type { ServiceGraph } from "../graph/service_graph.ts";
import { type HttpRequest, type HttpResponse, textResponse } from "../http/message.ts";
import { type DrawnPart, picture } from "./graph_picture.ts";
import { GRAPH_STYLE } from "./graph_style.ts";
import { type Html, markup } from "./html.ts";
import { SAFE_HEADERS } from "./layout.ts";
import { type ListPart, listPart, pageLinks } from "./list.ts";
import { filteredTable, tableOf } from "./list_page.ts";
import { COLOURS } from "./style.ts";
import type { WebPageMaker } from "./view.ts";
import { stateHtml } from "./words.ts";

/** Most nodes and edges of a picture: a larger picture is not readable, and its layout takes long. */
const MAX_NODES = 80;
const MAX_EDGES = 150;

/** The query with the drawn part of a long list. */
const PART = "part";

interface Drawn extends DrawnPart {
  readonly part: ListPart<ServiceGraph["nodes"][number]>;
  /** Nodes and edges of this part without a place in the picture. */
  readonly left: { readonly nodes: number; readonly edges: number };
}

/** The page; queries `namespace`, `part`, and those of the table. */
export const graphPage: WebPageMaker = async (request, view) => {
  const opened = request.query.get("namespace") || undefined;
  const found = await graphOf(view, opened);
  if (found === undefined) {
    return { status: 404, title: "Service graph", body: markup`<p>${noNamespace(opened ?? "")}</p>` };
  }
  const { graph, traffic } = found;
  const drawn = drawnPart(graph, request);
  const title = opened === undefined ? "Service graph" : `Service graph: ${opened}`;
  const table = edgesTable(traffic !== undefined);
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const file = withQuery("/debug/graph.svg", { namespace: opened, part: request.query.get(PART) ?? undefined });
  return {
    title,
    live: "push",
    body: markup`${about(opened)}${
      traffic && markup`<p>${stateHtml(trafficWord(traffic, view.now()))}</p>`
    }<p><a href="${file}" download>Save the picture (SVG)</a></p>
<div class="graph" tabindex="0" role="region" aria-label="Picture">${picture(drawn, title)}</div>${leftOut(drawn)}${
      pageLinks(drawn.part, request, PART)
    }${LEGEND}
<h2>Edges</h2><div class="wide">${filteredTable(table, graph.edges, nodes, request, ["namespace", PART])}</div>
<h2>${opened === undefined ? "Namespaces" : "Services"} of the picture</h2><div class="wide">${
      tableOf(NODES, drawn.part.items, undefined)
    }</div>`,
  };
};

function about(opened: string | undefined): Html {
  return opened === undefined
    ? markup`<p>Who may call whom, from configuration: policies, visibility, routes and gateways. A namespace stands for
its services; open it for the single services.</p>`
    : markup`<p>The services of this namespace with their callers. Other namespaces stand for their services.
<a href="${graphUrl()}">All namespaces</a></p>`;
}

const LEGEND = markup`<ul class="dim">
<li>Line: allowed. Dashed line: some requests, or some services. Dotted line: denied, or not visible. Blue line: a route
sends the traffic on. Thick line: a gateway or a waypoint is the entrance. Grey line: measured traffic between two ends
without a line of their own.</li>
<li>"any workload" stands for all callers that no policy names. No line from it means: other callers are refused.</li>
<li>A policy on trial (dry run) decides nothing. A Sidecar for chosen workloads is not drawn.</li></ul>`;

function leftOut({ left: { nodes, edges } }: Drawn): Html | false {
  if (nodes + edges === 0) return false;
  const what = [nodes > 0 && counted(nodes, "node"), edges > 0 && counted(edges, "edge")].filter((one) =>
    one !== false
  );
  return markup`<p class="warn">! Not drawn, to keep the picture readable: ${
    what.join(" and ")
  }. The table has all edges.</p>`;
}

/** The nodes of the asked part with their neighbours, within the bounds of a picture. */
function drawnPart({ opened, nodes, edges }: ServiceGraph, request: HttpRequest): Drawn {
  const main = nodes.filter(({ kind }) => kind === (opened === undefined ? "namespace" : "service"));
  const part = listPart(main, request, PART);
  const shown = new Set(part.items.map(({ id }) => id));
  const others = new Set<string>();
  const services = new Set(main.map(({ id }) => id));
  // Edges of other parts between shown neighbours are in their own part; edges without a service are in the first part.
  const near = edges.filter(({ from, to }) =>
    shown.has(from) || shown.has(to) || part.page === 1 && !services.has(from) && !services.has(to)
  );
  for (const { from, to } of near) for (const id of [from, to]) if (!shown.has(id)) others.add(id);
  const kept = new Set([...shown, ...[...others].slice(0, MAX_NODES - shown.size)]);
  const possible = near.filter(({ from, to }) => kept.has(from) && kept.has(to));
  const drawn = possible.slice(0, MAX_EDGES);
  return {
    nodes: nodes.filter(({ id }) => kept.has(id)),
    edges: drawn,
    part,
    left: { nodes: shown.size + others.size - kept.size, edges: near.length - drawn.length },
  };
}

const FILE_QUERY = GRAPH_QUERY.extend({ part: textQuery("the number of a part").optional() });

/** `/debug/graph.svg`: the picture as a file with its own style, in light or dark colours by the reader's choice. */
export async function graphFile(request: HttpRequest, view: DebugView): Promise<HttpResponse> {
  const read = readQuery(request.query, FILE_QUERY);
  if ("mistakes" in read) return refusedQuery(read.mistakes);
  const { namespace } = read.query;
  const found = await graphOf(view, namespace);
  if (found === undefined) return textResponse(404, `${noNamespace(namespace ?? "")}\n`);
  const { text } = picture(drawnPart(found.graph, request), "Service graph");
  const end = text.indexOf(">") + 1;
  const style = `<style>${COLOURS}${GRAPH_STYLE}.calls{background:var(--bg)}</style>`;
  return {
    status: 200,
    headers: {
      ...SAFE_HEADERS,
      "content-type": "image/svg+xml",
      "cache-control": "no-store",
      "content-disposition": `attachment; filename="service-graph.svg"`,
    },
    body: `${text.slice(0, end)}${style}${text.slice(end)}\n`,
  };
}
