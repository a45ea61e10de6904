/**
 * All pages under `/debug`, in a single list.
 *
 * @module
 */
import { type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import { guardOwnNames } from "../http/own_names.ts";
import type { Guard, HttpMethod, Route } from "../http/route.ts";
import { type AudienceOf, localAudience, pageRefusal, shownTo } from "./audience.ts";
import { cachez } from "./caches.ts";
import { changeCommand } from "./change.ts";
import { configDump, ecdsz, edsz } from "./config_dump.ts";
import { krtz, resourcesz } from "./collections.ts";
import { factz, passedOver } from "./facts.ts";
import { CALLS } from "./calls.ts";
import { graphPage } from "./graph.ts";
import { learnedScope } from "./learned_scope.ts";
import { inject } from "./injection.ts";
import { live } from "./live.ts";
import { ndsz } from "./names.ts";
import { FINDINGS, WARNINGS } from "./findings.ts";
import { FINDING_CODES } from "./finding_codes.ts";
import { FINDINGS_BY_CODE } from "./findings_by_code.ts";
import { overview } from "./overview.ts";
import { type AnyDescribedList, type DescribedList, listAnswer } from "./list_page.ts";
import { OBJECTS } from "./objects.ts";
import { SERVICES } from "./services.ts";
import { adsz, CONNECTIONS, forceDisconnect, SYNCZ } from "./proxies.ts";
import { describePage } from "./describe.ts";
import { explainPage } from "./explain.ts";
import { POLICIES, pushContext } from "./policies.ts";
import { TUNNEL_RESOURCES } from "./ambient.ts";
import { AMBIENT_PODS } from "./ambient_pods.ts";
import { AMBIENT_SERVICES } from "./ambient_services.ts";
import { MAX_PREVIEW_BODY, preview } from "./preview.ts";
import { PUSHES, pushStatus } from "./pushes.ts";
import { ROLLOUTS } from "./rollouts.ts";
import { SAVINGS } from "./savings.ts";
import { scopez } from "./scopes.ts";
import { unqueried } from "./query.ts";
import { search } from "./search.ts";
import { sidecarz } from "./sidecar.ts";
import { telemetryz } from "./telemetry.ts";
import type { DebugView } from "./view.ts";
import { clusterz, deploymentz, endpointShardz, instancesz, leaderz, mcsz, mesh, networkz } from "./world.ts";

export interface Page {
  /** Below `/debug/`. */
  readonly path: string;
  readonly help: string;
  /** Default: GET. A page with changes has POST or PUT. */
  readonly methods?: readonly HttpMethod[];
  /** The page is about a single proxy. A client with the proxy's identity may see the page. */
  readonly ofProxy?: true;
  /** Longest body, bytes; default: the limit of routes. */
  readonly maxBody?: number;
  /** The description behind both the answer and the HTML for people; absent: the page is not a plain list. */
  readonly list?: AnyDescribedList;
  /** Made by `queried` or `unqueried`. Both check the query. */
  readonly answer: (request: HttpRequest, view: DebugView) => HttpResponse | Promise<HttpResponse>;
}

/** A page with a single list: the description serves programs and people. */
function listed<Row, Look>(path: string, help: string, list: DescribedList<Row, Look>): Page {
  return { path, help, list, answer: listAnswer(list) };
}

/** The pages, in the order of the index. */
export const PAGES: readonly Page[] = [
  {
    path: "adsz",
    help: "connected proxies with their watches; ?proxyID=; POST ?push=any pushes everything to all",
    methods: ["GET", "POST"],
    list: CONNECTIONS,
    answer: adsz,
  },
  listed("connections", "connected proxies", CONNECTIONS),
  listed("syncz", "the last response, acknowledgement and rejection of each type, by proxy; ?namespace=", SYNCZ),
  {
    path: "config_dump",
    help:
      "everything that a proxy should have, in the form of Envoy's page of that name; ?proxyID=, types=cds,lds,rds,eds,sds,ecds, include_eds",
    ofProxy: true,
    answer: configDump,
  },
  {
    path: "ndsz",
    help: "the DNS table of a proxy's agent, in the form of the agent's own page; ?proxyID=",
    ofProxy: true,
    answer: ndsz,
  },
  {
    path: "telemetryz",
    help: "Telemetry objects; ?proxyID=: the merged access logs and tracing of a proxy",
    answer: telemetryz,
  },
  listed("authorizationz", "authorization policies by namespace; ?proxyID=: the policies for a proxy", POLICIES),
  {
    path: "sidecarz",
    help: "the services and destination rules that a proxy sees, and its Sidecar; ?proxyID=",
    answer: sidecarz,
  },
  listed("calls", "what workloads have called, as far as their sidecars ask; ?namespace=", CALLS),
  {
    path: "learned_scope",
    help: "the Sidecar that fits what a workload has called, what it leaves out and saves; ?workload=namespace/name",
    answer: learnedScope,
  },
  listed("savings", "memory and bytes that on-demand discovery saves, and would save, by namespace", SAVINGS),
  { path: "edsz", help: "the endpoints that a proxy should have; ?proxyID=", ofProxy: true, answer: edsz },
  { path: "ecdsz", help: "the extension configurations that a proxy should have; ?proxyID=", answer: ecdsz },
  listed("pushes", "the last pushes: triggers, proxies, types, bytes, time, slowest", PUSHES),
  listed("rollouts", "objects of which only some proxies have the newest version: stage, proxies, why", ROLLOUTS),
  {
    path: "live",
    help: "whether an edit is in force, where, why not; ?object=kind/namespace/name, wait=30s",
    answer: live,
  },
  {
    path: "push_status",
    help:
      "conflicts of listeners, other warnings by object, resources that proxies rejected, resources that could not be built",
    answer: unqueried(pushStatus),
  },
  listed("warningz", "accepted settings that proxies do not get: code, objects, message", WARNINGS),
  listed("problemz", "findings about configuration: code, severity, place, value, expected, message", FINDINGS),
  listed(
    "findings_by_code",
    "findings by code: count, objects, and the connected proxies with something made from them; ?severity=",
    FINDINGS_BY_CODE,
  ),
  listed("finding_codes", "meaning, effect and fix of each code of findings; ?code=", FINDING_CODES),
  {
    path: "overview",
    help:
      "whether everything is all right: a verdict with reasons, findings by code, proxies by state, certificates, sources, pushes of the last hour, memory",
    answer: unqueried(overview),
  },
  { path: "search", help: "objects, proxies and services whose name holds ?q=", answer: search },
  {
    path: "explain",
    help:
      "where a request of a connected proxy or of a pod goes, and why; ?from=namespace/name, to=URL, method=, headers= (one a line)",
    answer: explainPage,
  },
  {
    path: "describe",
    help:
      "the objects that concern a pod or a service: services, routes, rules, gateways, policies, mutual TLS, findings; ?pod=name.namespace or service=",
    answer: describePage,
  },
  {
    path: "preview",
    help: "POST texts of files: their effect on connected proxies in place of the folder; nothing is applied",
    methods: ["POST"],
    maxBody: MAX_PREVIEW_BODY,
    answer: unqueried(preview),
  },
  {
    path: "pushcontext",
    help: "inputs of a push beside services: authorization policies, ways into networks",
    answer: unqueried(pushContext),
  },
  {
    path: "cachez",
    help: "resources in the caches of translation; ?sizes; POST ?clear makes everything anew from empty caches",
    methods: ["GET", "POST"],
    answer: cachez,
  },
  listed("configz", "all configuration objects", OBJECTS),
  {
    path: "factz",
    help: "facts from manifests, without contents of secrets; ?kind=, namespace=, limit=, after=",
    answer: factz,
  },
  {
    path: "passed_over",
    help: "content of folders that is neither configuration nor a fact, counted by kind",
    answer: unqueried(passedOver),
  },
  { path: "resourcesz", help: "kinds of objects that the server reads", answer: unqueried(resourcesz) },
  {
    path: "krtz",
    help: "collections in the server's memory, with their sizes and their source collections",
    answer: unqueried(krtz),
  },
  listed("registryz", "all services", SERVICES),
  {
    path: "graph",
    help:
      "who may call whom and how: policies, mutual TLS, visibility, routes, gateways, measured requests and errors, by namespace; ?namespace= opens one",
    answer: graphPage,
  },
  { path: "endpointShardz", help: "endpoints by service and shard", answer: unqueried(endpointShardz) },
  { path: "endpointz", help: "old name of endpointShardz", answer: unqueried(endpointShardz) },
  { path: "instancesz", help: "services at the addresses of each connected proxy", answer: unqueried(instancesz) },
  { path: "mesh", help: "the mesh configuration in force", answer: unqueried(mesh) },
  {
    path: "scopez",
    help: "log levels by scope; PUT or POST ?scope=&level=, stack_level=, caller= changes one",
    methods: ["GET", "PUT", "POST"],
    answer: scopez,
  },
  {
    path: "clusterz",
    help: "clusters whose services are part of the mesh: id, secretName, syncStatus, problem",
    answer: unqueried(clusterz),
  },
  {
    path: "mcsz",
    help: "services that clusters share: exporters, importers, addresses, and the clusters that see them",
    answer: unqueried(mcsz),
  },
  listed(
    "ambient_pods",
    "pods: captured or not and why, tunnels that acknowledged them, waypoints, where each policy is enforced; ?namespace=, node=, state=, policy=",
    AMBIENT_PODS,
  ),
  listed(
    "ambient_services",
    "services that node tunnels get: whether the waypoint is really on the way, and why not; ?namespace=, way=, waypoint=",
    AMBIENT_SERVICES,
  ),
  listed("ambientz", "what node tunnels get: workloads, services and policies; ?namespace=", TUNNEL_RESOURCES),
  { path: "leaderz", help: "leaders of the duties that one server does for all, by lock", answer: unqueried(leaderz) },
  {
    path: "deploymentz",
    help: "managed Gateways that this server deploys: state, reasons, and the turn of those that will get new pods",
    answer: unqueried(deploymentz),
  },
  {
    path: "inject",
    help: "the configuration of injection, its source and its mistakes; pods without a proxy",
    answer: unqueried(inject),
  },
  { path: "networkz", help: "networks of the mesh", answer: unqueried(networkz) },
];

/** Pages that change the running server, only with `UNSAFE_ENABLE_ADMIN_ENDPOINTS`. */
const ADMIN_PAGES: readonly Page[] = [
  {
    path: "force_disconnect",
    help: "POST ends the stream of a proxy; the proxy connects again; ?proxyID=",
    methods: ["POST"],
    answer: forceDisconnect,
  },
];

/** Pages open to a client with the identity of a single proxy. */
export const OWN_PAGES: readonly string[] = PAGES.filter(({ ofProxy }) => ofProxy).map(({ path }) => path);

/**
 * Everything under `/debug`. Everybody may see the index. The guard decides which clients may see the pages.
 *
 * @param admin `UNSAFE_ENABLE_ADMIN_ENDPOINTS`: also the pages that change the running server
 * @param names of this server beside addresses and localhost
 * @param audience what each client may see; default: {@linkcode localAudience}
 */
export function debugRoutes(
  view: DebugView,
  admin: boolean,
  names: readonly string[],
  audience: AudienceOf = localAudience,
): Route[] {
  const pages = admin ? [...PAGES, ...ADMIN_PAGES] : PAGES;
  const ownNames = guardOwnNames(names);
  const guards = (path: string, page?: Page): Guard[] => [pageGuard(audience, path, page), ownNames];
  const routes = pages.map((page): Route => {
    const { path, methods = ["GET"], maxBody, answer } = page;
    return {
      methods,
      path: `/debug/${path}`,
      guards: guards(path, page),
      ...(maxBody === undefined ? {} : { maxBody }),
      ...(methods.includes("POST") ? { command: changeCommand } : {}),
      handle: async (request) => {
        const sees = await audience(request);
        return "status" in sees ? sees : await answer(request, shownTo(view, sees));
      },
    };
  });
  const paths = pages.map(({ path }) => path).sort();
  const list: Route = {
    methods: ["GET"],
    path: "/debug/list",
    guards: guards("list"),
    handle: (request) => jsonResponse(paths, request),
  };
  const others: Route = {
    methods: "any",
    path: "/debug/*",
    guards: guards("of this name"),
    handle: ({ path }) => textResponse(404, `no page ${path}; /debug lists them\n`),
  };
  const index: Route = { methods: ["GET"], path: "/debug", handle: () => indexPage(pages) };
  return [index, ...routes, list, others];
}

/** Refuses a client without access to a page before the request's body is read. */
function pageGuard(audience: AudienceOf, path: string, page: Page | undefined): Guard {
  return async (head) => {
    const sees = await audience(head);
    if ("status" in sees) return sees;
    const why = pageRefusal(sees, path, page, OWN_PAGES);
    return why === undefined ? undefined : textResponse(403, `${why}\n`);
  };
}

function indexPage(pages: readonly Page[]): HttpResponse {
  const rows = pages.map(({ path, help }) => `<tr><td><a href="/debug/${path}">${path}</a></td><td>${help}</td></tr>`);
  const body = `<!doctype html><meta charset="utf-8"><title>pilot-discovery</title>
<style>body{font:15px system-ui;margin:2em}td{padding:.2em 1em .2em 0}</style>
<h1>pilot-discovery</h1><table>${rows.join("")}</table>
`;
  return { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body };
}
