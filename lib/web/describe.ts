/**
 * The description of a pod or of a service for people: which objects concern it, and what they make of it.
 *
 * @module
 */
import { describedBy } from "../debug/describe.ts";
import type { DescribedTls, MeshServiceDescription, PodDescription } from "../debug/description.ts";
import { labelText } from "../debug/description_words.ts";
import { FINDINGS, findingsOf, SEVERITIES, TONES } from "../debug/findings.ts";
import { podDescriptionUrl, proxyUrl, serviceDescriptionUrl, serviceUrl } from "../debug/links.ts";
import type { ListTable } from "../debug/list_page.ts";
import { byName, nameColumns, NO_PROXY, nodeName } from "../debug/proxies.ts";
import type { DebugView } from "../debug/view.ts";
import { counted } from "../debug/words.ts";
import { type Finding, findingKeys } from "../finding/finding.ts";
import type { HttpRequest } from "../http/message.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import type { XdsConnection } from "../xds/connection.ts";
import {
  boundedTable,
  callersHtml,
  gatewaysHtml,
  type ObjectLinker,
  objectLinker,
  policiesHtml,
  trafficHtml,
} from "./described_service.ts";
import { type Html, type HtmlValue, markup } from "./html.ts";
import { factTable } from "./list.ts";
import { cellHtml, filteredTable } from "./list_page.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { stateHtml } from "./words.ts";

/** The most services of a pod on the page. The JSON has all. */
const MAX_SERVICES = 20;

/** The most findings on the page. The JSON has all. */
const MAX_FINDINGS = 50;

/** The page; queries `pod` and `service`, one of them. Without a query: what can be described. */
export const descriptionPage: WebPageMaker = async (request, view): Promise<WebPage> => {
  const pod = request.query.get("pod") || undefined;
  const service = request.query.get("service") || undefined;
  if (pod === undefined && service === undefined) return choicePage(request, view);
  const described = await describedBy({ pod, service }, view);
  if ("status" in described) {
    return {
      status: described.status,
      title: "No description",
      body: markup`<p>${String(described.body)}</p>${forms(pod, service)}`,
    };
  }
  return "pod" in described ? podPage(described, view) : serviceDescription(described, view);
};

/** A form for names, and the connected proxies. */
function choicePage(request: HttpRequest, view: DebugView): WebPage {
  const proxies: ListTable<XdsConnection, void> = {
    noun: "proxy",
    none: NO_PROXY,
    searched: ({ id }) => id,
    columns: nameColumns((one) => podDescriptionUrl(nodeName(one).name)),
  };
  return {
    title: "Describe a pod or a service",
    body:
      markup`<p>What decides about the traffic of a pod or of a service: services, routes, rules, gateways, policies,
mutual TLS, findings.</p>${forms()}<h2>Workloads with a proxy</h2>${
        filteredTable(proxies, byName([...view.xds.streams()]), undefined, request)
      }<p>Of a service: choose it among the <a href="/debug/registryz">services</a>.</p>`,
  };
}

function forms(pod = "", service = ""): Html {
  const form = (name: string, value: string, example: string) =>
    markup`<form class="filter" action="/debug/describe">
<input name="${name}" value="${value}" maxlength="300" required placeholder="${example}" aria-label="${name}">
<button>Describe the ${name}</button></form>`;
  return markup`${form("pod", pod, "cart.shop")}${form("service", service, "reviews.shop")}`;
}

function podPage(described: PodDescription, view: DebugView): WebPage {
  const { pod, type, address, account, labels, containerPorts, ambient, tls, services, serves, policies } = described;
  const link = objectLinker(described.keys, view);
  const { gateways, noun } = profileOf(type);
  const rows: [string, HtmlValue][] = [
    ["Address", address],
    ["Account", account],
    ["Labels", labelText(labels)],
    ["Ports", containerPorts.join(", ")],
    ["Proxy", proxyHtml(described, view)],
    ["Ambient", ambient],
    ["Mutual TLS", tls && tlsHtml(tls, link)],
  ];
  return page([gateways ? capital(noun) : "Pod", pod], described, rows, view, [
    services.slice(0, MAX_SERVICES).map((one) =>
      markup`<h2>Service <a href="${serviceDescriptionUrl(`${one.namespace}/${one.host}`)}">${one.host}</a></h2>${
        trafficHtml(one, link)
      }`
    ),
    services.length > MAX_SERVICES && markup`<p class="dim">And ${services.length - MAX_SERVICES} more services.</p>`,
    serves.length > 0 && markup`<h2>Serves</h2>${gatewaysHtml(serves, link)}`,
    policiesHtml(policies, link),
  ]);
}

function capital(noun: string): string {
  return `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
}

function proxyHtml({ pod, proxy }: PodDescription, view: DebugView): HtmlValue {
  const [namespace, name] = pod.split("/");
  const connection = [...view.xds.streams()].find((one) => nodeName(one).name === `${name}.${namespace}`);
  const id = connection?.node?.id;
  return id === undefined ? proxy : markup`<a href="${proxyUrl(id)}">${proxy}</a>`;
}

function tlsHtml({ mode, ports, objects }: DescribedTls, link: ObjectLinker): HtmlValue {
  const own = Object.entries(ports).map(([port, one]) => `port ${port} ${one}`);
  const by = objects.length === 0 ? [{ dim: "the default of the mesh" }] : objects.map(link);
  return cellHtml([[mode, ...own].join("; "), ...by]);
}

const WORKLOADS: ListTable<string, void> = {
  noun: "workloads",
  none: "No workload is known.",
  columns: [{ title: "Workload", cell: (name) => ({ text: name, link: podDescriptionUrl(name) }) }],
};

function serviceDescription(described: MeshServiceDescription, view: DebugView): WebPage {
  const { service, addresses, endpoints, workloads, tls, callers, policies } = described;
  const link = objectLinker(described.keys, view);
  const { healthy, all } = endpoints;
  const health = `${healthy} of ${all} healthy`;
  const key = `${service.namespace}/${service.host}`;
  const rows: [string, HtmlValue][] = [
    ["Namespace", service.namespace],
    ["Defined by", cellHtml(link(service.object))],
    ["Addresses", addresses.join(", ") || "none"],
    [
      "Endpoints",
      markup`<a href="${serviceUrl(key)}">${stateHtml({ tone: healthTone(healthy, all), word: health })}</a>`,
    ],
    ["Mutual TLS", tls === "outside" ? "outside the mesh" : tls],
  ];
  return page(["Service", service.host], described, rows, view, [
    markup`<h2>Traffic</h2>`,
    trafficHtml(service, link),
    callersHtml(callers),
    policiesHtml(policies, link),
    markup`<h2>Workloads</h2>${boundedTable(WORKLOADS, workloads, undefined)}`,
  ]);
}

function healthTone(healthy: number, all: number): "good" | "warn" | "bad" {
  if (healthy === 0) return "bad";
  return healthy === all ? "good" : "warn";
}

function page(
  [kind, name]: readonly [kind: string, name: string],
  { keys, notes }: Pick<PodDescription, "keys" | "notes">,
  facts: readonly (readonly [name: string, value: HtmlValue])[],
  view: DebugView,
  parts: readonly HtmlValue[],
): WebPage {
  const shown = facts.filter(([, value]) => value !== undefined && value !== "");
  const about = new Set(keys);
  const found = findingsOf(view).filter((one) => findingKeys(one).some((key) => about.has(key)));
  return {
    title: `${kind} ${name}`,
    copied: name,
    live: "push",
    body: markup`<p>${verdictHtml(found)}</p>${notes.map((note) => markup`<p class="dim">${note}</p>`)}${
      factTable(shown)
    }${parts}<h2 id="findings">Findings</h2>${boundedTable(ABOUT, found, undefined, MAX_FINDINGS)}`,
  };
}

const ABOUT: typeof FINDINGS = { ...FINDINGS, noun: "findings", none: "No finding is about these objects." };

/** The numbers of findings by severity. The findings themselves are at the end: they may be many. */
function verdictHtml(found: readonly Finding[]): Html {
  if (found.length === 0) return stateHtml({ tone: "good", word: "no finding about these objects" });
  const counts = SEVERITIES.map((one) => [one, found.filter(({ severity }) => severity === one).length] as const)
    .filter(([, count]) => count > 0);
  return markup`<a href="#findings">${
    counts.map(([one, count]) => markup`${stateHtml({ tone: TONES[one], word: counted(count, one) })} `)
  }</a>`;
}

/** A link from the page of a service or a proxy to its description; undefined: this server describes nothing. */
export function descriptionLink(url: string, { explainer }: DebugView): Html | undefined {
  return explainer && markup`<p><a href="${url}">What concerns it: routes, rules, gateways, policies</a></p>`;
}
