/**
 * Finds the proxy of a page about a single proxy.
 *
 * @module
 */
import type { ProxyState } from "../translate/machine/per_proxy/proxy_state.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { type HttpResponse, textResponse } from "../http/message.ts";
import { textQuery } from "./query.ts";
import type { DebugView } from "./view.ts";

/** The query that chooses a proxy. */
export const PROXY_ID = textQuery("a part of a proxy's connection id (see /debug/syncz)");

/** The connections visible to the client. */
export function shownStreams({ xds, isShown }: DebugView): Iterable<XdsConnection> {
  const streams = Iterator.from(xds.streams());
  return isShown === undefined ? streams : streams.filter(isShown);
}

/** The words that tell tools for Istio to ask the next server. */
const ASK_ANOTHER = "Proxy not connected to this Pilot instance. It may be connected to another instance.";

/** The connection with this part in its id, or an answer that says why there is none. */
export function chosenProxy(proxyID: string, view: DebugView): XdsConnection | HttpResponse {
  for (const connection of shownStreams(view)) if (connection.id.includes(proxyID)) return connection;
  const text = JSON.stringify(proxyID);
  return textResponse(
    404,
    `no proxy whose connection id contains ${text} is connected here; /debug/connections lists those that are\n${ASK_ANOTHER}\n`,
  );
}

/**
 * The state of a connected proxy; undefined: the client has no state, such as a control plane that asks for
 * configuration.
 */
export function proxyStateOf({ node }: XdsConnection, { translator }: DebugView): ProxyState | undefined {
  return Iterator.from(translator.proxies()).find(({ proxy }) => proxy.nodeId === node?.id);
}

/** Whether the result is an answer in place of a connection. */
export function isAnswer(found: XdsConnection | HttpResponse): found is HttpResponse {
  return "status" in found;
}
