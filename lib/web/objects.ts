/**
 * Objects for people: a list with filters.
 *
 * @module
 */
import type { DebugView } from "../debug/view.ts";
import { KINDS } from "../config/kinds/kinds.ts";
import { type Finding, findingKeys, findingKind } from "../finding/finding.ts";
import { describeOrigin, writtenKind } from "../finding/origin.ts";
import { typedKind } from "../config/typed/typed_kind.ts";
import type { ConfigObject } from "../config/types.ts";
import { findingsByObject } from "./findings.ts";
import { type HtmlValue, markup } from "./html.ts";
import { objectUrl } from "./links.ts";
import { filterForm, listPart, pageLinks, searched, table } from "./list.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { stateHtml, type StateWord } from "./words.ts";

/** States of objects in the list, the worst first, with how each is shown. */
const OBJECT_STATES = {
  "refused": "bad",
  "last good version": "bad",
  "rejected by proxies": "bad",
  "waiting": "warn",
  "not everywhere": "warn",
  "warned": "warn",
  "in force": "good",
} as const satisfies Readonly<Record<string, StateWord["tone"]>>;

/** A state of an object. */
export type ObjectState = keyof typeof OBJECT_STATES;

/** A row of the list: an object, or one that is refused and was never in force. */
interface ListedObject {
  readonly kind: string;
  /** The kind as its author spelled it. */
  readonly written: string;
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  readonly where: string;
  readonly object?: ConfigObject;
  readonly findings: readonly Finding[];
}

/** The page; queries `q`, `kind`, `namespace`, `state`. */
export const objectsPage: WebPageMaker = (request, view): WebPage => {
  const word = request.query.get("kind") ?? "";
  const kind = typedKind(word) ?? word;
  const namespace = request.query.get("namespace") ?? "";
  const state = request.query.get("state") ?? "";
  const holds = searched(request);
  const stateOf = objectStates(view);
  const all = listedObjects(view);
  const found = all.filter((one) =>
    (kind === "" || one.kind === kind || one.written === kind) && (namespace === "" || one.namespace === namespace) &&
    holds(`${one.key} ${one.written} ${one.where}`) && (state === "" || stateOf(one) === state)
  );
  const part = listPart(found, request);
  const rows = part.items.map((one): HtmlValue[] => [
    markup`
      <a href="${objectUrl(one.key)}">${one.name}</a>
    `,
    one.written,
    one.namespace,
    stateHtml(stateWord(stateOf(one))),
    markup`
      <span class="mono">${one.where}</span>
    `,
  ]);
  const choices = [
    { name: "kind", label: "any kind", options: [...new Set(all.map((one) => one.written))].sort() },
    { name: "namespace", label: "any namespace", options: shownNamespaces(all) },
    { name: "state", label: "any state", options: Object.keys(OBJECT_STATES) },
  ];
  const empty = all.length === 0 ? "There is no object. Is --configDir the right folder?" : "None is so.";
  return {
    title: "Objects",
    live: "push",
    body: markup`
      ${filterForm(request, choices)}${
      table(
        ["Name", "Kind", "Namespace", "State", "Written in"],
        rows,
        empty,
      )
    }${pageLinks(part, request)}
    `,
  };
};

/** Namespaces that the form offers; any other one can be given in the address. */
const OFFERED_NAMESPACES = 500;

function shownNamespaces(all: readonly ListedObject[]): string[] {
  return [...new Set(all.map(({ namespace }) => namespace))].sort().slice(0, OFFERED_NAMESPACES);
}

/** A state with its tone. */
export function stateWord(state: ObjectState): StateWord {
  return { tone: OBJECT_STATES[state], word: state };
}

/** All objects in force, then those that are refused and were never in force. */
export function listedObjects(view: DebugView): ListedObject[] {
  const findings = findingsByObject(view);
  const listed: ListedObject[] = [];
  const known = new Set<string>();
  for (const kind of KINDS) {
    for (const object of view.store.list(kind)) {
      known.add(object.key);
      const { key, meta, origin } = object;
      const found = findings.get(key) ?? [];
      listed.push({
        kind,
        written: writtenKind(origin, kind),
        ...nameOf(meta),
        key,
        where: describeOrigin(origin),
        object,
        findings: found,
      });
    }
  }
  return [...listed, ...refusedObjects(view, known, findings)];
}

function nameOf({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  return { namespace, name };
}

function* refusedObjects(
  view: DebugView,
  known: ReadonlySet<string>,
  findings: ReadonlyMap<string, readonly Finding[]>,
): Iterable<ListedObject> {
  const seen = new Set(known);
  for (const finding of view.findings()) {
    const [object] = finding.place.objects;
    const [key = ""] = findingKeys(finding);
    if (finding.severity !== "error" || object === undefined || object.name === "" || seen.has(key)) continue;
    seen.add(key);
    const where = finding.place.origin === undefined ? "" : describeOrigin(finding.place.origin);
    yield { ...object, written: findingKind(finding), key, where, findings: findings.get(key) ?? [finding] };
  }
}

/**
 * Tells states; whether a push is in force everywhere is asked once for each push, and what proxies have rejected once for
 * each of these.
 */
export function objectStates(view: DebugView): (listed: ListedObject) => ObjectState {
  const { ledger } = view.xds;
  const everywhere = new Map<number, boolean>();
  const rejected = new Set(
    [...view.xds.streams()].flatMap(({ progress }) => [...progress?.refusals.lacked() ?? []].map(([key]) => key)),
  );
  const isEverywhere = (push: number) => {
    let known = everywhere.get(push);
    if (known === undefined) {
      const { live, total } = ledger.reach("", push);
      everywhere.set(push, known = total > 0 && live === total);
    }
    return known;
  };
  return ({ key, object, findings }) => {
    if (object === undefined) return "refused";
    if (view.isStale(object)) return "last good version";
    if (view.isWaiting(key)) return "waiting";
    if (rejected.has(key)) return "rejected by proxies";
    if (!isEverywhere(view.changedIn(key) ?? ledger.latest)) return "not everywhere";
    return findings.length > 0 ? "warned" : "in force";
  };
}
