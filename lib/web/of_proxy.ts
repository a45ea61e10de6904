/**
 * Pages about one proxy that have no form of their own: without `proxyID` a list of proxies to choose from.
 *
 * @module
 */
import type { Route } from "../http/route.ts";
import { type HtmlValue, markup } from "./html.ts";
import { withQuery } from "./links.ts";
import { filterForm, listPart, pageLinks, searched, table } from "./list.ts";
import { plainPage } from "./plain.ts";
import { nodeName } from "./proxies.ts";
import type { WebPage, WebPageMaker } from "./view.ts";

/** Such pages, by the path behind `/debug/`. */
export const PAGES_OF_PROXIES: ReadonlySet<string> = new Set(["ecdsz", "edsz", "ndsz", "sidecarz"]);

/** Makes the page of a route; query `q` searches the proxies. */
export function ofProxyPage(route: Route): WebPageMaker {
  const plain = plainPage(route);
  return (request, view): WebPage | Promise<WebPage> => {
    if (request.query.has("proxyID")) return plain(request, view);
    const holds = searched(request);
    const found = [...view.xds.streams()].filter(({ id }) => holds(id)).sort((a, b) => (a.id < b.id ? -1 : 1));
    const part = listPart(found, request);
    const rows = part.items.map((connection): HtmlValue[] => {
      const { type, name, address } = nodeName(connection);
      const proxyID = connection.node?.id ?? connection.id;
      return [markup`<a href="${withQuery(route.path, { proxyID })}">${name}</a>`, type, address];
    });
    return {
      title: `${route.path}: of which proxy?`,
      body: markup`${filterForm(request, [])}${table(["Name", "Kind", "Address"], rows, "None is connected.")}${
        pageLinks(part, request)
      }`,
    };
  };
}
