/**
 * Connected proxies for people: a list.
 *
 * @module
 */
import type { DebugView } from "../debug/view.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { typeRules } from "../xds/protocol/types.ts";
import { type HtmlValue, markup } from "./html.ts";
import { proxyUrl } from "./links.ts";
import { filterForm, listPart, pageLinks, searched, table } from "./list.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { counted, stateHtml, type StateWord, timeHtml } from "./words.ts";

/** The parts of a node id: `type~address~name.namespace~domain`. */
export interface NodeName {
  readonly type: string;
  readonly address: string;
  readonly name: string;
}

/** Reads a node id; parts that it lacks are empty. */
export function nodeName({ node }: XdsConnection): NodeName {
  const [type = "", address = "", name = ""] = (node?.id ?? "").split("~");
  return { type, address, name: name === "" ? node?.id ?? "" : name };
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

/** The page; queries `q`, `namespace`, `state`. */
export const proxiesPage: WebPageMaker = (request, view): WebPage => {
  const namespace = request.query.get("namespace") ?? "";
  const state = request.query.get("state") ?? "";
  const holds = searched(request);
  const all = [...view.xds.streams()].map((connection) => ({
    connection,
    ...nodeName(connection),
    state: proxyState(connection, view),
    namespace: connection.stream?.view.home?.namespace ?? "",
  })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const found = all.filter((one) =>
    (namespace === "" || one.namespace === namespace) && holds(`${one.connection.id} ${one.connection.address}`) &&
    (state === "" || (state === "synced") === (one.state.tone === "good"))
  );
  const part = listPart(found, request);
  const rows = part.items.map(({ connection, type, address, name, namespace, state }): HtmlValue[] => [
    markup`
      <a href="${proxyUrl(connection.node?.id ?? connection.id)}">${name}</a>
    `,
    type,
    namespace,
    address,
    stateHtml(state),
    connection.delta ? "delta" : "state of the world",
    timeHtml(connection.connectedAt),
  ]);
  const choices = [
    { name: "namespace", label: "any namespace", options: [...new Set(all.map((one) => one.namespace))].sort() },
    { name: "state", label: "any state", options: ["synced", "not synced"] },
  ];
  const columns = ["Name", "Kind", "Namespace", "Address", "State", "Protocol", "Since (UTC)"];
  return {
    title: "Proxies",
    live: "push",
    body: markup`
      ${filterForm(request, choices)}${
      table(
        columns,
        rows,
        all.length === 0 ? "No proxy is connected." : "None is so.",
      )
    }${pageLinks(part, request)}
    `,
  };
};
