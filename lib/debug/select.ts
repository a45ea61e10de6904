/**
 * Finding the proxy that a page is about.
 *
 * @module
 */
import type { XdsConnection } from "../xds/connection.ts";
import { type HttpResponse, textResponse } from "../http/message.ts";
import { textQuery } from "./query.ts";
import type { DebugView } from "./view.ts";

/** The query that chooses a proxy. */
export const PROXY_ID = textQuery("a part of a proxy's connection id (see /debug/syncz)");

/** The connections that may be shown. */
export function shownStreams({ xds, isShown }: DebugView): Iterable<XdsConnection> {
  const streams = Iterator.from(xds.streams());
  return isShown === undefined ? streams : streams.filter(isShown);
}

/** The connection whose id has this part, or the answer that says why there is none. */
export function chosenProxy(proxyID: string, view: DebugView): XdsConnection | HttpResponse {
  for (const connection of shownStreams(view)) if (connection.id.includes(proxyID)) return connection;
  const text = JSON.stringify(proxyID);
  return textResponse(
    404,
    `no proxy whose connection id contains ${text} is connected here; /debug/connections lists those that are\n`,
  );
}

/** Whether it is the answer instead of a connection. */
export function isAnswer(found: XdsConnection | HttpResponse): found is HttpResponse {
  return "status" in found;
}
