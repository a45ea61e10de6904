/**
 * `/debug/telemetryz`: the Telemetries, or the merged settings for a proxy.
 *
 * @module
 */
import * as z from "zod";
import { type HttpResponse, jsonResponse } from "../http/message.ts";
import { LazyObject, longJsonResponse } from "../http/json_stream.ts";
import { objectsByNamespace } from "./by_namespace.ts";
import { queried } from "./query.ts";
import { chosenProxy, isAnswer, PROXY_ID, proxyStateOf } from "./select.ts";

/**
 * The page.
 *
 * With `proxyID`: the merged access logs, metrics and tracing of the proxy for each side, and the objects behind these
 * settings. The sides are client (requests sent by the proxy) and server (requests received by the proxy). An absent
 * part follows the fields of the mesh configuration. Without `proxyID`: all objects, in the form of Istio's page.
 */
export const telemetryz = queried(
  z.object({ proxyID: PROXY_ID.optional() }),
  (request, view, { proxyID }): HttpResponse => {
    if (proxyID === undefined) {
      const all = objectsByNamespace("namespace_to_telemetries", view.store.list("Telemetry"), view.mesh.rootNamespace);
      return longJsonResponse(new LazyObject([["telemetries", all]]), request);
    }
    const connection = chosenProxy(proxyID, view);
    if (isAnswer(connection)) return connection;
    const { translator } = view;
    const state = proxyStateOf(connection, view);
    if (state === undefined) return jsonResponse({ proxy: connection.id }, request);
    const { namespace, properties: { labels } } = state.proxy;
    return jsonResponse({ proxy: connection.id, ...translator.mesh.telemetries.of({ namespace, labels }) }, request);
  },
);
