/**
 * Pages about pushes: what triggered them, whom they reached, what was rejected, and where an object is in force.
 *
 * Permissions: none.
 *
 * @module
 */
import { type Answer, type Ask, json, text } from "./http.ts";
import type { DebugView } from "./view.ts";

/** Longest wait of `/debug/live`, in seconds. */
const LONGEST_WAIT = 300;

/** `/debug/pushes`: the ledger, newest first. */
export function pushes(ask: Ask, view: DebugView): Answer {
  return json(view.xds.ledger.pushes(), ask);
}

/** `/debug/push_status`: problems of the last push, by kind, as far as configuration decides them. */
export function pushStatus(ask: Ask, view: DebugView): Answer {
  const conflicts: Record<string, Record<string, { message: string }>> = {};
  for (const conflict of view.translator.conflicts()) {
    const { listener, reason, accepted, rejected, rejectedProtocol } = conflict;
    (conflicts[`pilot_conflict_${reason}`] ??= {})[`${listener} ${rejected}`] = {
      message: `${listener}: ${accepted} has it, so ${rejectedProtocol} of ${rejected} is not served`,
    };
  }
  return json({ ...conflicts, warnings: byObject(view), rejections: view.xds.ledger.rejections() }, ask);
}

/** Sentences by the first object that each is about; conflicts of listeners are told apart already. */
function byObject(view: DebugView): Record<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const { room, objects: [object = ""], text } of view.translator.warnings()) {
    if (room === "listeners") continue;
    texts.set(object, [...texts.get(object) ?? [], text]);
  }
  return Object.fromEntries(texts);
}

/** `/debug/warningz`: what users wrote and do not get, as translation found it. */
export function warningz(ask: Ask, view: DebugView): Answer {
  return json(view.translator.warnings(), ask);
}

/**
 * `/debug/live?object=VirtualService/ns/name`: on how many of the connected proxies the last change of an object is in
 * force; with `wait=30s` or `wait=30` the answer comes when it is in force everywhere, or after that time.
 */
export async function live(ask: Ask, view: DebugView): Promise<Answer> {
  const object = ask.url.searchParams.get("object");
  if (!object) return text(400, "query object is missing, expected kind/namespace/name\n");
  const push = view.changedIn(object);
  if (push === undefined) return text(404, `no object ${JSON.stringify(object)}, expected kind/namespace/name\n`);
  const wait = ask.url.searchParams.get("wait");
  if (wait !== null) {
    const seconds = Number(/^(\d+(?:\.\d+)?)s?$/.exec(wait)?.[1]);
    if (!(seconds <= LONGEST_WAIT)) return text(400, `query wait: got ${wait}, expected 0s to ${LONGEST_WAIT}s\n`);
    await view.xds.ledger.waitLive(push, seconds * 1000);
  }
  const { live, total } = view.xds.ledger.live(push);
  return json({ object, push, live, total, everywhere: live === total }, ask);
}
