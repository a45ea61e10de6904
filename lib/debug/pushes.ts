/**
 * Pages about pushes: their list, the reached proxies, rejections and failures.
 *
 * @module
 */
import { type Finding, findingKeys } from "../finding/finding.ts";
import { describeOrigin, type Origin } from "../finding/origin.ts";
import { type HttpRequest, type HttpResponse, jsonResponse } from "../http/message.ts";
import { conflictText } from "../translate/listener/conflict.ts";
import { typeRules } from "../xds/protocol/types.ts";
import type { FailureRecord, PushRecord, Rejection } from "../xds/push_record.ts";
import { objectUrl, proxyUrl } from "./links.ts";
import type { CellPart, DescribedList, ListTable } from "./list_page.ts";
import type { DebugView } from "./view.ts";
import { bytesText, millisecondsText } from "./words.ts";

/** The most objects named in a row. */
const NAMED_OBJECTS = 10;

/** The bytes of a push. */
export function pushBytes({ types }: PushRecord): number {
  return Object.values(types).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** How a push went, in a word. */
export function pushTone({ failures, pending }: PushRecord): "good" | "warn" | "bad" {
  return failures.length > 0 ? "bad" : pending > 0 ? "warn" : "good";
}

/** `/debug/pushes`: the ledger, newest first. */
export const PUSHES: DescribedList<PushRecord, void> = {
  title: "Pushes",
  noun: "push",
  none: "There was no push yet.",
  rows: ({ xds }) => xds.ledger.pushes(),
  json: (pushes) => pushes,
  look: () => undefined,
  rowId: ({ id }) => `push-${id}`,
  columns: [
    { title: "Push", cell: ({ id }) => id },
    { title: "At (UTC)", cell: ({ startedAt }) => ({ time: startedAt }) },
    { title: "Why", cell: whyPushed },
    { title: "Objects", cell: pushedObjects },
    { title: "Proxies", isNumber: true, cell: ({ touched, streams }) => `${touched} of ${streams}` },
    { title: "Resources", cell: pushedResources },
    { title: "Bytes", isNumber: true, cell: (push) => bytesText(pushBytes(push)) },
    { title: "Time", isNumber: true, cell: ({ lastAckMs }) => millisecondsText(lastAckMs) },
    { title: "Slowest", cell: ({ slowest }) => slowest === "" ? "" : proxyLink(slowest) },
    { title: "State", cell: (push) => ({ tone: pushTone(push), word: pushState(push) }) },
  ],
};

function whyPushed({ reasons }: PushRecord): string {
  return Object.entries(reasons).map(([reason, count]) => count > 1 ? `${reason} ×${count}` : reason).join(", ");
}

function pushedObjects({ objects }: PushRecord): CellPart[] {
  const more = objects.length - NAMED_OBJECTS;
  // The server itself recorded the origin. To the ledger, the origin is opaque.
  const links = objects.slice(0, NAMED_OBJECTS).map(({ key, origin }): CellPart => ({
    text: key,
    link: objectUrl(key),
    title: describeOrigin(origin as Origin),
  }));
  return more > 0 ? [...links, { dim: `and ${more} more` }] : links;
}

function pushedResources({ types }: PushRecord): string {
  return Object.entries(types).map(([type, { resources, removed }]) =>
    `${type} ${resources}${removed > 0 ? ` -${removed}` : ""}`
  ).join(", ");
}

function pushState(push: PushRecord): string {
  return { good: "done", warn: `${push.pending} wait`, bad: "failures" }[pushTone(push)];
}

/** A link to the proxy of a connection. The id contains the short name (`sidecar~10.0.0.1~cart.shop~...-7`). */
function proxyLink(connection: string): CellPart {
  return { text: connection.split("~")[2] ?? connection, link: proxyUrl(connection) };
}

/** Rejections of proxies, with Envoy's words and the objects behind the resources. */
export const REJECTIONS: ListTable<Rejection, void> = {
  noun: "rejection",
  none: "No proxy has rejected a resource.",
  columns: [
    { title: "At (UTC)", cell: ({ at }) => ({ time: at }) },
    { title: "Proxy", cell: ({ proxy }) => proxyLink(proxy) },
    { title: "Type", cell: ({ typeUrl }) => typeRules(typeUrl).short },
    { title: "Envoy's words", cell: ({ message }) => ({ mono: message }) },
    { title: "Resources", cell: ({ resources }) => resources.join(", ") },
    { title: "Objects behind", cell: ({ causes }) => causes.map((key) => ({ text: key, link: objectUrl(key) })) },
  ],
};

/** Resources that could not be built or sent. */
export const FAILURES: ListTable<FailureRecord, void> = {
  noun: "failure",
  none: "Every resource could be made.",
  columns: [
    { title: "At (UTC)", cell: ({ at }) => ({ time: at }) },
    { title: "Push", cell: ({ push }) => ({ text: String(push), link: `#push-${push}` }) },
    { title: "What", cell: ({ what }) => what },
    { title: "Reason", cell: ({ reason }) => ({ mono: reason }) },
    { title: "Proxy", cell: ({ proxy }) => proxy === undefined ? "" : proxyLink(proxy) },
  ],
};

/** `/debug/push_status`: problems of the last push by kind, as far as configuration decides them. */
export function pushStatus(request: HttpRequest, view: DebugView): HttpResponse {
  const { ledger } = view.xds;
  const conflicts: Record<string, Record<string, { message: string }>> = {};
  for (const conflict of view.translator.conflicts()) {
    const { listener, reason, rejected } = conflict;
    (conflicts[`pilot_conflict_${reason}`] ??= {})[`${listener} ${rejected}`] = {
      message: conflictText(conflict),
    };
  }
  return jsonResponse(
    { ...conflicts, warnings: byObject(view), rejections: ledger.rejections(), failures: ledger.failures() },
    request,
  );
}

/**
 * Sentences by the first object of each finding. Conflicts of listeners are left out, because they have fields of their
 * own.
 */
function byObject(view: DebugView): Record<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const finding of allWarnings(view)) {
    if (finding.name === "listener-conflict" || finding.name === "tcp-listener-conflict") continue;
    const [object = ""] = findingKeys(finding);
    texts.set(object, [...texts.get(object) ?? [], finding.message]);
  }
  return Object.fromEntries(texts);
}

/** The findings of translation and of the analysis. */
export function* allWarnings(view: DebugView): Iterable<Finding> {
  yield* view.warnings();
  yield* view.analysis.findings();
}
