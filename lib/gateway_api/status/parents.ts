/**
 * Lists of entries by controller and reference: `parents` of routes, and `ancestors` of policies.
 *
 * @module
 */
import { parentKey } from "../attach/routes.ts";
import {
  isJudgedLater,
  mergedConditions,
  objectsOf,
  type StatusJson,
  type StatusMoment,
  type WantedConditions,
} from "./conditions.ts";

/** A reference in an entry. Absent fields have the defaults of a parentRef. */
export interface EntryReference {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** An entry to write. */
export interface WantedEntry {
  readonly ref: EntryReference;
  readonly controller: string;
  readonly conditions: WantedConditions;
}

/** Whether an entry of a controller about an object is ours. */
export type IsOurs = (controller: string, ref: Partial<EntryReference>) => boolean;

/** A list of entries. */
export interface EntryList {
  /** Field of the reference. */
  readonly field: "parentRef" | "ancestorRef";
  /** Longest list. */
  readonly most: number;
  /** Namespace of the object with the status. */
  readonly namespace: string;
  readonly isOurs: IsOurs;
}

/**
 * The list with new entries. Entries of other controllers stay untouched and in their places. Our entries keep their
 * places; new entries are appended; our entries without a wanted one are removed. Undefined: an entry was judged for a
 * later version of the object.
 */
export function mergedEntries(
  present: unknown,
  wanted: readonly WantedEntry[],
  { field, most, namespace, isOurs }: EntryList,
  moment: StatusMoment,
): readonly StatusJson[] | undefined {
  const rest = new Map(wanted.map((one) => [parentKey(one.ref, namespace), one]));
  const list: StatusJson[] = [];
  for (const old of objectsOf(present)) {
    const controller = old["controllerName"];
    const ref = referenceOf(old[field]);
    if (typeof controller !== "string" || !isOurs(controller, ref)) {
      list.push(old);
      continue;
    }
    const key = parentKey(ref, namespace);
    const entry = rest.get(key);
    if (entry === undefined) continue;
    rest.delete(key);
    if (isJudgedLater(old["conditions"], Object.keys(entry.conditions), moment.generation)) return undefined;
    list.push(entryJson(field, entry, mergedConditions(old["conditions"], entry.conditions, moment)));
  }
  for (const entry of rest.values()) list.push(entryJson(field, entry, mergedConditions([], entry.conditions, moment)));
  return list.slice(0, most);
}

/** The conditions of our entries by the key of their reference. */
export function presentConditions(
  present: unknown,
  { field, namespace, isOurs }: Omit<EntryList, "most">,
): ReadonlyMap<string, unknown> {
  const own = objectsOf(present).filter(({ controllerName, [field]: ref }) =>
    typeof controllerName === "string" && isOurs(controllerName, referenceOf(ref))
  );
  return new Map(own.map((one) => [parentKey(referenceOf(one[field]), namespace), one["conditions"]]));
}

function entryJson(
  field: EntryList["field"],
  { ref, controller }: WantedEntry,
  conditions: readonly StatusJson[],
): StatusJson {
  const { group, kind, namespace, name, sectionName, port } = ref;
  const written = Object.entries({ group, kind, namespace, name, sectionName, port });
  return {
    [field]: Object.fromEntries(written.filter(([, value]) => value !== undefined)),
    controllerName: controller,
    conditions,
  };
}

/** A reference as it was read. Fields of other types count as absent. */
export function referenceOf(value: unknown): Partial<EntryReference> {
  const { group, kind, namespace, name, sectionName, port } = objectsOf([value])[0] ?? {};
  const text = (one: unknown) => typeof one === "string" ? one : undefined;
  const fields = {
    ...{ group: text(group), kind: text(kind), namespace: text(namespace), name: text(name) },
    ...{ sectionName: text(sectionName), port: typeof port === "number" ? port : undefined },
  };
  return Object.fromEntries(Object.entries(fields).filter(([, one]) => one !== undefined));
}
