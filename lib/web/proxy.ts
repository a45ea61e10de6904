/**
 * A connected proxy for people, in parts: its state, its resources, a tree of them, its policies, and a request.
 *
 * @module
 */
import type { DebugView } from "../debug/view.ts";
import type { HttpRequest } from "../http/message.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { type Html, markup } from "./html.ts";
import { podDescriptionUrl, proxyUrl } from "../debug/links.ts";
import { descriptionLink } from "./describe.ts";
import { table } from "./list.ts";
import { CONNECTIONS, nodeName, proxyState } from "../debug/proxies.ts";
import { listPage } from "./list_page.ts";
import { policiesPart } from "./proxy_policies.ts";
import { requestPart } from "./proxy_request.ts";
import { resourcesPart } from "./proxy_resources.ts";
import { summaryPart } from "./proxy_summary.ts";
import { treePart } from "./proxy_tree.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { stateHtml } from "./words.ts";

/** Parts of the page by the query `view`, in order. */
const PARTS: readonly {
  readonly name: string;
  readonly title: string;
  readonly body: (request: HttpRequest, connection: XdsConnection, view: DebugView) => Html | Promise<Html>;
}[] = [
  { name: "", title: "Summary", body: summaryPart },
  { name: "resources", title: "Resources", body: resourcesPart },
  { name: "tree", title: "Tree", body: treePart },
  { name: "policies", title: "Policies", body: policiesPart },
  { name: "request", title: "Send a request", body: requestPart },
];

const proxiesPage = listPage(CONNECTIONS);

/** The page; queries `proxyID` (a node id, or a part of a connection's id) and `view`. Without `proxyID`: the list. */
export const proxyPage: WebPageMaker = async (request, view): Promise<WebPage> => {
  const wanted = request.query.get("proxyID") ?? "";
  if (wanted === "") return await proxiesPage(request, view);
  const all = [...view.xds.streams()];
  const exact = all.filter(({ id, node }) => id === wanted || node?.id === wanted);
  const found = exact.length > 0 ? exact : all.filter(({ id }) => id.includes(wanted));
  const [connection, ...others] = found;
  if (connection === undefined) return nobody(wanted);
  if (others.length > 0 && exact.length === 0) return choice(wanted, found);
  const name = request.query.get("view") ?? "";
  const part = PARTS.find((one) => one.name === name) ?? PARTS[0]!;
  const nodeId = connection.node?.id ?? connection.id;
  const tabs = PARTS.map(({ name, title }) =>
    name === part.name
      ? markup`<a href="${proxyUrl(nodeId, { view: name })}" aria-current="page">${title}</a>`
      : markup`<a href="${proxyUrl(nodeId, { view: name })}">${title}</a>`
  );
  return {
    title: nodeName(connection).name,
    copied: nodeId,
    live: "push",
    body: markup`<p>${stateHtml(proxyState(connection, view))} <span class="dim mono">${nodeId}</span></p>${
      descriptionLink(podDescriptionUrl(nodeName(connection).name), view)
    }
<nav class="tabs" aria-label="Parts">${tabs}</nav>${await part.body(request, connection, view)}`,
  };
};

function nobody(wanted: string): WebPage {
  return {
    status: 404,
    title: "Not connected here",
    body: markup`<p>No proxy whose connection id contains <code>${wanted}</code> is connected to this server.
<a href="/debug/syncz">Connected proxies</a>.</p>`,
  };
}

/** The most proxies in a choice. */
const MAX_CHOICE = 200;

function choice(wanted: string, found: readonly XdsConnection[]): WebPage {
  const rows = found.slice(0, MAX_CHOICE).map(({ node, id }) => [
    markup`<a href="${proxyUrl(node?.id ?? id)}">${node?.id ?? id}</a>`,
  ]);
  const more = found.length - rows.length;
  return {
    title: `Proxies with ${wanted}`,
    body: markup`${table(["Proxy"], rows, "No proxy matches.")}${more > 0 && markup`<p>and ${more} more</p>`}`,
  };
}
