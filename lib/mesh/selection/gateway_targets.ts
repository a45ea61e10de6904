/**
 * The Gateways of the Kubernetes Gateway API behind workloads. A policy may target such a Gateway instead of selecting
 * labels.
 *
 *     derived Gateways ──> GatewayTargets ──> of(workload): the workload, with its Gateways as targets
 *                                └──────────> take(): namespaces whose workloads may have other targets
 *
 * A workload has a Gateway by the label with the Gateway's name, or by serving the Gateway: `spec.addresses` of a Gateway
 * may name a Service whose workloads lack the label. Derived Gateways select the workloads of the Service, and change with
 * the Gateway and the Service. So a policy is in force wherever its Gateway is served.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import { apiGatewayBehind } from "../../config/derive/made_of_gateway_api.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import { GATEWAY_API_GROUP, GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { SelectableWorkload, TargetName } from "./index.ts";

/** The facts about a workload that decide its targets. */
type LabelledWorkload = Pick<SelectableWorkload, "namespace" | "labels" | "ofWaypoint">;

/** Finds the targets of a workload. */
export type FindTargets = (workload: LabelledWorkload) => SelectableWorkload;

/** Which workloads of Gateways an index of policies finds. */
export interface PolicyReach {
  /** As for `SelectionIndex`. Default: true. */
  readonly selectsGateways?: boolean;
  /** Objects without selector and target hold for the waypoints of their namespace, too. Default: false. */
  readonly holdsAtWaypoints?: boolean;
  /** Default: a workload has only the Gateway of its label. */
  readonly targets?: FindTargets;
}

/** A workload with the Gateway of its label as a target. */
export function withLabelledTarget(workload: LabelledWorkload): SelectableWorkload {
  const { namespace, labels } = workload;
  if (workload.ofWaypoint !== undefined) return workload;
  const name = labels[GATEWAY_NAME_LABEL];
  return name === undefined ? { namespace, labels } : { namespace, labels, targets: [gatewayTarget(name)] };
}

function gatewayTarget(name: string): TargetName {
  return { group: GATEWAY_API_GROUP, kind: "Gateway", name };
}

/** The workloads of a Gateway. */
interface ServedGateway {
  readonly namespace: string;
  readonly name: string;
  readonly selector: StringMap;
}

interface CountedGateway extends ServedGateway {
  /** The number of derived Gateways: each listener has its own. */
  listeners: number;
}

/** The Gateways of the Gateway API by workload. */
export class GatewayTargets {
  /** By namespace and first wanted label, then by name and selector. */
  readonly #byLabel = new Map<string, Map<string, CountedGateway>>();

  /**
   * Replaces Gateways of the mesh by others. Only Gateways that are derived from Gateways of the Gateway API count.
   *
   * @returns The namespaces of workloads whose targets may have changed. Other listeners of a Gateway change nothing.
   */
  update(removed: readonly ConfigObject<"Gateway">[], added: readonly ConfigObject<"Gateway">[]): Set<string> {
    const changes = new Map<string, { readonly gateway: ServedGateway; by: number }>();
    const count = (objects: readonly ConfigObject<"Gateway">[], by: number) => {
      for (const gateway of objects.flatMap((object) => servedGateway(object) ?? [])) {
        changes.getOrInsertComputed(identityOf(gateway), () => ({ gateway, by: 0 })).by += by;
      }
    };
    count(added, 1);
    count(removed, -1);
    const namespaces = new Set<string>();
    for (const [identity, { gateway, by }] of changes) {
      if (this.#count(identity, gateway, by)) namespaces.add(gateway.namespace);
    }
    return namespaces;
  }

  /** @returns Whether the Gateway appeared or disappeared. */
  #count(identity: string, gateway: ServedGateway, by: number): boolean {
    const key = labelKey(gateway.namespace, Object.entries(gateway.selector)[0]);
    const there = this.#byLabel.getOrInsertComputed(key, () => new Map<string, CountedGateway>());
    const known = there.getOrInsertComputed(identity, () => ({ ...gateway, listeners: 0 }));
    const before = known.listeners;
    known.listeners += by;
    if (known.listeners <= 0) there.delete(identity);
    if (there.size === 0) this.#byLabel.delete(key);
    return (before > 0) !== (known.listeners > 0);
  }

  /** A workload with all its Gateways as targets. The cost is the workload's labels and its possible Gateways. */
  of(workload: LabelledWorkload): SelectableWorkload {
    const byLabel = withLabelledTarget(workload);
    if (this.#byLabel.size === 0 || workload.ofWaypoint !== undefined) return byLabel;
    const { namespace, labels } = workload;
    const names = new Set(byLabel.targets?.map(({ name }) => name));
    for (const label of [undefined, ...Object.entries(labels)]) {
      for (const { name, selector } of this.#byLabel.get(labelKey(namespace, label))?.values() ?? []) {
        if (carriesLabels(labels, selector)) names.add(name);
      }
    }
    return names.size === 0 ? byLabel : { namespace, labels, targets: [...names].sort().map(gatewayTarget) };
  }
}

/** The Gateway of the Gateway API behind a Gateway of the mesh; undefined: there is none. */
function servedGateway(gateway: ConfigObject<"Gateway">): ServedGateway | undefined {
  const behind = apiGatewayBehind(gateway);
  return behind && { ...behind, selector: gateway.spec.selector ?? {} };
}

function identityOf({ namespace, name, selector }: ServedGateway): string {
  return JSON.stringify([namespace, name, selector]);
}

/** @param label Name and value; undefined: no label is wanted. */
function labelKey(namespace: string, label: readonly [string, string] | undefined): string {
  return label === undefined ? namespace : `${namespace}/${label[0]}=${label[1]}`;
}
