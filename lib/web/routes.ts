/**
 * The web interface: the debug pages as HTML for clients that ask for HTML, at the same addresses.
 *
 * @module
 */
import { type AudienceOf, localAudience } from "../debug/audience.ts";
import { listQuery } from "../debug/list_page.ts";
import { PAGES } from "../debug/pages.ts";
import type { DebugView } from "../debug/view.ts";
import { isLocalPeer, textResponse } from "../http/message.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { guardOwnNames } from "../http/own_names.ts";
import { guardedRoutes, refusalOf, type Route } from "../http/route.ts";
import type { Clock } from "../kernel/time/clock.ts";
import { ASSET_ROUTES } from "./assets.ts";
import { cachesPage } from "./caches.ts";
import { descriptionPage } from "./describe.ts";
import { LiveEvents, MAX_VIEWERS } from "./events.ts";
import { listPage } from "./list_page.ts";
import { graphFile, graphPage } from "./graph.ts";
import { markup } from "./html.ts";
import { injectionPage } from "./injection.ts";
import { pageResponse, SAFE_HEADERS } from "./layout.ts";
import { objectPage } from "./object.ts";
import { ofProxyPage, PAGES_OF_PROXIES } from "./of_proxy.ts";
import { overviewPage, overviewParts } from "./overview.ts";
import { pagesPage } from "./pages.ts";
import { plainPage } from "./plain.ts";
import { proxyPage } from "./proxy.ts";
import { pushesPage } from "./pushes.ts";
import { searchPage } from "./search.ts";
import { servicePage } from "./services.ts";
import { wantsPage, type WebPageMaker } from "./view.ts";

/** A page with a form of its own. */
interface ShapedPage {
  readonly make: WebPageMaker;
  /** Queries shared with the page for programs. The other queries are only for people. */
  readonly shared: readonly string[];
}

const service: ShapedPage = { make: servicePage, shared: [] };

/** The pages with a single list, by the path after `/debug/`. Their description also makes the HTML. */
const LISTS = PAGES.flatMap(({ path, list }) =>
  list === undefined ? [] : [[path, { make: listPage(list), shared: Object.keys(listQuery(list).shape) }] as const]
);

/** Pages with a form of their own, by the path after `/debug/`. All other pages show their JSON. */
const SHAPED: Readonly<Record<string, ShapedPage>> = {
  ...Object.fromEntries(LISTS),
  cachez: { make: cachesPage, shared: [] },
  describe: { make: descriptionPage, shared: ["pod", "service"] },
  config_dump: { make: proxyPage, shared: ["proxyID"] },
  endpointShardz: service,
  endpointz: service,
  graph: { make: graphPage, shared: ["namespace"] },
  inject: { make: injectionPage, shared: [] },
  list: { make: pagesPage, shared: [] },
  live: { make: objectPage, shared: ["object"] },
  overview: { make: overviewPage, shared: [] },
  pushes: { make: pushesPage, shared: [] },
  search: { make: searchPage, shared: ["q"] },
};

/**
 * The debug routes with HTML added, and the routes only for people: `/`, the files of the pages, and events.
 *
 * @param routes of `debugRoutes`
 * @param names of this server beside addresses and localhost
 * @param audience the audience of `debugRoutes`; default: {@linkcode localAudience}
 */
export function webRoutes(
  routes: readonly Route[],
  view: DebugView,
  names: readonly string[],
  clock: Clock,
  audience: AudienceOf = localAudience,
): Route[] {
  const events = new LiveEvents(overviewParts(view), clock);
  // A client that may not see the list of pages may not see their files and events either.
  const guards = routes.find(({ path }) => path === "/debug/list")?.guards ?? [];
  const own: Route[] = [
    { methods: ["GET"], path: "/debug/events", handle: (request) => eventStream(request, events) },
    { methods: ["GET"], path: "/debug/graph.svg", handle: (request) => graphFile(request, view) },
    ...ASSET_ROUTES,
  ];
  return [
    { methods: ["GET"], path: "/", handle: () => ({ status: 302, headers: { location: "/debug" }, body: "" }) },
    ...routes.map((route) => withPage(route, view, names, audience)),
    ...guardedRoutes(own, ...guards),
  ];
}

/**
 * The same route with a page for browsers. A page for people combines related facts of all proxies. So a client with a
 * view of only some proxies gets the answer for programs.
 */
function withPage(route: Route, view: DebugView, names: readonly string[], audience: AudienceOf): Route {
  if (route.methods === "any") return unknownPage(route, view, audience);
  if (!route.methods.includes("GET")) return route;
  const name = route.path.replace(/^\/debug\/?/, "");
  if (name === "") return indexRoute(route, view, names);
  const { make, shared } = SHAPED[name] ?? unshapedPage(name, route);
  return {
    ...route,
    handle: async (request) =>
      request.method === "GET" && wantsPage(request) && await seesAll(request, audience)
        ? pageResponse(await make(request, view), request, view, shared)
        : await route.handle(withoutFormat(request)),
  };
}

/** A wrong address also has the navigation. */
function unknownPage(route: Route, view: DebugView, audience: AudienceOf): Route {
  const page = ({ path }: HttpRequest) => ({
    status: 404,
    title: "No such page",
    body: markup`<p>There is no page <code>${path}</code>. <a href="/debug/list">All pages</a>.</p>`,
  });
  return {
    ...route,
    handle: async (request) =>
      request.method === "GET" && wantsPage(request) && await seesAll(request, audience)
        ? pageResponse(page(request), { ...request, path: "/debug/list" }, view, [])
        : await route.handle(request),
  };
}

async function seesAll(request: HttpRequest, audience: AudienceOf): Promise<boolean> {
  const sees = await audience(request);
  return !("status" in sees) && sees.confined === undefined;
}

function unshapedPage(name: string, route: Route) {
  return PAGES_OF_PROXIES.has(name)
    ? { make: ofProxyPage(route), shared: ["proxyID"] }
    : { make: plainPage(route), shared: "all" as const };
}

/** `format=json` has been obeyed when a page for programs answers. */
function withoutFormat(request: HttpRequest): HttpRequest {
  if (request.query.get("format") !== "json") return request;
  const query = new URLSearchParams(request.query);
  query.delete("format");
  return { ...request, query };
}

/** Everybody may see the list of pages. Clients that may see pages get the overview in its place. */
function indexRoute(route: Route, view: DebugView, names: readonly string[]): Route {
  const guards = [guardOwnNames(names)];
  return {
    ...route,
    handle: async (request) => {
      const mayLook = isLocalPeer(request.peer) && await refusalOf({ guards }, request) === undefined;
      if (!mayLook || !wantsPage(request)) return await route.handle(request);
      return pageResponse(await overviewPage(request, view), request, view, []);
    },
  };
}

function eventStream({ signal }: HttpRequest, events: LiveEvents): HttpResponse {
  const parts = events.view(signal);
  if (parts === undefined) return textResponse(503, `${MAX_VIEWERS} viewers listen already; try again later`);
  const headers = { ...SAFE_HEADERS, "content-type": "text/event-stream", "cache-control": "no-store" };
  return { status: 200, headers, body: "", parts };
}
