/**
 * The choices of objects' selectors: WorkloadEntries, and connected proxies.
 *
 * @module
 */
import { carriesLabels } from "../config/schema/labels.ts";
import type { AnyConfigObject, ConfigObject } from "../config/types.ts";
import { isServedBy } from "../config/kinds/gateway/workloads.ts";
import type { StringMap } from "../config/kinds/kinds.ts";
import type { DebugView } from "../debug/view.ts";
import type { SelectableWorkload } from "../mesh/selection/index.ts";
import { isSelecting, rootReach, type SelectingObject, selectionOf } from "../mesh/selection/selection.ts";
import { type ObjectArrow, objectArrow } from "./arrow.ts";
import { proxyUrl } from "../debug/links.ts";

/** The labels of an object's selector, and its namespace; undefined: the object has no selector. */
function selectorOf(
  object: AnyConfigObject,
  rootNamespace: string,
): { readonly labels: StringMap; readonly namespace: string | undefined } | undefined {
  const { namespace } = object.meta;
  if (object.kind === "Gateway") return given(object.spec.selector, undefined);
  if (object.kind === "ServiceEntry") return given(object.spec.workloadSelector?.labels, namespace);
  if (!isSelecting(object.kind)) return undefined;
  const everywhere = namespace === rootNamespace && rootReach(object.kind) === "any";
  return given(selectionOf(object as SelectingObject).labels, everywhere ? undefined : namespace);
}

function given(labels: StringMap = {}, namespace: string | undefined) {
  return Object.keys(labels).length === 0 ? undefined : { labels, namespace };
}

/** Whether an object selects a workload by labels. */
export function selects(object: AnyConfigObject, workload: SelectableWorkload, { mesh }: DebugView): boolean {
  const selector = selectorOf(object, mesh.rootNamespace);
  if (selector !== undefined && object.kind === "Gateway") return isServedBy(object, workload);
  return selector !== undefined && (selector.namespace ?? workload.namespace) === workload.namespace &&
    carriesLabels(workload.labels, selector.labels);
}

/** The workload of a WorkloadEntry. */
export function workloadOf({ meta, spec }: ConfigObject<"WorkloadEntry">): SelectableWorkload {
  return { namespace: meta.namespace, labels: { ...meta.labels, ...spec.labels } };
}

/** Arrows to the workloads that an object selects. The search reads every WorkloadEntry and every proxy. */
export function selectedBy(object: AnyConfigObject, view: DebugView): ObjectArrow[] {
  if (selectorOf(object, view.mesh.rootNamespace) === undefined) return [];
  const from = object.key;
  const entries = view.store.list("WorkloadEntry").filter((entry) => selects(object, workloadOf(entry), view));
  const proxies = [...view.translator.proxies()].filter(({ proxy: { namespace, properties: { labels } } }) =>
    selects(object, { namespace, labels }, view)
  );
  return [
    ...entries.map(({ key }) => objectArrow(from, key)),
    ...proxies.map(({ proxy: { id, namespace, nodeId } }) => ({
      from,
      to: `proxy ${namespace}/${id.name}`,
      missing: false,
      href: proxyUrl(nodeId),
    })),
  ];
}
