/**
 * "Send a request": the way of a request from a client of this proxy, over both proxies. The form begins with a listener
 * of the proxy and the hosts behind it. A request that arrives at the proxy, or goes to a given address, is followed only
 * through this proxy. Nothing is sent.
 *
 * @module
 */
import { tablesOf } from "../debug/resources.ts";
import { servedSecrets } from "../debug/served_secrets.ts";
import type { DebugView } from "../debug/view.ts";
import type { HttpRequest } from "../http/message.ts";
import { fullHost } from "../mesh/names.ts";
import { dialledAddress } from "../registry/address.ts";
import { serviceKey } from "../registry/types.ts";
import type { NamedCause } from "../simulate/decode.ts";
import { explain, trialText } from "../simulate/explain.ts";
import { resourcesForRequest } from "../simulate/for_request.ts";
import { simulate } from "../simulate/simulate.ts";
import type { ClusterStep, SimulatedRequest, Simulation, SimulationStep, SocketAddress } from "../simulate/types.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { type Html, type HtmlValue, markup } from "./html.ts";
import { objectUrl, proxyUrl } from "../debug/links.ts";
import { counted } from "../debug/words.ts";
import { factTable } from "./list.ts";
import { type AskedListener, askedListener, offeredListeners, type OfferedNames } from "./offered_requests.ts";
import { nodeName } from "../debug/proxies.ts";
import { wayHtml } from "./request_way.ts";
import { stateHtml } from "./words.ts";
import { keyOfPath } from "../translate/message/object_metadata.ts";
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
  /** The listener that the request is meant for; undefined: none is chosen. */
  readonly listener: AskedListener | undefined;
}

/** Reserved for documents (RFC 5737). A host without a service needs some address. */
const UNKNOWN_ADDRESS = "192.0.2.1";

/** The part; queries `listener`, `url`, `method`, `headers`, `direction`, `address`. */
export async function requestPart(
  { query }: HttpRequest,
  connection: XdsConnection,
  view: DebugView,
): Promise<Html> {
  const { type } = nodeName(connection);
  const ofClients = isNodeType(type) && profileOf(type).gateways ? "direct" : "outbound";
  const name = query.get("listener") ?? "";
  const listener = name === "" ? undefined : askedListener(name, connection);
  const direction = listener?.direction ?? DIRECTIONS.find((one) => one === query.get("direction")) ?? ofClients;
  const asked: AskedRequest = {
    url: query.get("url") ?? "",
    method: query.get("method") ?? "GET",
    headers: query.get("headers") ?? "",
    direction,
    address: query.get("address") ?? "",
    listener,
  };
  if (asked.url === "") return form(asked, name, query.get("proxyID") ?? "", connection);
  const isOfClient = direction === ofClients && asked.address === "" && listener?.address === undefined;
  const both = isOfClient ? await way(asked, connection, view) : undefined;
  // The way over both proxies names the parts of this proxy, too; who has chosen a listener wants to see all of them.
  const own = both === undefined || listener !== undefined ? outcome(asked, connection, view) : undefined;
  return markup`${form(asked, name, query.get("proxyID") ?? "", connection)}${own?.path}${both ?? own?.steps}`;
}

/** The way over both proxies; undefined: this server does not explain requests. */
async function way(
  { url, method, headers, listener }: AskedRequest,
  { node }: XdsConnection,
  view: DebugView,
): Promise<Html | undefined> {
  const lines = headers.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return await wayHtml(
    { from: node?.id ?? "", to: withPort(url, listener), method: method || "GET", headers: lines },
    view,
  );
}

/** A URL with the port of the chosen listener, unless the URL has a port. */
function withPort(text: string, listener: AskedListener | undefined): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The usual port of a scheme is not a part of a parsed URL.
  const isWritten = url === undefined || url.port !== "" || /:\d+(?:[/?#]|$)/.test(text);
  if (url === undefined || isWritten || listener?.port === undefined) return text;
  url.port = String(listener.port);
  return url.href;
}

function form(
  { url, method, headers, direction, address, listener }: AskedRequest,
  name: string,
  proxy: string,
  connection: XdsConnection,
): Html {
  const { names, left } = offeredListeners(connection);
  const offered = name === "" || names.includes(name) ? names : [name, ...names];
  const option = (value: string, chosen: string, text = value) =>
    value === chosen
      ? markup`<option value="${value}" selected>${text}</option>`
      : markup`<option value="${value}">${text}</option>`;
  const urls = listener?.urls ?? { names: [], left: 0 };
  const example = urls.names[0] ?? "http://reviews/api";
  return markup`<form class="request" action="/debug/config_dump"><input type="hidden" name="proxyID" value="${proxy}">
<input type="hidden" name="view" value="request">
<label for="listener">Listener</label><span class="with"><select id="listener" name="listener">${
    option("", name, "any: the dialled address decides")
  }${offered.map((one) => option(one, name))}</select> <button formnovalidate>Show its hosts</button></span>
<label for="url">URL</label><input id="url" name="url" list="urls" value="${url}" placeholder="${example}" required>
<datalist id="urls">${urls.names.map((one) => markup`<option value="${one}"></option>`)}</datalist>
<label for="method">Method</label><input id="method" name="method" value="${method}" maxlength="20">
<label for="headers">Headers</label><textarea id="headers" name="headers" rows="3" placeholder="name: value, one a line">${headers}</textarea>
${
    listener === undefined &&
    markup`<label for="direction">Direction</label><select id="direction" name="direction">${
      DIRECTIONS.map((one) => option(one, direction))
    }</select>`
  }
<label for="address">Dialled address</label><input id="address" name="address" value="${address}"
placeholder="ip:port; empty: the address of the listener or of the service">
<span></span><button>What would it do?</button></form>${offer(name, listener, proxy, urls, left)}`;
}

/** The hosts behind the listener, each as a link that asks about it. */
function offer(
  name: string,
  listener: AskedListener | undefined,
  proxy: string,
  { names, left }: OfferedNames,
  leftListeners: number,
): Html {
  const more = leftListeners > 0 &&
    markup`<p class="dim">Not in the list: ${
      counted(leftListeners, "further listener")
    }. The query "listener" takes every name.</p>`;
  if (name !== "" && listener === undefined) {
    return markup`<p>${stateHtml({ tone: "bad", word: `The proxy has no listener ${name}.` })}</p>${more}`;
  }
  if (listener === undefined || names.length === 0) return markup`${more}`;
  const links = names.map((url) =>
    markup`<li><a href="${proxyUrl(proxy, { view: "request", listener: name, url })}">${url}</a></li>`
  );
  return markup`${more}<details><summary>${
    counted(names.length + left, "address", "addresses")
  } behind the listener</summary><ul class="plain">${links}</ul>${
    left > 0 && markup`<p class="dim">and ${left} more</p>`
  }</details>`;
}

/** What this proxy does with a request: the path as a table, and every step. */
interface OwnOutcome {
  readonly path: Html;
  readonly steps: Html;
}

function outcome(asked: AskedRequest, connection: XdsConnection, view: DebugView): OwnOutcome {
  const request = simulatedRequest(asked, connection, view);
  if (typeof request === "string") {
    return { path: markup``, steps: markup`<p>${stateHtml({ tone: "bad", word: request })}</p>` };
  }
  const resources = resourcesForRequest(tablesOf(connection), request.request);
  const simulation = simulate({ ...resources, secrets: servedSecrets(connection.stream?.view) }, request.request);
  const lines = explain(simulation).split("\n");
  const tone = simulation.outcome.kind === "forwarded"
    ? "good"
    : simulation.outcome.kind === "unknown"
    ? "warn"
    : "bad";
  const trials = (simulation.onTrial ?? []).map((one) => markup`<br>${trialText(one)}`);
  const steps = simulation.steps.map((step, i) => markup`<li>${before(lines[i]!, "  <- ")}${causes(step)}</li>`);
  return {
    path: pathHtml(simulation, asked.listener),
    steps: markup`<p class="dim">${request.note}${trials}</p><ol>${steps}</ol>
<div class="verdict ${tone}">${stateHtml({ tone, word: lines.at(-1)!.replace(/^=> /, "") })}</div>`,
  };
}

/** The parts of the proxy that the request meets, by name. */
function pathHtml({ steps }: Simulation, chosen: AskedListener | undefined): Html {
  const rows = steps.flatMap((step): [string, HtmlValue][] => {
    const named = pathRow(step);
    if (named === undefined) return [];
    const row: [string, HtmlValue] = [named[0], markup`<b>${named[1]}</b> ${named[2]}${causes(step)}`];
    return step.step === "cluster" ? [row, ["Endpoint", endpointsText(step)]] : [row];
  });
  const taken = steps.find((step) => step.step === "listener");
  const isOther = chosen !== undefined && taken !== undefined && taken.name !== chosen.name &&
    taken.via !== chosen.name;
  return markup`<h2>Through this proxy</h2>${
    isOther &&
    markup`<p>${
      stateHtml({ tone: "warn", word: `The listener ${chosen.name} does not take this request; ${taken.name} does.` })
    }</p>`
  }${rows.length > 0 ? factTable(rows) : markup`<p class="dim">No listener takes the request.</p>`}`;
}

/** Named endpoints of a cluster. */
const MAX_ENDPOINTS = 3;

function endpointsText({ type, endpoints }: ClusterStep): string {
  if (type === "ORIGINAL_DST") return "the dialled address";
  const healthy = endpoints.filter((one) => one.healthy).map(({ address, port }) => `${address}:${port}`);
  if (healthy.length === 0) return endpoints.length === 0 ? "none" : `none of ${endpoints.length} is healthy`;
  const more = healthy.length - MAX_ENDPOINTS;
  return `${healthy.slice(0, MAX_ENDPOINTS).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Title, name and details of a step that is a part of the path. */
function pathRow(step: SimulationStep): readonly [title: string, name: string, details: string] | undefined {
  switch (step.step) {
    case "listener":
      return ["Listener", step.name, step.via === undefined ? step.why : `${step.why}, from ${step.via}`];
    case "filterChain":
      return ["Filter chain", step.name || (step.index < 0 ? "default" : `#${step.index}`), step.matched.join(", ")];
    case "routeConfiguration":
      return ["Route configuration", step.name, step.source];
    case "virtualHost":
      return ["Virtual host", step.name, `domain ${step.domain}`];
    case "route":
      return ["Route", step.name || `#${step.index}`, step.match];
    case "cluster":
      return ["Cluster", step.name, step.type];
    default:
      return undefined;
  }
}

/** The most objects named in a step. */
const MAX_CAUSES = 5;

function causes(step: SimulationStep): Html | false {
  const { cause, part = "", causes = [] } = step as NamedCause & { readonly causes?: readonly string[] };
  const keys = causes.length > 0 ? causes : cause === undefined ? [] : [keyOfPath(cause) ?? cause];
  const links = keys.slice(0, MAX_CAUSES).map((key) =>
    key.split("/").length === 3 ? markup`<a href="${objectUrl(key)}">${key}</a> ` : markup`${key} `
  );
  return links.length > 0 && markup` ← ${links}${part}`;
}

/** The request, and how its address was found; or a sentence that says why there is no request. */
function simulatedRequest(asked: AskedRequest, connection: XdsConnection, view: DebugView) {
  const text = withPort(asked.url, asked.listener);
  const url = URL.canParse(text) ? new URL(text) : undefined;
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
  const found = asked.address !== ""
    ? addressOf(asked.address)
    : asked.listener?.address === undefined
    ? dialled(url.hostname, port, connection, view)
    : ofListener(asked.listener.address);
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

function ofListener(address: SocketAddress): { readonly address: SocketAddress; readonly note: string } {
  return { address, note: `dialled: ${address.ip}:${address.port}, of the listener` };
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
