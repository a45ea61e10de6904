/**
 * Pages for people, and the requests answered by a page.
 *
 * @module
 */
import type { DebugView } from "../debug/view.ts";
import type { HttpRequest, RequestHead } from "../http/message.ts";
import type { Html } from "./html.ts";

/** A page for people. */
export interface WebPage {
  /** Default 200. */
  readonly status?: number;
  readonly title: string;
  readonly body: Html;
  /** The name that a button beside the title copies; default: no button. */
  readonly copied?: string;
  /** The live updates of the page while it is open; default: none. */
  readonly live?: "overview" | "push";
}

/** Makes a page. */
export type WebPageMaker = (request: HttpRequest, view: DebugView) => WebPage | Promise<WebPage>;

/** Whether the client is a browser that wants a page. With `format=json` a person asks for JSON. */
export function wantsPage({ headers, query }: Pick<RequestHead, "headers" | "query">): boolean {
  return query.get("format") !== "json" && (headers["accept"] ?? "").split(",").some(isHtml);
}

function isHtml(range: string): boolean {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  return type === "text/html" && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
}
