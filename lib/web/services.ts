/**
 * A service for people, with its endpoints by locality and health.
 *
 * @module
 */
import { definedBy, ENDPOINTS, LOCALITIES, SERVICES } from "../debug/services.ts";
import { protocolText } from "../registry/protocol.ts";
import { type Service, type ServiceKey, serviceKey } from "../registry/types.ts";
import { ambientServiceLink } from "./ambient_links.ts";
import { serviceDescriptionUrl } from "../debug/links.ts";
import { descriptionLink } from "./describe.ts";
import { type Html, type HtmlValue, markup } from "./html.ts";
import { factTable } from "./list.ts";
import { cellHtml, filteredTable, listPage, tableOf } from "./list_page.ts";
import type { WebPageMaker } from "./view.ts";

const servicesPage = listPage(SERVICES);

/** A service; queries `service` (`namespace/hostname`), `q`. Without `service`: the list. */
export const servicePage: WebPageMaker = (request, view) => {
  const key = request.query.get("service");
  if (key === null) return servicesPage(request, view);
  const service = view.services.service(key as ServiceKey);
  if (service === undefined) {
    return {
      status: 404,
      title: key,
      body: markup`<p>There is no service <code>${key}</code> (namespace/hostname).</p>`,
    };
  }
  const endpoints = view.endpoints.endpoints(serviceKey(service));
  const localities = [...Map.groupBy(endpoints, ({ locality }) => locality)].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    title: service.hostname,
    live: "push",
    body: markup`${facts(service)}${descriptionLink(serviceDescriptionUrl(key), view)}${
      ambientServiceLink(key, view)
    }<h2>By locality</h2>${tableOf(LOCALITIES, localities, undefined)}
<h2>Endpoints</h2>${filteredTable(ENDPOINTS, endpoints, undefined, request, ["service"])}`,
  };
};

function facts(service: Service): Html {
  const { namespace, ports, addresses, autoAllocatedAddresses = [], resolution, meshExternal, exportTo } = service;
  const rows: [string, HtmlValue][] = [
    ["Namespace", namespace],
    ["Ports", ports.map(({ name, port, protocol }) => `${port} ${name} (${protocolText(protocol)})`).join(", ")],
    ["Addresses", addresses.join(", ") || "none"],
    ["Allocated addresses", autoAllocatedAddresses.join(", ") || "none"],
    ["Resolution", resolution],
    ["Location", meshExternal ? "outside the mesh" : "in the mesh"],
    ["Visible to", exportTo.join(", ") || "the mesh's default"],
    ["Defined by", cellHtml(definedBy(service))],
  ];
  return factTable(rows);
}
