/**
 * The introspection port (`--ctrlz_address`, `--ctrlz_port`): the process itself, as pages for people (`/scopez`) and
 * as JSON for tools (`/scopej/`), at the paths and with the words of Istio's ControlZ.
 *
 * Permissions: read (the working folder's path), sys (hostname).
 *
 * @module
 */
import * as z from "zod";
import { bodyText, type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import { guardOwnNames } from "../http/own_names.ts";
import { inlineSource, pageHeaders } from "../http/page_headers.ts";
import { type Guard, guardedRoutes, type Route } from "../http/route.ts";
import { buildInfo } from "../kernel/program/build_info.ts";
import type { Log } from "../kernel/log/log.ts";
import { escapeHtml, htmlPage, htmlTable, type Link, PAGE_STYLE } from "./html.ts";
import { readQuery, refusedQuery } from "./query.ts";
import { SCOPE_SCRIPT, scopeBody, scopePage, setScope, shownScopes } from "./scope_topic.ts";

/** The parts of the process that the pages show. */
export interface ProcessView {
  readonly program: string;
  readonly log: Log;
  readonly args: readonly string[];
  /** The variables that the program reads and that are set. */
  readonly environment: Readonly<Record<string, string>>;
  /** Names of this server beside addresses and localhost. */
  readonly names: readonly string[];
  /** Port of the pages about the mesh; absent: there are none. */
  readonly pagesPort?: number;
  /** Ends the program cleanly. */
  readonly exit: () => void;
}

/** A subject: `/<prefix>z` for people, `/<prefix>j/` for tools. */
interface Topic {
  readonly prefix: string;
  readonly title: string;
  /** Further prefixes of the same pages. */
  readonly also?: readonly string[];
  readonly value: (view: ProcessView) => unknown;
  /** HTML instead of a table of the value. */
  readonly page?: (view: ProcessView) => string;
}

/** The subjects, in the order of the navigation. */
const TOPICS: readonly Topic[] = [
  { prefix: "scope", title: "Logging scopes", value: ({ log }) => shownScopes(log), page: ({ log }) => scopePage(log) },
  { prefix: "mem", title: "Memory usage", value: () => Deno.memoryUsage() },
  {
    prefix: "env",
    title: "Environment variables",
    value: ({ environment }) =>
      Object.entries(environment).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => ({ name, value })),
  },
  { prefix: "proc", title: "Process", value: processFacts },
  { prefix: "arg", also: ["args"], title: "Command line", value: ({ args }) => args },
  { prefix: "version", title: "Version", value: versionFacts },
];

const LINKS: readonly Link[] = [
  { href: "/", title: "Home" },
  ...TOPICS.map(({ prefix, title }) => ({ href: `/${prefix}z/`, title })),
];

/** A browser runs and loads only the style of all pages, and the script of one page. The script asks only this port. */
const PAGE_HEADERS = {
  ...pageHeaders({
    "style-src": inlineSource(PAGE_STYLE),
    "script-src": inlineSource(SCOPE_SCRIPT),
    "connect-src": "'self'",
  }),
  "content-type": "text/html; charset=utf-8",
};

/** Every path of the port. */
export function introspectionRoutes(view: ProcessView): Route[] {
  const routes: Route[] = [
    { methods: ["GET"], path: "/", handle: (request) => html(200, view, "Home", homePage(view, request)) },
    { methods: ["GET"], path: "/homej", handle: (request) => jsonResponse(homeFacts(view), request) },
    { methods: ["PUT"], path: "/homej/exit", handle: () => exit(view) },
    {
      methods: ["PUT"],
      path: "/memj/forcecollection",
      handle: () => textResponse(501, "this runtime collects garbage when it sees fit\n"),
    },
    { methods: ["GET", "PUT"], path: "/scopej/:name", handle: (request) => oneScope(request, view.log) },
    ...TOPICS.flatMap((topic) => topicRoutes(topic, view)),
    {
      methods: "any",
      path: "/*",
      handle: () => html(404, view, "No such page", `<p>${LINKS.length} pages are linked above.</p>`),
    },
  ];
  return guardedRoutes(routes, guardOwnNames(view.names), refuseQueries);
}

/** No path takes a query. A misspelled query would otherwise be ignored without a word. */
const refuseQueries: Guard = ({ query }) => {
  const read = readQuery(query, z.object({}));
  return "mistakes" in read ? refusedQuery(read.mistakes) : undefined;
};

function topicRoutes({ prefix, also = [], title, value, page }: Topic, view: ProcessView): Route[] {
  return [prefix, ...also].flatMap((name): Route[] => [
    {
      methods: ["GET"],
      path: `/${name}z`,
      handle: () => html(200, view, title, page?.(view) ?? htmlTable(value(view))),
    },
    { methods: ["GET"], path: `/${name}j`, handle: (request) => jsonResponse(value(view), request) },
  ]);
}

function exit({ exit }: ProcessView): HttpResponse {
  // The response goes out first.
  setTimeout(exit, 100);
  return { status: 202, body: "" };
}

function oneScope(request: HttpRequest, log: Log): HttpResponse {
  const name = request.params["name"] ?? "";
  const known = shownScopes(log).find((scope) => scope.name === name);
  if (known === undefined) return textResponse(400, `unknown scope name: ${name}\n`);
  if (request.method === "GET") return jsonResponse(known, request);
  const change = scopeBody(bodyText(request));
  if ("mistakes" in change) return textResponse(400, change.mistakes.map((mistake) => `${mistake}\n`).join(""));
  setScope(log, name, change);
  return { status: 202, body: "" };
}

function html(status: number, { program }: ProcessView, title: string, body: string): HttpResponse {
  return { status, headers: PAGE_HEADERS, body: htmlPage(program, title, LINKS, body) };
}

function homePage(view: ProcessView, { host }: HttpRequest): string {
  const table = htmlTable(homeFacts(view));
  if (view.pagesPort === undefined) return table;
  // The name of this port in the browser's request: an address or a name of this server.
  const name = host === "" ? "localhost" : host.replace(/:\d+$/, "");
  const href = escapeHtml(`http://${name}:${view.pagesPort}/debug`);
  return `${table}<p><a href="${href}">The mesh: objects, proxies, services</a></p>`;
}

function homeFacts({ program }: ProcessView) {
  return {
    ProcessName: program,
    HeapSize: Deno.memoryUsage().heapUsed,
    CurrentTime: Date.now() * 1_000_000,
    Hostname: Deno.hostname(),
  };
}

function processFacts() {
  return { pid: Deno.pid, ppid: Deno.ppid, wd: Deno.cwd(), hostname: Deno.hostname() };
}

function versionFacts() {
  const { version, revision, runtime, status, tag } = buildInfo();
  return { version, revision, golang_version: runtime, status, tag };
}
