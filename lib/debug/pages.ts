/**
 * All pages under `/debug`, one list.
 *
 * @module
 */
import { configDump } from "./config_dump.ts";
import { type Answer, type Ask, type Handler, json, text } from "./http.ts";
import { live } from "./live.ts";
import { adsz, connections, forceDisconnect, syncz } from "./proxies.ts";
import { pushes, pushStatus, warningz } from "./pushes.ts";
import { scopez } from "./scopes.ts";
import type { DebugView } from "./view.ts";
import { configz, endpointShardz, instancesz, mesh, networkz, problemz, registryz, resourcesz } from "./world.ts";

/** One page. */
interface Page {
  readonly path: string;
  readonly help: string;
  readonly answer: (ask: Ask, view: DebugView) => Answer | Promise<Answer>;
}

/** The pages, in the order of the index. */
export const PAGES: readonly Page[] = [
  { path: "adsz", help: "connected proxies with their watches; ?push=any pushes to all", answer: adsz },
  { path: "connections", help: "connected proxies", answer: connections },
  { path: "syncz", help: "what each proxy was sent and acknowledged; ?namespace=", answer: syncz },
  {
    path: "config_dump",
    help: "all that a proxy should have; ?proxyID=, types=cds,lds,rds,eds, include_eds",
    answer: configDump,
  },
  { path: "pushes", help: "the last pushes: triggers, proxies, types, bytes, time, slowest", answer: pushes },
  {
    path: "live",
    help: "whether an edit is in force, where, why not; ?object=kind/namespace/name, wait=30s",
    answer: live,
  },
  {
    path: "push_status",
    help: "conflicts of listeners, other warnings by object, what proxies rejected, what could not be made",
    answer: pushStatus,
  },
  {
    path: "warningz",
    help: "what configuration asks for and proxies do not get: area, objects, text, metric",
    answer: warningz,
  },
  {
    path: "problemz",
    help: "what is wrong with configuration: file, line, object, field, value, expected",
    answer: problemz,
  },
  { path: "configz", help: "all configuration objects", answer: configz },
  { path: "resourcesz", help: "kinds of objects that are read", answer: resourcesz },
  { path: "registryz", help: "all services", answer: registryz },
  { path: "endpointShardz", help: "endpoints by service and shard", answer: endpointShardz },
  { path: "endpointz", help: "old name of endpointShardz", answer: endpointShardz },
  { path: "instancesz", help: "services at the addresses of each connected proxy", answer: instancesz },
  { path: "mesh", help: "the mesh configuration in force", answer: mesh },
  {
    path: "scopez",
    help: "log levels by scope; PUT or POST ?scope=&level=, stack_level=, caller= changes one",
    answer: scopez,
  },
  { path: "networkz", help: "networks of the mesh", answer: networkz },
];

/** Pages that change what runs, there with `UNSAFE_ENABLE_ADMIN_ENDPOINTS` alone. */
const ADMIN_PAGES: readonly Page[] = [
  {
    path: "force_disconnect",
    help: "ends the stream of a proxy, which comes again; ?proxyID=",
    answer: forceDisconnect,
  },
];

/**
 * Answers everything under `/debug`. Callers from other machines are refused: they cannot be told apart yet.
 *
 * @param admin `UNSAFE_ENABLE_ADMIN_ENDPOINTS`: pages that change what runs are there too.
 */
export function debugPages(view: DebugView, admin: boolean): Handler {
  const pages = admin ? [...PAGES, ...ADMIN_PAGES] : PAGES;
  return (ask) => {
    const { pathname } = ask.url;
    if (pathname === "/debug" || pathname === "/debug/") return index(pages);
    if (!pathname.startsWith("/debug/")) return undefined;
    if (!ask.fromLoopback) return text(401, "debug pages are for callers of the same machine, by 127.0.0.1 or [::1]\n");
    const name = pathname.slice("/debug/".length);
    if (name === "list") return json(pages.map((page) => page.path).sort(), ask);
    const page = pages.find(({ path }) => path === name);
    return page?.answer(ask, view) ?? text(404, `no page ${pathname}; /debug lists them\n`);
  };
}

function index(pages: readonly Page[]): Answer {
  const rows = pages.map(({ path, help }) => `<tr><td><a href="/debug/${path}">${path}</a></td><td>${help}</td></tr>`);
  const body = `<!doctype html><meta charset="utf-8"><title>pilot-discovery</title>
<style>body{font:15px system-ui;margin:2em}td{padding:.2em 1em .2em 0}</style>
<h1>pilot-discovery</h1><table>${rows.join("")}</table>
`;
  return { status: 200, contentType: "text/html; charset=utf-8", body };
}
