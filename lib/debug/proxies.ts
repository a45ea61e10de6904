/**
 * Pages about connected proxies: their list, and the resources that each has and acknowledged.
 *
 * @module
 */
import * as z from "zod";
import { fromStruct } from "../pb/wellknown.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { typeRules } from "../xds/protocol/types.ts";
import { LazyList, LazyObject, longJsonResponse } from "../http/json_stream.ts";
import { type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import { refuseChange } from "./change.ts";
import { queried, textQuery } from "./query.ts";
import { chosenProxy, isAnswer, PROXY_ID } from "./select.ts";
import type { DebugView } from "./view.ts";

const time = (ms: number) => ms === 0 ? undefined : new Date(ms).toISOString();

/** `/debug/connections`: which proxies are connected, since when. */
export function connections(request: HttpRequest, view: DebugView): HttpResponse {
  const clients = [...view.xds.streams()].map(identity);
  return jsonResponse({ totalClients: clients.length, clients }, request);
}

const ADSZ_QUERY = z.object({ push: z.string().optional(), proxyID: PROXY_ID.optional() });
const SYNCZ_QUERY = z.object({ namespace: textQuery("the name of a namespace").optional() });

/** `/debug/adsz`: the same with node facts and watches. POST with `push=any` pushes everything to every proxy. */
export const adsz = queried(ADSZ_QUERY, (request, view, { push, proxyID = "" }): HttpResponse => {
  if (push !== undefined && request.method === "GET") return refuseChange(request);
  if (push !== undefined) return textResponse(200, `Pushed to ${view.pushAll()} servers\n`);
  if (request.method !== "GET") return textResponse(400, "query push is missing, expected push=any\n");
  const clients = [...view.xds.streams()].filter(({ id }) => id.includes(proxyID));
  const shown = LazyList.of(clients, (connection) => {
    const metadata = fromStruct(connection.node?.metadata);
    return {
      ...identity(connection),
      identity: connection.stream?.view.identity,
      labels: metadata.LABELS ?? {},
      metadata,
      locality: connection.node?.locality ?? {},
      watches: Object.fromEntries(
        [...connection.stream?.watches.values() ?? []].map((w) => [w.typeUrl, w.wildcard ? ["*"] : [...w.names]]),
      ),
    };
  });
  return longJsonResponse(new LazyObject([["totalClients", clients.length], ["clients", shown]]), request);
});

/** `/debug/force_disconnect`: ends the stream of one proxy, which will come again. */
export const forceDisconnect = queried(z.object({ proxyID: PROXY_ID }), (_request, view, { proxyID }): HttpResponse => {
  const connection = chosenProxy(proxyID, view);
  if (isAnswer(connection)) return connection;
  connection.disconnect("disconnected by an operator");
  return textResponse(200, "OK\n");
});

/** `/debug/syncz`: the responses that each proxy was sent and acknowledged. */
export const syncz = queried(SYNCZ_QUERY, (request, view, { namespace }): HttpResponse => {
  const rows = [];
  for (const connection of view.xds.streams()) {
    const metadata = fromStruct(connection.node?.metadata);
    const home = connection.stream?.view.home;
    if (namespace !== undefined && home?.namespace !== namespace) continue;
    const version = metadata.MESH_VERSION ?? metadata.ISTIO_VERSION ?? "";
    rows.push({
      cluster_id: home?.clusterId ?? "",
      proxy: connection.node?.id?.split("~")[2] ?? "",
      connection: connection.id,
      proxy_type: connection.node?.id?.split("~")[0] ?? "",
      mesh_version: version,
      // Tools made for Istio look for this.
      istio_version: version,
      protocol: connection.delta ? "delta" : "state of the world",
      synced: isSynced(connection, view),
      ...rejectedObjects(connection),
      ...nonces(connection),
      resources: Object.fromEntries([...connection.stream?.watches.values() ?? []].map(({ typeUrl, resources }) => [
        typeUrl,
        {
          sent: resources.nonceSent,
          acked: resources.nonceAcked,
          sentTime: time(resources.sentAt),
          ackedTime: time(resources.ackedAt),
          lastError: resources.lastError || undefined,
        },
      ])),
    });
  }
  return jsonResponse(rows, request);
});

/** A client that has acknowledged everything is not in sync while it lacks something that it has rejected. */
function isSynced({ progress }: XdsConnection, { xds: { ledger } }: DebugView): boolean {
  return progress?.acked === ledger.latest && !progress.failing() && !progress.refusals.refuses;
}

/** Keys of the objects of which it lacks something, because it has rejected what is made of them. */
function rejectedObjects({ progress }: XdsConnection): { readonly rejected_objects?: readonly string[] } {
  if (!progress?.refusals.refuses) return {};
  return { rejected_objects: [...new Map(progress.refusals.lacked()).keys()].slice(0, MAX_OBJECTS).sort() };
}

/** Objects that a row names. */
const MAX_OBJECTS = 100;

function identity(connection: XdsConnection) {
  return { connectionId: connection.id, connectedAt: time(connection.connectedAt), address: connection.address };
}

const PREFIXES: Readonly<Record<string, string>> = {
  cds: "cluster",
  lds: "listener",
  rds: "route",
  eds: "endpoint",
  vhds: "virtualhost",
  ecds: "extensionconfig",
};

function nonces(connection: XdsConnection): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { typeUrl, resources } of connection.stream?.watches.values() ?? []) {
    const prefix = PREFIXES[typeRules(typeUrl).short];
    if (prefix === undefined) continue;
    found[`${prefix}_sent`] = resources.nonceSent;
    found[`${prefix}_acked`] = resources.nonceAcked;
  }
  return found;
}
