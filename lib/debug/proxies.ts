/**
 * Pages about connected proxies: their lists, and each proxy's resources and acknowledgements.
 *
 * @module
 */
import { LazyList, LazyObject, longJsonResponse } from "../http/json_stream.ts";
import { type HttpResponse, textResponse } from "../http/message.ts";
import { fromStruct } from "../pb/wellknown.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { typeRules } from "../xds/protocol/types.ts";
import { refuseChange } from "./change.ts";
import { proxyUrl } from "./links.ts";
import type { DescribedList, ListColumn, StateWord } from "./list_page.ts";
import { queried } from "./query.ts";
import { chosenProxy, isAnswer, PROXY_ID } from "./select.ts";
import type { DebugView } from "./view.ts";
import { counted } from "./words.ts";
import * as z from "zod";

/** The parts of a node id: `type~address~name.namespace~domain`. */
interface NodeName {
  readonly type: string;
  readonly address: string;
  readonly name: string;
}

/** Reads a node id. Missing parts are empty. */
export function nodeName({ node }: XdsConnection): NodeName {
  return nodeNames(node?.id ?? "");
}

/** The parts of a node id. An id of another form is the name. */
export function nodeNames(id: string): NodeName {
  const [type = "", address = "", name = ""] = id.split("~");
  return { type, address, name: name === "" ? id : name };
}

/** How far a proxy is, in a word. */
export type ProxyCondition = "synced" | "behind" | "rejecting" | "failing";

/** The conditions of proxies, each with the words about one proxy and about several. */
export const PROXY_CONDITIONS: readonly {
  readonly condition: ProxyCondition;
  readonly tone: "good" | "warn" | "bad";
  readonly one: string;
  readonly several: string;
}[] = [
  { condition: "synced", tone: "good", one: "has everything", several: "have everything" },
  {
    condition: "behind",
    tone: "warn",
    one: "has not acknowledged everything yet",
    several: "have not acknowledged everything yet",
  },
  { condition: "rejecting", tone: "bad", one: "lacks what it has rejected", several: "lack what they have rejected" },
  { condition: "failing", tone: "bad", one: "lacks what could not be made", several: "lack what could not be made" },
];

/** The words about proxies in a condition. */
export function conditionWords({ one, several }: (typeof PROXY_CONDITIONS)[number], count: number): string {
  return count === 1 ? one : several;
}

/** The condition of a proxy. */
export function proxyCondition({ progress, stream }: XdsConnection, { xds: { ledger } }: DebugView): ProxyCondition {
  const isRejecting = Iterator.from(stream?.watches.values() ?? []).some(({ resources }) => resources.lastError !== "");
  if (isRejecting || progress?.refusals.refuses) return "rejecting";
  if (progress?.failing()) return "failing";
  return progress?.acked === ledger.latest ? "synced" : "behind";
}

/** How far a proxy is. */
export function proxyState(connection: XdsConnection, { xds: { ledger } }: DebugView): StateWord {
  const { progress, stream } = connection;
  const rejecting = [...stream?.watches.values() ?? []].filter((watch) => watch.resources.lastError !== "");
  if (rejecting.length > 0) {
    return { tone: "bad", word: `rejects ${rejecting.map(({ typeUrl }) => typeRules(typeUrl).short).join(", ")}` };
  }
  if (progress?.refusals.refuses) {
    const count = new Map(progress.refusals.lacked()).size;
    return { tone: "bad", word: `goes without ${counted(count, "object")} that it rejects` };
  }
  if (progress?.failing()) return { tone: "bad", word: "lacks what could not be made" };
  return progress?.acked === ledger.latest ? { tone: "good", word: "synced" } : { tone: "warn", word: "behind" };
}

/**
 * The columns that name a proxy.
 * @param link The page of a proxy.
 */
export function nameColumns(link: (connection: XdsConnection) => string): ListColumn<XdsConnection, unknown>[] {
  return [
    { title: "Name", cell: (one) => ({ text: nodeName(one).name, link: link(one) }) },
    { title: "Kind", cell: (one) => nodeName(one).type },
    { title: "Address", cell: (one) => nodeName(one).address },
  ];
}

/** The sentence for a server without proxies. */
export const NO_PROXY = "No proxy is connected.";

/** The proxies in the order of their names. */
export function byName(connections: readonly XdsConnection[]): XdsConnection[] {
  return connections.map((one) => ({ one, name: nodeName(one).name })).sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ one }) => one);
}

/** The choice of all proxies that are not synced, for whatever reason. */
const NOT_SYNCED = "not synced";

/** `/debug/connections`: the connected proxies, and the time of each connection. */
export const CONNECTIONS: DescribedList<XdsConnection, DebugView> = {
  title: "Proxies",
  noun: "proxy",
  none: NO_PROXY,
  rows: ({ xds }) => [...xds.streams()],
  people: byName,
  json: (clients) =>
    new LazyObject([["totalClients", clients.length], ["clients", LazyList.of(clients, connectionIdentity)]]),
  look: (view) => view,
  searched: ({ id, address }) => `${id} ${address}`,
  filters: [
    { name: "namespace", of: namespaceOf },
    {
      name: "state",
      of: proxyCondition,
      options: [...PROXY_CONDITIONS.map(({ condition }) => condition), NOT_SYNCED],
      matches: (one, asked, view) => {
        const condition = proxyCondition(one, view);
        return asked === NOT_SYNCED ? condition !== "synced" : condition === asked;
      },
    },
  ],
  columns: [
    ...nameColumns(({ node, id }) => proxyUrl(node?.id ?? id)),
    { title: "Namespace", cell: namespaceOf },
    { title: "State", cell: proxyState },
    { title: "Protocol", cell: ({ delta }) => delta ? "delta" : "state of the world" },
    { title: "Since (UTC)", cell: ({ connectedAt }) => ({ time: connectedAt }) },
  ],
};

/** `/debug/syncz`: the responses sent to each proxy, and its acknowledgements. */
export const SYNCZ: DescribedList<XdsConnection, DebugView> = {
  ...CONNECTIONS,
  filters: CONNECTIONS.filters!.map((filter) =>
    filter.name === "namespace" ? { ...filter, forPrograms: "the name of a namespace" } : filter
  ),
  json: (clients, view) => LazyList.of(clients, (one) => syncEntry(one, view)),
};

function namespaceOf({ stream }: XdsConnection): string {
  return stream?.view.home?.namespace ?? "";
}

const time = (ms: number) => ms === 0 ? undefined : new Date(ms).toISOString();

const ADSZ_QUERY = z.object({ push: z.string().optional(), proxyID: PROXY_ID.optional() });

/** `/debug/adsz`: the connected proxies with node facts and watches. POST with `push=any` pushes everything to every proxy. */
export const adsz = queried(ADSZ_QUERY, (request, view, { push, proxyID = "" }): HttpResponse => {
  if (push !== undefined && request.method === "GET") return refuseChange(request);
  if (push !== undefined) return textResponse(200, `Pushed to ${view.pushAll()} servers\n`);
  if (request.method !== "GET") return textResponse(400, "query push is missing, expected push=any\n");
  const clients = [...view.xds.streams()].filter(({ id }) => id.includes(proxyID));
  const shown = LazyList.of(clients, (connection) => {
    const metadata = fromStruct(connection.node?.metadata);
    return {
      ...connectionIdentity(connection),
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

/** `/debug/force_disconnect`: ends the stream of a proxy. The proxy then connects again. */
export const forceDisconnect = queried(z.object({ proxyID: PROXY_ID }), (_request, view, { proxyID }): HttpResponse => {
  const connection = chosenProxy(proxyID, view);
  if (isAnswer(connection)) return connection;
  connection.disconnect("disconnected by an operator");
  return textResponse(200, "OK\n");
});

/** The entry of a proxy in `/debug/syncz`: the responses sent to the proxy, and its acknowledgements. */
function syncEntry(connection: XdsConnection, view: DebugView) {
  const metadata = fromStruct(connection.node?.metadata);
  const version = metadata.MESH_VERSION ?? metadata.ISTIO_VERSION ?? "";
  return {
    cluster_id: connection.stream?.view.home?.clusterId ?? "",
    proxy: connection.node?.id?.split("~")[2] ?? "",
    connection: connection.id,
    proxy_type: connection.node?.id?.split("~")[0] ?? "",
    mesh_version: version,
    // Tools for Istio read this field.
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
  };
}

/** A client with every push acknowledged is still not in sync while a rejected resource is missing. */
function isSynced({ progress }: XdsConnection, { xds: { ledger } }: DebugView): boolean {
  return progress?.acked === ledger.latest && !progress.failing() && !progress.refusals.refuses;
}

/** Keys of the objects behind resources that the proxy has rejected and lacks. */
function rejectedObjects({ progress }: XdsConnection): { readonly rejected_objects?: readonly string[] } {
  if (!progress?.refusals.refuses) return {};
  return { rejected_objects: [...new Map(progress.refusals.lacked()).keys()].slice(0, MAX_OBJECTS).sort() };
}

/** The most objects named in a row. */
const MAX_OBJECTS = 100;

/** The entry of a proxy in `/debug/connections`. */
function connectionIdentity(connection: XdsConnection) {
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
