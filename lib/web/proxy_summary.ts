/**
 * The state of a proxy: its identity, and for each type the wanted, sent and acknowledged resources.
 *
 * @module
 */
import type { DebugView } from "../debug/view.ts";
import type { HttpRequest } from "../http/message.ts";
import { fromStruct } from "../pb/wellknown.ts";
import { stackDigest, stackSize } from "../xds/ads/set_stack.ts";
import type { Watch } from "../xds/ads/watch.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { typeRules } from "../xds/protocol/types.ts";
import { type Html, type HtmlValue, markup } from "./html.ts";
import { objectUrl, proxyUrl } from "../debug/links.ts";
import { factTable, table } from "./list.ts";
import { nodeName } from "../debug/proxies.ts";
import { REJECTIONS } from "../debug/pushes.ts";
import { tableOf } from "./list_page.ts";
import type { StateWord } from "../debug/list_page.ts";
import { stateHtml, timeHtml } from "./words.ts";

export function summaryPart(_request: HttpRequest, connection: XdsConnection, view: DebugView): Html {
  const nodeId = connection.node?.id;
  const rejections = view.xds.ledger.rejections().filter(({ proxy }) =>
    nodeId !== undefined && proxy.startsWith(nodeId)
  );
  return markup`${types(connection)}<h2>Rejected</h2>${blamed(connection)}${tableOf(REJECTIONS, rejections, undefined)}
<h2>Identity</h2>${identity(connection)}`;
}

function types(connection: XdsConnection): Html {
  const nodeId = connection.node?.id ?? connection.id;
  const watches = [...connection.stream?.watches.values() ?? []].sort((a, b) => a.rules.rank - b.rules.rank);
  const rows = watches.map((watch): HtmlValue[] => {
    const { want, sent, sentAt, nonceAcked, ackedAt } = watch.resources;
    return [
      markup`<a href="${proxyUrl(nodeId, { view: "resources", type: watch.rules.short })}">${watch.rules.short}</a>`,
      watch.wildcard ? "all" : `${watch.names.size} names`,
      stack(want),
      markup`${stack(sent)}<br>${timeHtml(sentAt)}`,
      nonceAcked === "" ? markup`<span class="dim">nothing yet</span>` : timeHtml(ackedAt),
      stateHtml(watchState(watch)),
    ];
  });
  const columns = ["Type", "Asks for", "Should have", "Was sent", "Acknowledged", "State"];
  return table(columns, rows, "The proxy has asked for nothing yet.");
}

function stack(one: Watch["resources"]["want"]): Html {
  return markup`${stackSize(one)} <code class="dim">${stackDigest(one)}</code>`;
}

/** The state of a type. */
function watchState({ clean, resources: { lastError, inFlight, nonceSent } }: Watch): StateWord {
  if (lastError !== "") return { tone: "bad", word: "rejects" };
  if (inFlight !== undefined) return { tone: "warn", word: "has not answered yet" };
  if (nonceSent === "") return { tone: "dim", word: "not served" };
  return clean ? { tone: "good", word: "in sync" } : { tone: "warn", word: "something waits to be sent" };
}

/** The present rejections of a proxy, in Envoy's words. */
function blamed({ stream }: XdsConnection): Html[] {
  return [...stream?.watches.values() ?? []].filter(({ resources }) => resources.lastError !== "").map(
    ({ typeUrl, resources }) => {
      const causes = new Set(resources.blamed.flatMap((resource) => resource.causes));
      const objects = [...causes].map((key) => markup`<a href="${objectUrl(key)}">${key}</a> `);
      const names = resources.blamed.map(({ name }) => name).join(", ");
      return markup`<div class="verdict bad">${
        typeRules(typeUrl).short
      } ${names}: <span class="mono">${resources.lastError}</span>${
        objects.length > 0 && markup`<br>Objects behind it: ${objects}`
      }</div>`;
    },
  );
}

function identity(connection: XdsConnection): Html {
  const { node, address, connectedAt, delta, id, stream } = connection;
  const metadata = fromStruct(node?.metadata);
  const { region = "", zone = "", sub_zone = "" } = node?.locality ?? {};
  const rows: [string, HtmlValue][] = [
    ["Kind", nodeName(connection).type],
    ["Namespace", stream?.view.home?.namespace ?? ""],
    ["Cluster", stream?.view.home?.clusterId ?? ""],
    ["Version", String(metadata["MESH_VERSION"] ?? metadata["ISTIO_VERSION"] ?? "not reported")],
    [
      "Envoy",
      node?.user_agent_name === undefined ? "not reported" : `${node.user_agent_name} ${envoyVersion(connection)}`,
    ],
    ["Locality", [region, zone, sub_zone].filter((part) => part !== "").join("/") || "not reported"],
    ["Peer", address],
    ["Connected", timeHtml(connectedAt)],
    ["Protocol", delta ? "delta" : "state of the world"],
    ["Connection", markup`<code>${id}</code>`],
    ...onDemandRows(connection),
  ];
  return markup`${factTable(rows)}
<details><summary>Metadata</summary><pre>${JSON.stringify(metadata, null, 2).slice(0, MAX_METADATA)}</pre></details>`;
}

/** What the workload of a proxy with resources on demand has called. */
function onDemandRows({ stream }: XdsConnection): [string, HtmlValue][] {
  const onDemand = stream?.view.onDemand;
  const whyNot = stream?.view.whyNotOnDemand;
  if (onDemand === undefined) return whyNot === undefined ? [] : [["Gets everything", whyNot]];
  const asked = [...onDemand.hosts].map(([route, hosts]) => {
    const names = [...hosts].sort();
    const more = names.length > MAX_HOSTS ? `, and ${names.length - MAX_HOSTS} more` : "";
    return markup`<code>${route}</code> ${names.slice(0, MAX_HOSTS).join(", ")}${more}<br>`;
  });
  const handed = [...onDemand.handed].sort();
  const further = handed.length > MAX_HOSTS ? `, and ${handed.length - MAX_HOSTS} more` : "";
  const whole = [...onDemand.whole].map(([route, why]) => markup`<code>${route}</code> ${why}<br>`);
  return [
    ["Called hosts, by route configuration", asked.length > 0 ? asked : "none yet"],
    ...handed.length > 0
      ? [["Called by the workload before", handed.slice(0, MAX_HOSTS).join(", ") + further] as [string, HtmlValue]]
      : [],
    ...whole.length > 0 ? [["Route configurations sent whole", whole] as [string, HtmlValue]] : [],
  ];
}

/** Shown hosts of a route configuration. */
const MAX_HOSTS = 50;

/** Shown characters of metadata. */
const MAX_METADATA = 50_000;

function envoyVersion({ node }: XdsConnection): string {
  const { major_number = 0, minor_number = 0, patch = 0 } = node?.user_agent_build_version?.version ?? {};
  return node?.user_agent_version ?? `${major_number}.${minor_number}.${patch}`;
}
