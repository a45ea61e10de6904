/**
 * Pages about pushes: their triggers, the proxies that they reached, and rejections.
 *
 * @module
 */
import { type Finding, findingKeys } from "../finding/finding.ts";
import { type HttpRequest, type HttpResponse, jsonResponse } from "../http/message.ts";
import { conflictText } from "../translate/listener/conflict.ts";
import type { DebugView } from "./view.ts";
import { settledFindings } from "./within.ts";

/** `/debug/pushes`: the ledger, newest first. */
export function pushes(request: HttpRequest, view: DebugView): HttpResponse {
  return jsonResponse(view.xds.ledger.pushes(), request);
}

/** `/debug/push_status`: problems of the last push, by kind, as far as configuration decides them. */
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

/** Sentences by the first object that each is about; conflicts of listeners stand apart already. */
function byObject(view: DebugView): Record<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const finding of allWarnings(view)) {
    if (finding.name === "listener-conflict" || finding.name === "tcp-listener-conflict") continue;
    const [object = ""] = findingKeys(finding);
    texts.set(object, [...texts.get(object) ?? [], finding.message]);
  }
  return Object.fromEntries(texts);
}

/** `/debug/warningz`: accepted settings that proxies do not get, as translation found them. */
export async function warningz(request: HttpRequest, view: DebugView): Promise<HttpResponse> {
  await settledFindings(view, request.signal);
  return jsonResponse([...allWarnings(view)], request);
}

/** The findings of translation and of the analysis. */
export function* allWarnings(view: DebugView): Iterable<Finding> {
  yield* view.warnings();
  yield* view.analysis.findings();
}
