/**
 * Policies for a workload: the objects that choose the workload, and the object behind each field.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { policyWorkload } from "../debug/policy_workload.ts";
import { proxyStateOf } from "../debug/select.ts";
import type { DebugView } from "../debug/view.ts";
import type { HttpRequest } from "../http/message.ts";
import { isHiddenAt, type LevelMerging, MERGING, POLICY_LEVELS, selectedPolicies } from "../debug/selected_policies.ts";
import type { PlacedTarget, Selected } from "../mesh/selection/index.ts";
import { SELECTING_KINDS, type SelectingKind } from "../mesh/selection/selection.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { type Html, type HtmlValue, markup } from "./html.ts";
import { objectUrl } from "../debug/links.ts";
import { table } from "./list.ts";

/** A field of the merged policy. */
interface MergedField {
  readonly path: string;
  readonly value: string;
  readonly from: string;
}

export function policiesPart(_request: HttpRequest, connection: XdsConnection, view: DebugView): Html {
  const state = proxyStateOf(connection, view);
  if (state === undefined) return markup`<p class="dim">Nothing is translated for this proxy yet.</p>`;
  const workload = policyWorkload(state, view);
  const { namespace, labels, ofWaypoint } = workload;
  const { store, translator: { mesh, layersPolicies } } = view;
  const source = { store, mesh, layersPolicies };
  const sections = SELECTING_KINDS.map((kind) => section(kind, selectedPolicies(kind, workload, source)));
  const carried = Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(", ");
  return markup`<p>Namespace ${namespace}, labels <span class="mono">${carried || "none"}</span>.</p>
${ofWaypoint && waypointNote(ofWaypoint)}${
    sections.some((one) => one !== false) ? sections : markup`<p class="dim">No policy chooses the workload.</p>`
  }`;
}

/** The objects whose policies hold in a waypoint. */
function waypointNote(targets: readonly PlacedTarget[]): Html {
  const names = new Set(targets.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`));
  return markup`<p>A waypoint: policies hold if their targets name one of these objects. The policies of a service hold
only for the service. <span class="mono">${[...names].join(", ") || "There is no such Gateway."}</span></p>`;
}

function section(kind: SelectingKind, selected: Selected<SelectingKind>): Html | false {
  const levels = POLICY_LEVELS.map(([level, title]) => ({ level, title, objects: selected[level] }));
  if (levels.every(({ objects }) => objects.length === 0)) return false;
  const rows = levels.flatMap(({ level, title, objects }) =>
    objects.map((object, at): HtmlValue[] => [
      title,
      markup`<a href="${objectUrl(object.key)}">${object.key}</a>`,
      isHiddenAt(kind, level, at) ? "hidden by an older object of the same level" : "",
    ])
  );
  const effective = levels.map(({ objects }) => objects);
  return markup`<h2>${kind}</h2>${table(["Level", "Object", ""], rows, "")}${merged(MERGING[kind], effective)}`;
}

function merged(how: LevelMerging, levels: readonly (readonly ConfigObject[])[]): Html {
  const used = how === "all" ? levels.flat().map((object) => [object]) : [
    levels.flatMap((objects, level) => how === "layers" && level === 2 ? objects : objects.slice(0, 1))
      .slice(how === "nearest" ? -1 : 0),
  ];
  return markup`${
    used.map((objects) => {
      const rows = mergedFields(objects).map(({ path, value, from }): HtmlValue[] => [
        markup`<span class="mono">${path}</span>`,
        markup`<span class="mono">${value}</span>`,
        markup`<a href="${objectUrl(from)}">${from}</a>`,
      ]);
      return markup`<h3>In effect</h3>${table(["Field", "Value", "From"], rows, "The objects set no field.")}`;
    })
  }`;
}

/** Fields that choose workloads and are not settings. */
const SELECTORS: ReadonlySet<string> = new Set(["selector", "workloadSelector", "targetRef", "targetRefs"]);

/** The fields of objects. A later object has precedence over an earlier one. */
export function mergedFields(objects: readonly Pick<ConfigObject, "key" | "spec">[]): MergedField[] {
  const fields = new Map<string, MergedField>();
  for (const { key, spec } of objects) {
    for (const [name, value] of Object.entries(spec)) {
      if (SELECTORS.has(name)) continue;
      for (const [path, leaf] of leaves(name, value)) {
        fields.set(path, { path, value: JSON.stringify(leaf).slice(0, MAX_VALUE), from: key });
      }
    }
  }
  return [...fields.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Characters of a value. */
const MAX_VALUE = 2000;

/** The fields below a value. Lists are replaced as a whole, so lists are leaves. */
function* leaves(path: string, value: unknown): Iterable<readonly [string, unknown]> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject || Object.keys(value).length === 0) return yield [path, value];
  for (const [name, one] of Object.entries(value)) if (one !== undefined) yield* leaves(`${path}.${name}`, one);
}
