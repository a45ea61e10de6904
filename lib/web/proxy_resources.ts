/**
 * The resources of a proxy: found by name or by content, and decoded one at a time.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { resourcesOf, virtualHostsOf } from "../debug/resources.ts";
import { routesJson } from "../debug/routes_json.ts";
import type { DebugView } from "../debug/view.ts";
import { jsonPieces } from "../http/json_stream.ts";
import type { HttpRequest } from "../http/message.ts";
import { anyJson } from "../pb/json.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { CLUSTER, ENDPOINTS, EXTENSION_CONFIG, LISTENER, ROUTE, SECRET, VIRTUAL_HOST } from "../xds/protocol/types.ts";
import { type Html, type HtmlValue, markup } from "./html.ts";
import { objectUrl, proxyUrl } from "../debug/links.ts";
import { filterForm, listPart, pageLinks, table } from "./list.ts";
import { bytesText } from "../debug/words.ts";
import { breakable } from "./words.ts";

/** Types by their short names. */
const TYPES: Readonly<Record<string, string>> = {
  cds: CLUSTER,
  lds: LISTENER,
  rds: ROUTE,
  vhds: VIRTUAL_HOST,
  eds: ENDPOINTS,
  sds: SECRET,
  ecds: EXTENSION_CONFIG,
};

/** Shown characters of each decoded resource. */
const MAX_SHOWN = 200_000;

/** The part; queries `type`, `q`, `name`. */
export function resourcesPart(request: HttpRequest, connection: XdsConnection, _view: DebugView): Html {
  const asked = request.query.get("type") ?? "";
  const type = Object.hasOwn(TYPES, asked) ? asked : "cds";
  const all = ofType(connection, TYPES[type]!);
  const name = request.query.get("name");
  if (name !== null) return one(name, all.find((resource) => resource.name === name));
  const part = listPart(all.filter(holding(request.query.get("q") ?? "")), request);
  const nodeId = connection.node?.id ?? connection.id;
  const rows = part.items.map((resource): HtmlValue[] => [
    markup`<a href="${proxyUrl(nodeId, { view: "resources", type, name: resource.name })}">${
      breakable(resource.name)
    }</a>`,
    markup`<span class="state">${bytesText(resource.value.length)}</span>`,
    markup`<code class="whole">${resource.version}</code>`,
    causes(resource),
  ]);
  const form = filterForm(request, [{ name: "type", label: "cds", options: Object.keys(TYPES) }], ["proxyID", "view"]);
  return markup`${form}<p class="dim">The filter finds a text in names, in any case of letters, and letter by letter in
the content of resources.</p>${
    table(["Name", "Size", "Version", "Objects behind"], rows, "No resource matches the filters.", true)
  }${pageLinks(part, request)}`;
}

function ofType(connection: XdsConnection, typeUrl: string): EncodedResource[] {
  if (typeUrl !== VIRTUAL_HOST) return resourcesOf(connection, typeUrl);
  return resourcesOf(connection, ROUTE).flatMap(({ name }) => virtualHostsOf(connection, name));
}

/** Whether a resource holds a text. Encoded messages contain texts unchanged, so nothing must be decoded. */
function holding(text: string): (resource: EncodedResource) => boolean {
  const wanted = text.trim();
  const lower = wanted.toLowerCase();
  const bytes = Buffer.from(wanted);
  return ({ name, value, typeUrl }) =>
    wanted === "" || name.toLowerCase().includes(lower) ||
    // A secret is not found by guesses.
    (typeUrl !== SECRET && Buffer.from(value.buffer, value.byteOffset, value.length).includes(bytes));
}

/** The most objects named in a row. */
const MAX_CAUSES = 5;

function causes(resource: EncodedResource): Html[] {
  const more = resource.causes.length - MAX_CAUSES;
  const links = resource.causes.slice(0, MAX_CAUSES).map((key) =>
    markup`<a href="${objectUrl(key)}">${breakable(key)}</a><br>`
  );
  return more > 0 ? [...links, markup`<span class="dim">and ${more} more</span>`] : links;
}

function one(name: string, resource: EncodedResource | undefined): Html {
  if (resource === undefined) return markup`<p>The proxy has no resource <code>${name}</code> now.</p>`;
  const { text, isWhole } = beginOf(resource);
  return markup`<h2 class="mono">${name}</h2><p>${causes(resource)}</p>
${!isWhole && markup`<p>This is the beginning; the command below gets the whole resource.</p>`}<pre>${text}</pre>`;
}

/** As much of a resource as a page shows; the rest is not made. */
function beginOf(resource: EncodedResource): { readonly text: string; readonly isWhole: boolean } {
  const json = resource.typeUrl === ROUTE ? routesJson(resource) : anyJson(resource.typeUrl, resource.value);
  let text = "";
  for (const piece of jsonPieces(json, "  ", "\n")) {
    text += piece;
    if (text.length > MAX_SHOWN) return { text: text.slice(0, MAX_SHOWN), isWhole: false };
  }
  return { text, isWhole: true };
}
