/**
 * Pages about a proxy without a form of their own. Without `proxyID` the page is a list of proxies to choose from.
 *
 * @module
 */
import type { ListTable } from "../debug/list_page.ts";
import { byName, nameColumns, NO_PROXY } from "../debug/proxies.ts";
import { withQuery } from "../debug/links.ts";
import type { Route } from "../http/route.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { filteredTable } from "./list_page.ts";
import { plainPage, titleOf } from "./plain.ts";
import type { WebPage, WebPageMaker } from "./view.ts";

/** Such pages, by the path behind `/debug/`. */
export const PAGES_OF_PROXIES: ReadonlySet<string> = new Set(["ecdsz", "edsz", "ndsz", "sidecarz"]);

/** Makes the page of a route; query `q` searches the proxies. */
export function ofProxyPage(route: Route): WebPageMaker {
  const plain = plainPage(route);
  const proxies: ListTable<XdsConnection, void> = {
    noun: "proxy",
    none: NO_PROXY,
    searched: ({ id }) => id,
    columns: nameColumns(({ node, id }) => withQuery(route.path, { proxyID: node?.id ?? id })),
  };
  return (request, view): WebPage | Promise<WebPage> => {
    if (request.query.has("proxyID")) return plain(request, view);
    const body = filteredTable(proxies, byName([...view.xds.streams()]), undefined, request);
    return { title: `${titleOf(route.path)}: which proxy?`, body };
  };
}
