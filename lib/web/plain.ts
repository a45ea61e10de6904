/**
 * Pages without a form of their own: the indented JSON.
 *
 * @module
 */
import type { HttpResponse } from "../http/message.ts";
import type { Route } from "../http/route.ts";
import { markup } from "./html.ts";
import type { WebPageMaker } from "./view.ts";

/** Shown characters of a text. */
const MAX_SHOWN = 200_000;

/** Makes the page of a route. */
export function plainPage(route: Route): WebPageMaker {
  return async (request) => {
    const query = new URLSearchParams(request.query);
    query.set("pretty", "");
    const response = await route.handle({ ...request, query });
    const text = await beginningOf(response);
    const more = text.length > MAX_SHOWN && markup`
      <p>The first ${MAX_SHOWN} characters; the command below gets the whole text.</p>
    `;
    return {
      status: response.status,
      title: titleOf(route.path),
      body: markup`
        ${more}<pre>${text.slice(0, MAX_SHOWN)}</pre>
      `,
    };
  };
}

/** The text of a response. Of a long text a bit more than the shown part is read. */
async function beginningOf({ body, parts }: HttpResponse): Promise<string> {
  const text = (part: string | Uint8Array) => typeof part === "string" ? part : new TextDecoder().decode(part);
  let found = text(body);
  if (found.length > MAX_SHOWN) return found;
  for await (const part of parts ?? []) {
    found += text(part);
    if (found.length > MAX_SHOWN) break;
  }
  return found;
}

/** Titles of the pages, by the path behind `/debug/`. The title of any other page is its path in words. */
const TITLES: Readonly<Record<string, string>> = {
  clusterz: "Clusters",
  deploymentz: "Managed gateways",
  ecdsz: "Extension configurations of a proxy",
  edsz: "Endpoints of a proxy",
  explain: "The way of a request",
  factz: "Facts from manifests",
  instancesz: "Services at the addresses of proxies",
  krtz: "Collections in memory",
  leaderz: "Leaders of duties",
  mcsz: "Services that clusters share",
  mesh: "Mesh configuration",
  ndsz: "Names that a proxy's agent resolves",
  networkz: "Networks",
  passed_over: "Content of folders that is passed over",
  pushcontext: "Inputs of a push",
  push_status: "Problems of the last push",
  resourcesz: "Kinds of objects that are read",
  scopez: "Log levels",
  sidecarz: "What a proxy sees",
  telemetryz: "Telemetry",
};

/** The title of a page. */
export function titleOf(path: string): string {
  const name = path.slice("/debug/".length);
  return TITLES[name] ?? name.replaceAll("_", " ");
}
