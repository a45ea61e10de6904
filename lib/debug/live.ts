/**
 * `/debug/live`: whether the text of an object is in force, on how many proxies, and if not, why.
 *
 *     file ──(settled)──> read ──┬─> waits ──(push)──> pushed ──(acknowledged)──> in force
 *                                └─> refused
 *
 * @module
 */
import * as z from "zod";
import { type Finding, findingFile, findingObject } from "../finding/finding.ts";
import { isClusterWideKind, KINDS } from "../config/kinds/kinds.ts";
import { otherTypedKind, typedKind, unambiguousWord } from "../config/typed/typed_kind.ts";
import { type ConfigObject, type Kind, objectKey } from "../config/types.ts";
import { spellingsOfKind } from "../config/spelling/spelling.ts";
import { nearestName } from "../kernel/text/nearest.ts";
import { type HttpRequest, type HttpResponse, jsonResponse } from "../http/message.ts";
import { tunnelReasons, tunnelsOfPolicy } from "./policy_tunnels.ts";
import { queried, textQuery } from "./query.ts";
import { isTunnelId } from "../translate/proxy/identity.ts";
import type { PushProgress } from "../xds/progress.ts";
import { concernedProxies } from "./concern.ts";
import { lostEffects } from "./lost_effect.ts";
import { rolloutWords } from "./rollouts.ts";
import { unsentCredentials } from "./unsent_credentials.ts";
import type { DebugView } from "./view.ts";
import { settledFindings, within } from "./within.ts";

/** Longest wait, in seconds. */
const LONGEST_WAIT = 300;

/** The object that the page is asked about. */
interface LiveQuestion {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** The object of another kind that the text may mean, too. Absent: the text means only this object. */
  readonly other?: LiveQuestion;
}

const OBJECT_EXPECTED = "kind/namespace/name";
const WAIT_EXPECTED = `0s to ${LONGEST_WAIT}s`;

const QUERY = z.object({
  object: textQuery(OBJECT_EXPECTED).transform((text, context): LiveQuestion => {
    const wanted = wantedObject(text);
    if (!("expected" in wanted)) return wanted;
    context.issues.push({ code: "custom", message: wanted.expected, input: text });
    return z.NEVER;
  }),
  /** In seconds. */
  wait: z.string()
    .refine((text) => /^\d+(?:\.\d+)?s?$/.test(text) && parseFloat(text) <= LONGEST_WAIT, { error: WAIT_EXPECTED })
    .transform((text) => parseFloat(text)).optional(),
});

/**
 * The page. `object=VirtualService/ns/name` names the object. Without `wait` the answer is about the texts read so far.
 * With `wait=30s` or `wait=30` the present content of the folder is read first. The answer then comes when the object
 * is in force everywhere, when it cannot be in force, or after the given time. The wait ends when the client goes away.
 *
 * The status is 200 if a version of the object is in force, or else 404. Both have the same body.
 */
export const live = queried(QUERY, async (request, view, { object, wait }): Promise<HttpResponse> => {
  if (wait === undefined) {
    await settledFindings(view, request.signal);
    return state(meantObject(object, view), request, view, undefined);
  }
  const isRead = await inForce(object, view, wait * 1000, request.signal);
  return state(
    meantObject(object, view),
    request,
    view,
    isRead ? undefined : `the folder could not be read within ${wait} s`,
  );
});

/** Reads `kind/namespace/name`. For any other text the answer gives the expected form. */
function wantedObject(text: string): LiveQuestion | { readonly expected: string } {
  const [word = "", ...path] = text.split("/");
  const kind = typedKind(word);
  const hasNone = kind !== undefined && isClusterWideKind(kind);
  const [namespace = "", name = "", ...rest] = hasNone && path.length === 1 ? ["", ...path] : path;
  if (name === "" || rest.length > 0 || (namespace === "") !== hasNone) {
    return { expected: hasNone ? "kind/name: the kind has no namespaces" : OBJECT_EXPECTED };
  }
  const of = (one: Kind): LiveQuestion => ({ kind: one, namespace, name, key: objectKey(one, namespace, name) });
  const other = otherTypedKind(word);
  if (kind !== undefined) return { ...of(kind), ...(other === undefined ? {} : { other: of(other) }) };
  const guess = nearestName(word, KINDS.flatMap(spellingsOfKind));
  const hint = guess === undefined ? "" : `; did you mean ${guess}?`;
  return { expected: `${OBJECT_EXPECTED}, with a kind of ${KINDS.join(", ")}${hint}` };
}

/** The object that the text means: of another kind of the word if only that kind has such an object. */
function meantObject(wanted: LiveQuestion, view: DebugView): LiveQuestion {
  const { other } = wanted;
  if (other === undefined || isThere(wanted, view) || !isThere(other, view)) return wanted;
  const { other: _other, ...alone } = wanted;
  return { ...other, other: alone };
}

/** Whether a version of the object is in force or refused. */
function isThere(wanted: LiveQuestion, view: DebugView): boolean {
  return view.store.get(wanted.kind, wanted.namespace, wanted.name) !== undefined || refusals(wanted, view).length > 0;
}

/**
 * Waits until the text is in force or cannot be, the time is over, or the client goes away.
 *
 * @returns whether the present text was read
 */
async function inForce(asked: LiveQuestion, view: DebugView, timeout: number, signal: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + timeout;
  const left = () => Math.max(0, deadline - performance.now());
  if (!await within(view.settled(), left(), signal)) return false;
  const wanted = meantObject(asked, view);
  if (refusals(wanted, view).length > 0) return true;
  if (!await pushed(wanted.key, view, left(), signal)) return true;
  if (!await within(view.analysis.settled(), left(), signal)) return true;
  const object: ConfigObject | undefined = view.store.get(wanted.kind, wanted.namespace, wanted.name);
  // A removed object is gone everywhere when every push so far is acknowledged.
  const push = view.changedIn(wanted.key) ?? view.xds.ledger.latest;
  const among = withTunnels(concernedProxies(object, view), object, view);
  await view.xds.ledger.waitLive(push, left(), { among, object: wanted.key, signal });
  return true;
}

/** Node tunnels are awaited, too, if they get a policy of the object. */
function withTunnels(
  concerned: ReadonlySet<PushProgress> | undefined,
  object: ConfigObject | undefined,
  view: DebugView,
): ReadonlySet<PushProgress> | undefined {
  if (concerned === undefined || tunnelsOfPolicy(object, view) === undefined) return concerned;
  const tunnels = [...view.xds.streams()].filter(({ node }) => isTunnelId(node?.id ?? ""));
  return new Set([...concerned, ...tunnels.flatMap(({ progress }) => progress ?? [])]);
}

/** Waits for the push of an object's last change. */
async function pushed(key: string, view: DebugView, timeout: number, signal: AbortSignal): Promise<boolean> {
  if (!view.isWaiting(key)) return true;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = view.onPush(() => view.isWaiting(key) || resolve());
  try {
    return await within(promise, timeout, signal);
  } finally {
    stop();
  }
}

/** The findings that refuse the newest version of an object, even if the text no longer names the object. */
function refusals(wanted: LiveQuestion, view: DebugView): Finding[] {
  const { kind, namespace, name } = wanted;
  const object: ConfigObject | undefined = view.store.get(kind, namespace, name);
  const stale = object !== undefined && view.isStale(object);
  return errors(view).filter((one) => {
    const about = findingObject(one);
    if (about.kind === kind && about.name === name) return about.namespace === namespace;
    return stale && about.name === "" && isInFile(one, object);
  });
}

function isInFile(found: Finding, { origin }: ConfigObject): boolean {
  return origin.from === "file" && found.place.origin?.source === origin.source && findingFile(found) === origin.file;
}

function errors(view: DebugView): Finding[] {
  return [...view.findings()].filter(({ severity }) => severity === "error");
}

/** Answers with the present state. `unread` says why the text may be newer. */
function state(wanted: LiveQuestion, request: HttpRequest, view: DebugView, unread: string | undefined): HttpResponse {
  const { kind, namespace, name, key } = wanted;
  const object: ConfigObject | undefined = view.store.get(kind, namespace, name);
  const refused = refusals(wanted, view);
  const waits = view.isWaiting(key);
  const push = waits ? undefined : view.changedIn(key) ?? view.xds.ledger.latest;
  const concerned = concernedProxies(object, view);
  const connected = view.xds.ledger.live(0).total;
  const { total, failing, refused: rejected, words, live } = view.xds.ledger.reach(key, push ?? Infinity, concerned);
  const tunnels = tunnelsOfPolicy(object, view);
  const lost = object === undefined ? [] : lostEffects(key, view);
  const why: string[] = [];
  if (unread !== undefined) why.push(unread);
  if (refused.length > 0) why.push("the newest version is refused");
  if (waits) why.push("the last change waits for its push");
  else {
    const silent = total - live - failing - rejected;
    if (silent > 0) why.push(`${silent} of ${total} proxies have not acknowledged it`);
  }
  const rollout = view.rollouts().find((one) => one.key === key);
  if (rollout !== undefined && rollout.phase !== "taken-back") why.push(rolloutWords(rollout));
  for (const text of words.slice(0, MAX_NAMED)) why.push(`${rejected} of ${total} proxies have rejected it: ${text}`);
  for (const text of unsentCredentials(object, concerned, view).slice(0, MAX_NAMED)) why.push(text);
  if (tunnels !== undefined) why.push(...tunnelReasons(tunnels, MAX_NAMED));
  if (failing > 0) why.push(`${failing} of ${total} proxies lack what could not be made: ${newestFailures(view)}`);
  if (connected === 0) why.push("no proxy is connected");
  else if (total === 0 && tunnels === undefined) {
    why.push(`none of the ${connected} connected proxies has anything of it`);
  }
  for (const { message, effect } of lost) why.push(`${message}: ${effect}`);
  if (view.analysis.isBehind) why.push("the last change is still analyzed");
  const reached = why.length === 0;
  const { other } = wanted;
  const also = other === undefined || !isThere(other, view)
    ? {}
    : { also: `${unambiguousWord(other.kind)}/${namespace}/${name}` };
  const counts = { push, live, total, failing, rejected, connected, noProxy: connected === 0, tunnels };
  if (object === undefined) {
    // A text without a name may be the object in question.
    const unnamed = errors(view).filter((one) => {
      const about = findingObject(one);
      return about.name === "" && (about.kind === "" || about.kind === kind);
    });
    const leftOut = view.leftOut(key);
    why.unshift("no version is in force here", ...leftOut === undefined ? [] : [leftOut]);
    const body = { object: key, ...also, ...counts, everywhere: false, goneEverywhere: reached, why, refused, unnamed };
    return jsonResponse(body, request, 404);
  }
  const { hash, origin } = object;
  return jsonResponse(
    { object: key, ...also, hash, origin, ...counts, everywhere: reached, why, refused, lost },
    request,
  );
}

/** The most failures named in an answer. */
const MAX_NAMED = 5;

/** The latest failures of builders, with reasons: each thing once. */
function newestFailures(view: DebugView): string {
  const texts = new Set(view.xds.ledger.failures().map(({ what, reason }) => `${what} (${reason})`));
  return [...texts].slice(0, MAX_NAMED).join(", ") || "see the log";
}
