/**
 * Pushes for people: a table, rejections of proxies, and resources that could not be made.
 *
 * @module
 */
import { describeOrigin, type Origin } from "../finding/origin.ts";
import type { FailureRecord, PushRecord, Rejection } from "../xds/push_record.ts";
import { typeRules } from "../xds/protocol/types.ts";
import { type Html, markup } from "./html.ts";
import { objectUrl, proxyUrl } from "./links.ts";
import { table } from "./list.ts";
import { pushBytes, pushTone, timeline } from "./timeline.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { bytesText, millisecondsText, stateHtml, timeHtml } from "./words.ts";

/** Objects that a row names. */
const NAMED_OBJECTS = 10;

export const pushesPage: WebPageMaker = (_request, { xds: { ledger } }): WebPage => {
  const pushes = ledger.pushes();
  return {
    title: "Pushes",
    live: "push",
    body: markup`
      ${timeline(pushes)}${pushTable(pushes)}
      <h2 id="rejections">Rejected by proxies</h2>${rejectionTable(ledger.rejections())}
      <h2 id="failures">Could not be made</h2>${failureTable(ledger.failures())}
    `,
  };
};

/** A row for each push. @param empty What is said where there is none. */
export function pushTable(pushes: readonly PushRecord[], empty = "There was no push yet."): Html {
  const columns = ["Push", "At (UTC)", "Why", "Objects", "Proxies", "Resources", "Bytes", "Time", "Slowest", "State"];
  return table(columns, pushes.map(pushRow), empty);
}

function pushRow(push: PushRecord): Html {
  const sums = Object.entries(push.types).map(([type, { resources, removed }]) =>
    `${type} ${resources}${removed > 0 ? ` -${removed}` : ""}`
  );
  const reasons = Object.entries(push.reasons).map(([reason, count]) => count > 1 ? `${reason} ×${count}` : reason);
  const state = { good: "done", warn: `${push.pending} wait`, bad: "failures" }[pushTone(push)];
  return markup`
    <tr id="push-${push.id}">
      <td>${push.id}</td>
      <td>${timeHtml(push.startedAt)}</td>
      <td>${reasons.join(", ")}</td>
      <td>${pushedObjects(push)}</td>
      <td class="number">${push.touched} of ${push.streams}</td>
      <td>${sums.join(", ")}</td>
      <td class="number">${bytesText(pushBytes(push))}</td>
      <td class="number">${millisecondsText(push.lastAckMs)}</td>
      <td>${push.slowest !== "" && proxyLink(push.slowest)}</td>
      <td>${stateHtml({ tone: pushTone(push), word: state })}</td>
    </tr>
  `;
}

function pushedObjects({ objects }: PushRecord): Html[] {
  const more = objects.length - NAMED_OBJECTS;
  // The server itself recorded the origin; the ledger depends on nothing in it.
  const links = objects.slice(0, NAMED_OBJECTS).map(({ key, origin }) =>
    markup`
      <a href="${objectUrl(key)}" title="${describeOrigin(origin as Origin)}">${key}</a><br>
    `
  );
  return more > 0
    ? [
      ...links,
      markup`
        <span class="dim">and ${more} more</span>
      `,
    ]
    : links;
}

/** A link to the proxy of a connection. */
export function proxyLink(connection: string): Html {
  return markup`
    <a href="${proxyUrl(connection)}">${connectionName(connection)}</a>
  `;
}

/** The short name in a connection's id (`sidecar~10.0.0.1~cart.shop~...-7`); of another id all of it. */
function connectionName(connection: string): string {
  return connection.split("~")[2] ?? connection;
}

/** A table of rejections, with Envoy's words and the objects behind them. */
export function rejectionTable(rejections: readonly Rejection[]): Html {
  const rows = rejections.map(({ at, proxy, typeUrl, message, resources, causes }) => [
    timeHtml(at),
    proxyLink(proxy),
    typeRules(typeUrl).short,
    markup`
      <span class="mono">${message}</span>
    `,
    resources.join(", "),
    causes.map((key) =>
      markup`
        <a href="${objectUrl(key)}">${key}</a><br>
      `
    ),
  ]);
  return table(["At (UTC)", "Proxy", "Type", "Its words", "Resources", "Objects behind"], rows, "nothing");
}

/** A table of resources that this server could not build or send. */
export function failureTable(failures: readonly FailureRecord[]): Html {
  const rows = failures.map(({ at, push, what, reason, proxy }) => [
    timeHtml(at),
    markup`
      <a href="#push-${push}">${push}</a>
    `,
    what,
    markup`
      <span class="mono">${reason}</span>
    `,
    proxy !== undefined && proxyLink(proxy),
  ]);
  return table(["At (UTC)", "Push", "What", "Reason", "Proxy"], rows, "nothing");
}
