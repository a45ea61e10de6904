/**
 * The list of objects, with the state of each.
 *
 * @module
 */
import { KINDS } from "../config/kinds/kinds.ts";
import { typedKind } from "../config/typed/typed_kind.ts";
import type { ConfigObject } from "../config/types.ts";
import { byObject, type Finding, findingKeys, findingKind } from "../finding/finding.ts";
import { describeOrigin, type Origin, writtenKind } from "../finding/origin.ts";
import { LazyList } from "../http/json_stream.ts";
import { objectUrl } from "./links.ts";
import type { DebugView } from "./view.ts";
import { writtenObject } from "./world.ts";
import { findingsOf } from "./findings.ts";
import type { DescribedList, StateWord } from "./list_page.ts";

/** States of objects, the worst first, with how each is shown. */
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
type ObjectState = keyof typeof OBJECT_STATES;

/** A row: an object in force, or an object that is refused and was never in force. */
interface ListedObject {
  readonly kind: string;
  /** The kind in its author's spelling. */
  readonly written: string;
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** Absent: unknown. */
  readonly origin: Origin | undefined;
  /** The object in force. */
  readonly object?: ConfigObject;
}

/** Tells the state of a row. */
type StateOf = (listed: ListedObject) => ObjectState;

/** `/debug/configz`: all objects, in the form that users write, each with its origin. */
export const OBJECTS: DescribedList<ListedObject, StateOf> = {
  title: "Objects",
  noun: "object",
  none: "There is no object. Is --configDir the right folder?",
  rows: ({ store }) => KINDS.flatMap((kind) => store.list(kind).map(listedObject)),
  people: (rows, view) => [...rows, ...refusedObjects(view, new Set(rows.map(({ key }) => key)))],
  json: (rows) => LazyList.of(rows, ({ object }) => object && writtenObject(object)),
  look: objectStates,
  searched: (one) => `${one.key} ${one.written} ${whereOf(one)}`,
  filters: [
    {
      name: "kind",
      of: ({ written }) => written,
      read: (word) => typedKind(word) ?? word,
      matches: ({ kind, written }, asked) => kind === asked || written === asked,
    },
    { name: "namespace", of: ({ namespace }) => namespace },
    { name: "state", of: (one, stateOf) => stateOf(one), options: Object.keys(OBJECT_STATES) },
  ],
  columns: [
    { title: "Name", cell: ({ key, name }) => ({ text: name, link: objectUrl(key) }) },
    { title: "Kind", cell: ({ written }) => written },
    { title: "Namespace", cell: ({ namespace }) => namespace },
    { title: "State", cell: (one, stateOf) => ({ tone: OBJECT_STATES[stateOf(one)], word: stateOf(one) }) },
    { title: "Written in", cell: (one) => ({ mono: whereOf(one) }) },
  ],
};

function listedObject(object: ConfigObject): ListedObject {
  const { kind, key, meta: { namespace, name }, origin } = object;
  return { kind, written: writtenKind(origin, kind), namespace, name, key, origin, object };
}

function whereOf({ origin }: ListedObject): string {
  return origin === undefined ? "" : describeOrigin(origin);
}

/** The objects that are refused and were never in force. */
function* refusedObjects(view: DebugView, seen: Set<string>): Iterable<ListedObject> {
  for (const finding of view.findings()) {
    const [object] = finding.place.objects;
    const [key = ""] = findingKeys(finding);
    if (finding.severity !== "error" || object === undefined || object.name === "" || seen.has(key)) continue;
    seen.add(key);
    yield { ...object, written: findingKind(finding), key, origin: finding.place.origin };
  }
}

/**
 * Tells states. Whether a push is in force everywhere is asked once for each push, rejections of proxies and findings once
 * for all objects.
 */
function objectStates(view: DebugView): StateOf {
  const { ledger } = view.xds;
  const everywhere = new Map<number, boolean>();
  let findings: ReadonlyMap<string, readonly Finding[]> | undefined;
  let rejected: ReadonlySet<string> | undefined;
  const isEverywhere = (push: number) => {
    let known = everywhere.get(push);
    if (known === undefined) {
      const { live, total } = ledger.reach("", push);
      everywhere.set(push, known = total > 0 && live === total);
    }
    return known;
  };
  return ({ key, object }) => {
    if (object === undefined) return "refused";
    if (view.isStale(object)) return "last good version";
    if (view.isWaiting(key)) return "waiting";
    rejected ??= rejectedObjects(view);
    if (rejected.has(key)) return "rejected by proxies";
    if (!isEverywhere(view.changedIn(key) ?? ledger.latest)) return "not everywhere";
    findings ??= byObject(findingsOf(view));
    return findings.has(key) ? "warned" : "in force";
  };
}

function rejectedObjects({ xds }: DebugView): ReadonlySet<string> {
  const lacked = [...xds.streams()].flatMap(({ progress }) => [...progress?.refusals.lacked() ?? []]);
  return new Set(lacked.map(([key]) => key));
}
