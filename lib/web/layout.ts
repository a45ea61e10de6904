/**
 * The frame of all pages: navigation, search box, and a command for the same content as JSON.
 *
 * @module
 */
import type { DebugView } from "../debug/view.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { pageHeaders } from "../http/page_headers.ts";
import { type Html, markup } from "./html.ts";
import { changedQuery, withQuery } from "../debug/links.ts";
import type { WebPage } from "./view.ts";

/** Shown only by servers of node tunnels. */
const AMBIENT = "/debug/ambient_pods";

/** The navigation, in order. */
const NAVIGATION: readonly { readonly path: string; readonly title: string }[] = [
  { path: "/debug", title: "Overview" },
  { path: "/debug/configz", title: "Objects" },
  { path: "/debug/syncz", title: "Proxies" },
  { path: "/debug/registryz", title: "Services" },
  { path: "/debug/graph", title: "Graph" },
  { path: AMBIENT, title: "Ambient" },
  { path: "/debug/pushes", title: "Pushes" },
  { path: "/debug/findings_by_code", title: "Findings" },
  { path: "/debug/list", title: "All pages" },
];

/** Pages shown under an entry of the navigation. */
const PARENTS: Readonly<Record<string, string>> = {
  "/debug/ambient_services": "/debug/ambient_pods",
  "/debug/ambientz": "/debug/ambient_pods",
  "/debug/live": "/debug/configz",
  "/debug/config_dump": "/debug/syncz",
  "/debug/describe": "/debug/syncz",
  "/debug/endpointShardz": "/debug/registryz",
  "/debug/finding_codes": "/debug/findings_by_code",
  "/debug/overview": "/debug",
  "/debug/problemz": "/debug/findings_by_code",
  "/debug/warningz": "/debug/findings_by_code",
  "/debug/connections": "/debug/syncz",
};

/** Headers of the pages and of their files. A browser runs and loads only the three files of the pages. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = pageHeaders({
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self'",
  "connect-src": "'self'",
  "form-action": "'self'",
});

/**
 * The response with a page.
 *
 * @param shared queries that the page for programs takes, too
 */
export function pageResponse(
  page: WebPage,
  request: HttpRequest,
  view: DebugView,
  shared: readonly string[] | "all",
): HttpResponse {
  return {
    status: page.status ?? 200,
    headers: {
      ...SAFE_HEADERS,
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      // The same address is JSON for others.
      "vary": "accept",
    },
    body: document(page, request, view, curl(request, shared)).text,
  };
}

function document(
  { title, body, live, copied }: WebPage,
  request: HttpRequest,
  view: DebugView,
  command: string,
): Html {
  const { latest } = view.xds.ledger;
  return markup`
    <!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light dark">
        <title>${title} - ${view.program}</title>
        <link rel="stylesheet" href="/debug/assets/page.css">
        <link rel="icon" href="/debug/assets/icon.svg" type="image/svg+xml">
        <script src="/debug/assets/page.js" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">To the content</a>
        <header><nav aria-label="Pages">${navigation(request, view)}</nav>${searchBox(request)}</header>
        ${live === "push" && changed(request)}
        <main id="main">
          <div class="title"><h1>${title}</h1> ${copied !== undefined && copyButton(copied)}</div>
          ${
    live === undefined ? body : markup`
            <div data-live="${live}" data-push="${latest}">${body}</div>
          `
  }
        </main>
        <footer>As curl: <code>${command}</code>${copyButton(command)}</footer>
      </body>
    </html>
  `;
}

function navigation({ path, query }: HttpRequest, { tunnels }: DebugView): Html[] {
  const bare = path.replace(/\/$/, "");
  const current = bare === "/debug/describe" && query.has("service") ? "/debug/registryz" : PARENTS[bare] ?? bare;
  const shown = tunnels === undefined ? NAVIGATION.filter((one) => one.path !== AMBIENT) : NAVIGATION;
  return shown.map(({ path, title }) =>
    path === current
      ? markup`
        <a href="${path}" aria-current="page">${title}</a>
      `
      : markup`
        <a href="${path}">${title}</a>
      `
  );
}

/** A button that copies a text. Hidden without the script, which does the copying. */
export function copyButton(text: string): Html {
  return markup`<button type="button" class="copy" data-copy="${text}" title="Copy ${text}" hidden>Copy</button>`;
}

function searchBox({ path, query }: HttpRequest): Html {
  const value = path.startsWith("/debug/search") ? query.get("q") ?? "" : "";
  return markup`
    <form role="search" action="/debug/search">
      <input
        type="search"
        name="q"
        value="${value}"
        maxlength="200"
        placeholder="Search: / "
        aria-label="Search objects, proxies and services"
      >
    </form>
  `;
}

function changed(request: HttpRequest): Html {
  return markup`
    <p id="changed" role="status" hidden>
      A push has changed something since.
      <a href="${changedQuery(request, {})}">Load again</a>
    </p>
  `;
}

/** The command for the same as JSON; parameters only for people are left out of the query. */
function curl({ host, path, query }: HttpRequest, shared: readonly string[] | "all"): string {
  const kept = [...query].filter(([name]) => shared === "all" || shared.includes(name));
  const url = `http://${host}${withQuery(path === "/debug" ? "/debug/overview" : path, Object.fromEntries(kept))}`;
  return `curl '${url.replaceAll("'", "%27")}'`;
}
