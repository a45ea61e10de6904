/**
 * Finding the proxy that a page is about.
 *
 * @module
 */
import type { XdsConnection } from "../xds/connection.ts";
import { type HttpRequest, type HttpResponse, textResponse } from "../http/message.ts";
import type { DebugView } from "./view.ts";

/** The connection that `proxyID` names by a part of its id, or the answer that says why there is none. */
export function chosenProxy(request: HttpRequest, view: DebugView): XdsConnection | HttpResponse {
  const wanted = request.query.get("proxyID");
  if (!wanted) {
    return textResponse(
      400,
      "query proxyID is missing, expected a part of a proxy's connection id (see /debug/syncz)\n",
    );
  }
  for (const connection of view.xds.streams()) if (connection.id.includes(wanted)) return connection;
  return textResponse(
    404,
    `no proxy whose connection id contains ${
      JSON.stringify(wanted)
    } is connected here; /debug/connections lists those that are\n`,
  );
}

/** Whether it is the answer instead of a connection. */
export function isAnswer(found: XdsConnection | HttpResponse): found is HttpResponse {
  return "status" in found;
}
