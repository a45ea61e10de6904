/**
 * Services for people: a list, and one service with its endpoints by locality and health.
 *
 * @module
 */
import type { Endpoint, Health, Service, ServiceKey } from "../registry/types.ts";
import { protocolText } from "../registry/protocol.ts";
import { serviceKey } from "../registry/types.ts";
import { type Html, type HtmlValue, markup } from "./html.ts";
import { objectUrl, serviceUrl } from "./links.ts";
import { filterForm, listPart, pageLinks, searched, table } from "./list.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { stateHtml, type StateWord } from "./words.ts";

const TONES: Readonly<Record<Health, StateWord["tone"]>> = { healthy: "good", draining: "warn", unhealthy: "bad" };

/** The list; queries `q`, `namespace`. */
export const servicesPage: WebPageMaker = (request, view): WebPage => {
  const namespace = request.query.get("namespace") ?? "";
  const holds = searched(request);
  const all = [...view.services.services()];
  const found = all.filter((one) => (namespace === "" || one.namespace === namespace) && holds(serviceKey(one)))
    .sort((a, b) => (serviceKey(a) < serviceKey(b) ? -1 : 1));
  const part = listPart(found, request);
  const rows = part.items.map((service): HtmlValue[] => [
    markup`
      <a href="${serviceUrl(serviceKey(service))}">${service.hostname}</a>
    `,
    service.namespace,
    service.ports.map(({ port, protocol }) => `${port} ${protocolText(protocol)}`).join(", "),
    service.resolution,
    healthCounts(view.endpoints.endpoints(serviceKey(service))),
    definedBy(service),
  ]);
  const namespaces = [...new Set(all.map((one) => one.namespace))].sort();
  return {
    title: "Services",
    live: "push",
    body: markup`
      ${filterForm(request, [{ name: "namespace", label: "any namespace", options: namespaces }])}${
      table(
        ["Host", "Namespace", "Ports", "Resolution", "Endpoints", "Defined by"],
        rows,
        "No service is so.",
      )
    }${pageLinks(part, request)}
    `,
  };
};

/** The objects behind a service. An orchestrator's services are no objects of configuration. */
function definedBy({ cause, otherCauses = [] }: Service): Html[] {
  return [cause, ...otherCauses].map((key) =>
    key.startsWith("Service/")
      ? markup`
        ${key}<br>
      `
      : markup`
        <a href="${objectUrl(key)}">${key}</a><br>
      `
  );
}

function healthCounts(endpoints: readonly Endpoint[]): HtmlValue {
  if (endpoints.length === 0) {
    return markup`
      <span class="dim">none</span>
    `;
  }
  const counts = Map.groupBy(endpoints, ({ health }) => health);
  return [...counts].map(([health, list]) =>
    markup`
      ${stateHtml({ tone: TONES[health], word: `${list.length} ${health}` })}
    `
  );
}

/** One service; queries `service` (`namespace/hostname`), `q`. Without `service`: the list. */
export const servicePage: WebPageMaker = (request, view) => {
  const key = request.query.get("service");
  if (key === null) return servicesPage(request, view);
  const service = view.services.service(key as ServiceKey);
  if (service === undefined) {
    return {
      status: 404,
      title: key,
      body: markup`
        <p>There is no service <code>${key}</code> (namespace/hostname).</p>
      `,
    };
  }
  const endpoints = view.endpoints.endpoints(serviceKey(service));
  const holds = searched(request);
  const found = endpoints.filter((one) => holds([one.address, one.workloadName, one.locality, one.health].join(" ")));
  const part = listPart(found, request);
  return {
    title: service.hostname,
    live: "push",
    body: markup`
      ${facts(service)}<h2>By locality</h2>${localities(endpoints)}<h2>Endpoints</h2>${
      filterForm(request, [], [
        "service",
      ])
    }${endpointTable(part.items)}${pageLinks(part, request)}
    `,
  };
};

function facts(service: Service): Html {
  const { namespace, ports, addresses, autoAllocatedAddresses = [], resolution, meshExternal, exportTo } = service;
  const rows: [string, HtmlValue][] = [
    ["Namespace", namespace],
    ["Ports", ports.map(({ name, port, protocol }) => `${port} ${name} (${protocolText(protocol)})`).join(", ")],
    ["Addresses", addresses.join(", ") || "none"],
    ["Given addresses", autoAllocatedAddresses.join(", ") || "none"],
    ["Resolution", resolution],
    ["Location", meshExternal ? "outside the mesh" : "in the mesh"],
    ["Visible to", exportTo.join(", ") || "the mesh's default"],
    ["Defined by", definedBy(service)],
  ];
  return markup`
    <table>${
    rows.map(([name, value]) =>
      markup`
        <tr>
          <th scope="row">${name}</th>
          <td>${value}</td>
        </tr>
      `
    )
  }</table>
  `;
}

function localities(endpoints: readonly Endpoint[]): Html {
  const groups = [...Map.groupBy(endpoints, ({ locality }) => locality)].sort(([a], [b]) => (a < b ? -1 : 1));
  const rows = groups.map(([locality, list]): HtmlValue[] => [
    locality || markup`
      <span class="dim">none</span>
    `,
    String(list.length),
    healthCounts(list),
    String(list.reduce((sum, { weight }) => sum + (weight || 1), 0)),
  ]);
  return table(["Locality", "Endpoints", "Health", "Weight"], rows, "There is no endpoint: requests are answered 503.");
}

function endpointTable(endpoints: readonly Endpoint[]): Html {
  const rows = endpoints.map((one): HtmlValue[] => [
    markup`
      <span class="mono">${one.address}:${one.port}</span>
    `,
    one.portName,
    stateHtml({ tone: TONES[one.health], word: one.health }),
    one.locality,
    one.workloadName,
    one.network,
    String(one.weight),
    Object.entries(one.labels).map(([name, value]) => `${name}=${value}`).join(", "),
  ]);
  const columns = ["Address", "Port", "Health", "Locality", "Workload", "Network", "Weight", "Labels"];
  return table(columns, rows, "None is so.");
}
