/**
 * "Send a request": the way of a request from a client of this proxy, over both proxies. A request that arrives at the
 * proxy, or goes to a given address, is followed only through this proxy. Nothing is sent.
 *
 * @module
 */
import { KINDS } from "../config/kinds/kinds.ts";
import { objectKey } from "../config/types.ts";
import { tablesOf } from "../debug/resources.ts";
import { servedSecrets } from "../debug/served_secrets.ts";
import type { DebugView } from "../debug/view.ts";
import type { HttpRequest } from "../http/message.ts";
import { fullHost } from "../mesh/names.ts";
import { dialledAddress } from "../registry/address.ts";
import { serviceKey } from "../registry/types.ts";
import { explain } from "../simulate/explain.ts";
import { resourcesForRequest } from "../simulate/for_request.ts";
import { simulate } from "../simulate/simulate.ts";
import type { SimulatedRequest, SimulationStep, SocketAddress } from "../simulate/types.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { type Html, markup } from "./html.ts";
import { objectUrl } from "../debug/links.ts";
import { nodeName } from "../debug/proxies.ts";
import { wayHtml } from "./request_way.ts";
import { stateHtml } from "./words.ts";
import { isNodeType, profileOf } from "../translate/reader/proxy_profile.ts";
import { before } from "../kernel/text/edges.ts";

const DIRECTIONS = ["outbound", "inbound", "direct"] as const;

/** The request asked about in the form. */
interface AskedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: string;
  readonly direction: SimulatedRequest["direction"];
  /** `ip:port`; empty: found by the URL. */
  readonly address: string;
}

/** Reserved for documents (RFC 5737). A host without a service needs some address. */
const UNKNOWN_ADDRESS = "192.0.2.1";

/** The part; queries `url`, `method`, `headers`, `direction`, `address`. */
export async function requestPart(
  { query }: HttpRequest,
  connection: XdsConnection,
  view: DebugView,
): Promise<Html> {
  const { type } = nodeName(connection);
  const ofClients = isNodeType(type) && profileOf(type).gateways ? "direct" : "outbound";
  const direction = DIRECTIONS.find((one) => one === query.get("direction")) ?? ofClients;
  const asked: AskedRequest = {
    url: query.get("url") ?? "",
    method: query.get("method") ?? "GET",
    headers: query.get("headers") ?? "",
    direction,
    address: query.get("address") ?? "",
  };
  const shown = asked.url === ""
    ? ""
    : direction === ofClients && asked.address === ""
    ? await way(asked, connection, view) ?? outcome(asked, connection, view)
    : outcome(asked, connection, view);
  return markup`${form(asked, query.get("proxyID") ?? "")}${shown}`;
}

/** The way over both proxies; undefined: this server does not explain requests. */
async function way(
  { url, method, headers }: AskedRequest,
  { node }: XdsConnection,
  view: DebugView,
): Promise<Html | undefined> {
  const lines = headers.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return await wayHtml({ from: node?.id ?? "", to: url, method: method || "GET", headers: lines }, view);
}

function form({ url, method, headers, direction, address }: AskedRequest, proxy: string): Html {
  const option = (value: string) =>
    value === direction ? markup`<option selected>${value}</option>` : markup`<option>${value}</option>`;
  return markup`<form class="request" action="/debug/config_dump"><input type="hidden" name="proxyID" value="${proxy}">
<input type="hidden" name="view" value="request">
<label for="url">URL</label><input id="url" name="url" value="${url}" placeholder="http://reviews/api" required>
<label for="method">Method</label><input id="method" name="method" value="${method}" maxlength="20">
<label for="headers">Headers</label><textarea id="headers" name="headers" rows="3" placeholder="name: value, one a line">${headers}</textarea>
<label for="direction">Direction</label><select id="direction" name="direction">${DIRECTIONS.map(option)}</select>
<label for="address">Dialled address</label><input id="address" name="address" value="${address}"
placeholder="ip:port; empty: the service's address">
<span></span><button>What would it do?</button></form>`;
}

function outcome(asked: AskedRequest, connection: XdsConnection, view: DebugView): Html {
  const request = simulatedRequest(asked, connection, view);
  if (typeof request === "string") return markup`<p>${stateHtml({ tone: "bad", word: request })}</p>`;
  const resources = resourcesForRequest(tablesOf(connection), request.request);
  const simulation = simulate({ ...resources, secrets: servedSecrets(connection.stream?.view) }, request.request);
  const lines = explain(simulation).split("\n");
  const tone = simulation.outcome.kind === "forwarded"
    ? "good"
    : simulation.outcome.kind === "unknown"
    ? "warn"
    : "bad";
  const steps = simulation.steps.map((step, i) => markup`<li>${before(lines[i]!, "  <- ")}${causes(step)}</li>`);
  return markup`<p class="dim">${request.note}</p><ol>${steps}</ol>
<div class="verdict ${tone}">${stateHtml({ tone, word: lines.at(-1)!.replace(/^=> /, "") })}</div>`;
}

/** The most objects named in a step. */
const MAX_CAUSES = 5;

function causes(step: SimulationStep): Html | false {
  const { cause, causes = [] } = step as { readonly cause?: string; readonly causes?: readonly string[] };
  const keys = causes.length > 0 ? causes : cause === undefined ? [] : [objectOf(cause)];
  const links = keys.slice(0, MAX_CAUSES).map((key) =>
    key.split("/").length === 3 ? markup`<a href="${objectUrl(key)}">${key}</a> ` : markup`${key} `
  );
  return links.length > 0 && markup` ← ${links}`;
}

/** The key of an object named by a path in a resource's metadata: `.../namespaces/NS/virtual-service/NAME`. */
function objectOf(path: string): string {
  const [, namespace = "", word = "", name = ""] = /\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const kind = KINDS.find((one) => one.toLowerCase() === word.replaceAll("-", ""));
  return kind === undefined ? path : objectKey(kind, namespace, name);
}

/** The request, and how its address was found; or a sentence that says why there is no request. */
function simulatedRequest(asked: AskedRequest, connection: XdsConnection, view: DebugView) {
  const url = URL.canParse(asked.url) ? new URL(asked.url) : undefined;
  if (url === undefined || !/^(?:https?|tcp|tls):$/.test(url.protocol)) {
    return `URL: got ${
      JSON.stringify(asked.url)
    }, expected a URL such as http://reviews/api, https://example.com or tcp://10.0.0.1:3306`;
  }
  const headers: Record<string, string[]> = Object.create(null);
  for (const line of asked.headers.split("\n").map((one) => one.trim()).filter((one) => one !== "")) {
    const colon = line.indexOf(":");
    if (colon <= 0) return `Headers: got ${JSON.stringify(line)}, expected "name: value"`;
    (headers[line.slice(0, colon).trim()] ??= []).push(line.slice(colon + 1).trim());
  }
  const secure = url.protocol === "https:" || url.protocol === "tls:";
  const port = Number(url.port) || (secure ? 443 : 80);
  const found = asked.address === "" ? dialled(url.hostname, port, connection, view) : addressOf(asked.address);
  if (typeof found === "string") return found;
  const isHttp = url.protocol === "http:" || url.protocol === "https:";
  const request: SimulatedRequest = {
    direction: asked.direction,
    destination: found.address,
    protocol: secure ? "tls" : isHttp ? "http" : "tcp",
    ...(isHttp ? { host: url.host, method: asked.method || "GET", path: `${url.pathname}${url.search}`, headers } : {}),
    ...(secure ? { sni: url.hostname } : {}),
  };
  return { request, note: found.note };
}

function addressOf(text: string): { readonly address: SocketAddress; readonly note: string } | string {
  const [, ip = "", port] = /^\[?([0-9a-fA-F.:]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (ip === "" || Number(port) > 65535) return `Dialled address: got ${JSON.stringify(text)}, expected ip:port`;
  return { address: { ip, port: Number(port) }, note: `dialled: ${text}` };
}

/** The address that a client of this workload would dial for a host. */
function dialled(host: string, port: number, connection: XdsConnection, view: DebugView) {
  const bare = host.replace(/^\[|\]$/g, "");
  if (/^[0-9.]+$|:/.test(bare)) return { address: { ip: bare, port }, note: `dialled: ${host}:${port}` };
  const namespace = connection.stream?.view.home?.namespace ?? "";
  const full = fullHost(host, namespace, view.domain);
  const names = new Set([full, `${full}.svc.${view.domain}`, `${full}.${view.domain}`]);
  const service = [...view.services.services()].find(({ hostname }) => names.has(hostname));
  const [, own] = (connection.node?.id ?? "").split("~");
  const ip = service === undefined ? undefined : dialledAddress(service.addresses, own) ??
    service.autoAllocatedAddresses?.[0] ?? view.endpoints.endpoints(serviceKey(service))[0]?.address;
  if (service === undefined || ip === undefined) {
    const why = service === undefined ? `no service has the host ${full}` : `${full} has no address and no endpoint`;
    return { address: { ip: UNKNOWN_ADDRESS, port }, note: `dialled: ${UNKNOWN_ADDRESS}:${port}, since ${why}` };
  }
  return { address: { ip, port }, note: `dialled: ${ip}:${port}, of ${service.hostname}` };
}
