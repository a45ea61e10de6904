/**
 * Selectors without a workload in manifests that match a connected proxy. Manifests tell of some workloads only; a
 * connected proxy is a workload too.
 *
 * @module
 */
import { type Finding, findingKeys } from "../../finding/finding.ts";
import { isServedBy } from "../../config/kinds/gateway/workloads.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import { GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import type { SelectableWorkload } from "../../mesh/selection/index.ts";
import { isSelecting, rootReach, type SelectingObject, selectionOf } from "../../mesh/selection/selection.ts";

/** The connected proxies, and the objects of findings. */
export interface ConnectedWorld {
  object(key: string): AnyConfigObject | undefined;
  workloads(): Iterable<SelectableWorkload>;
  readonly rootNamespace: string;
}

/** The findings, except "selects-nothing" of a selector that matches a connected proxy. */
export function* withoutConnected(findings: Iterable<Finding>, world: ConnectedWorld): Iterable<Finding> {
  for (const finding of findings) {
    if (finding.name !== "selects-nothing" || !selectsConnected(world.object(findingKeys(finding)[0] ?? ""), world)) {
      yield finding;
    }
  }
}

function selectsConnected(object: AnyConfigObject | undefined, world: ConnectedWorld): boolean {
  if (object?.kind === "Gateway") {
    return Iterator.from(world.workloads()).some((workload) => isServedBy(object, workload));
  }
  const wanted = object && selectorOf(object, world.rootNamespace);
  if (wanted === undefined) return false;
  const labels = Object.entries(wanted.labels);
  return Iterator.from(world.workloads()).some((workload) =>
    (wanted.namespace === undefined || workload.namespace === wanted.namespace) &&
    labels.every(([key, value]) => workload.labels[key] === value)
  );
}

/** The labels and the namespace of an object's selector; an absent namespace stands for all namespaces. */
function selectorOf(
  object: AnyConfigObject,
  rootNamespace: string,
): { readonly labels: StringMap; readonly namespace?: string } | undefined {
  const { kind, meta: { namespace } } = object;
  if (kind === "DestinationRule") return { labels: object.spec.workloadSelector?.matchLabels ?? {}, namespace };
  // Endpoints of a ServiceEntry are workloads of the registry, and do not depend on connected proxies.
  if (!isSelecting(kind)) return undefined;
  const { labels: written, targets } = selectionOf(object as SelectingObject);
  const gateway = targets.find((one) => one.kind === "Gateway")?.name;
  const labels = gateway === undefined ? written : { [GATEWAY_NAME_LABEL]: gateway };
  return rootReach(kind) === "any" && namespace === rootNamespace ? { labels } : { labels, namespace };
}
