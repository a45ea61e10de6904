/**
 * `/debug/ambient_pods`: for each pod whether the tunnel of its node takes its connections, which tunnels know the pod,
 * and which waypoints and policies are on the way to it.
 *
 * @module
 */
import * as z from "zod";
import type { istio } from "../../proto/gen/types.ts";
import { type Capture, captureOf, type CaptureState } from "../ambient/capture.ts";
import type { Fact } from "../config/facts/types.ts";
import { LazyList } from "../http/json_stream.ts";
import { decode } from "../pb/reflect.ts";
import { hasEnded } from "../registry/orch/pod.ts";
import type { ServiceKey } from "../registry/types.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import { waypointText } from "./ambient.ts";
import { Bindings, type BoundService, podResource, wayCell, wayOf } from "./ambient_bindings.ts";
import { enforcedPolicies, policyCell, TunnelPolicyScopes } from "./ambient_policies.ts";
import { objectUrl, podDescriptionUrl, serviceUrl, withQuery } from "./links.ts";
import type { Cell, DescribedList, StateWord } from "./list_page.ts";
import { acksCell, ConnectedTunnels } from "./tunnel_acks.ts";
import { mayHold } from "./tunnel_sets.ts";
import type { DebugView } from "./view.ts";

/** A pod. */
interface PodRow {
  readonly pod: Fact<"Pod">;
  readonly capture: Capture;
}

/** What the cells of a request share. */
class PodLook {
  readonly tunnels: ConnectedTunnels;
  readonly bindings: Bindings;
  readonly scopes: TunnelPolicyScopes;
  /** Whether the server describes pods. */
  readonly describes: boolean;
  readonly #view: DebugView;
  /** The last decoded workload: the cells of a row ask for the same. */
  #last: { readonly of: EncodedResource; readonly workload: istio.workload.Workload } | undefined;

  constructor(view: DebugView) {
    this.describes = view.explainer !== undefined;
    this.#view = view;
    this.tunnels = new ConnectedTunnels(view);
    this.bindings = new Bindings(view);
    this.scopes = new TunnelPolicyScopes(view.tunnels);
  }

  /** The resource of a pod. Undefined: tunnels do not get the pod. */
  resource({ pod }: PodRow): EncodedResource | undefined {
    return podResource(this.#view, pod.meta.namespace, pod.meta.name);
  }

  workload(row: PodRow): istio.workload.Workload | undefined {
    const of = this.resource(row);
    if (of === undefined) return undefined;
    if (this.#last?.of !== of) {
      const { workload = {} } = decode<istio.workload.Address>("istio.workload.Address", of.value);
      this.#last = { of, workload };
    }
    return this.#last.workload;
  }

  /** The services of a pod, with their waypoints. */
  services(row: PodRow): readonly (readonly [service: ServiceKey, bound: BoundService | undefined])[] {
    const names = Object.keys(this.workload(row)?.services ?? {}).sort() as ServiceKey[];
    return names.map((name) => [name, this.bindings.ofService(name)] as const);
  }

  policies(row: PodRow) {
    const workload = this.workload(row);
    if (workload === undefined) return [];
    const bound = this.services(row).flatMap(([name, one]) => one === undefined ? [] : [[name, one] as const]);
    const own = this.bindings.of(row.pod);
    const all = own === undefined ? bound : [...bound, ["its own address", own] as const];
    return enforcedPolicies(workload, row.capture.state, this.scopes, all);
  }
}

/** States of capture with their words, in the order of the filter. */
const STATES: Readonly<Record<CaptureState, StateWord>> = {
  captured: { tone: "good", word: "captured" },
  itself: { tone: "good", word: "takes tunnels itself" },
  pending: { tone: "warn", word: "pending" },
  waiting: { tone: "bad", word: "not captured" },
  sidecar: { tone: "dim", word: "sidecar" },
  outside: { tone: "dim", word: "outside" },
};

/** The page. */
export const AMBIENT_PODS: DescribedList<PodRow, PodLook> = {
  title: "Pods in ambient mode",
  noun: "pod",
  none: "The server knows no pod.",
  beside: [
    { title: "Services and their waypoints", link: "/debug/ambient_services" },
    { title: "What tunnels get", link: "/debug/ambientz" },
  ],
  query: { policy: z.string().max(600).optional() },
  rows: podRows,
  json: (rows, view) => {
    const look = new PodLook(view);
    return LazyList.of(rows, (row) => rowJson(row, look));
  },
  look: (view) => new PodLook(view),
  searched: ({ pod: { meta, spec } }) => [`${meta.namespace}/${meta.name}`, ...spec.addresses ?? []].join(" "),
  filters: [
    { name: "namespace", of: ({ pod }) => pod.meta.namespace, forPrograms: "a namespace" },
    { name: "node", of: nodeOf, forPrograms: "the name of a node" },
    {
      name: "state",
      of: ({ capture }) => capture.state,
      options: Object.keys(STATES),
      forPrograms: Object.keys(STATES).join(", "),
    },
    { name: "tunnels", of: tunnelsWord, options: ["acknowledged", "waiting", "rejected"] },
  ],
  columns: [
    {
      title: "Pod",
      cell: (row, { describes }) => {
        const { meta: { namespace, name }, spec: { addresses = [] } } = row.pod;
        return [
          { text: `${namespace}/${name}`, link: withQuery("/debug/ambient_pods", { q: `${namespace}/${name}` }) },
          ...addresses.map((mono) => ({ mono })),
          ...describes ? [{ text: "what concerns it", link: podDescriptionUrl(`${namespace}/${name}`) }] : [],
          { dim: nodeOf(row) === "" ? "on no node" : `on ${nodeOf(row)}` },
        ];
      },
    },
    { title: "Captured", cell: ({ capture: { state, why } }) => [STATES[state], { dim: why }] },
    { title: "Tunnels", cell: (row, look) => tunnelsCell(row, look) },
    { title: "Services", cell: servicesCell },
    { title: "Policies", cell: (row, look) => look.policies(row).flatMap(policyCell) },
  ],
};

function nodeOf({ pod }: PodRow): string {
  return pod.spec.running?.nodeName ?? "";
}

function podRows(view: DebugView, query: URLSearchParams): readonly PodRow[] {
  const { facts } = view;
  const rows = facts.list("Pod").filter(({ spec }) => !hasEnded(spec)).map((pod): PodRow => ({
    pod,
    capture: captureOf(pod, facts.get("Namespace", "", pod.meta.namespace)?.meta.labels ?? {}),
  }));
  rows.sort((a, b) => (a.pod.key < b.pod.key ? -1 : 1));
  const policy = query.get("policy");
  if (!policy) return rows;
  const scopes = new TunnelPolicyScopes(view.tunnels);
  const mayList = mayHold(policy);
  return rows.filter(({ pod }) =>
    scopes.isFor(policy, pod.meta.namespace, (name) => {
      const resource = podResource(view, pod.meta.namespace, pod.meta.name);
      return resource !== undefined && mayList(resource) && listsPolicy(resource, name);
    })
  );
}

function listsPolicy(resource: EncodedResource, name: string): boolean {
  const { workload } = decode<istio.workload.Address>("istio.workload.Address", resource.value);
  return workload?.authorization_policies?.includes(name) ?? false;
}

function tunnelsWord(row: PodRow, look: PodLook): string {
  const resource = look.resource(row);
  if (resource === undefined) return "";
  const { wanted, acknowledged, rejected } = look.tunnels.of(resource);
  if (rejected.length > 0) return "rejected";
  return acknowledged === wanted ? "acknowledged" : "waiting";
}

function tunnelsCell(row: PodRow, look: PodLook): Cell {
  const resource = look.resource(row);
  if (resource === undefined) return { dim: "tunnels do not get it" };
  return look.tunnels.size === 0
    ? { tone: "bad", word: "no tunnel is connected" }
    : acksCell(look.tunnels.of(resource));
}

function servicesCell(row: PodRow, look: PodLook): Cell {
  const own = waypointText({ workload: look.workload(row) ?? {} });
  const ofServices = look.services(row).flatMap(([name, bound]) => [
    { text: name.slice(name.indexOf("/") + 1), link: serviceUrl(name) },
    ...bound === undefined ? [] : [
      { text: `waypoint ${bound.binding.waypoint}`, link: objectUrl(`ApiGateway/${bound.binding.waypoint}`) },
      wayCell(bound),
    ],
  ]);
  return own === "" ? ofServices : [...ofServices, { dim: `its own address by the waypoint ${own}` }];
}

function rowJson(row: PodRow, look: PodLook) {
  const { pod: { meta: { namespace, name }, spec }, capture } = row;
  const resource = look.resource(row);
  return {
    ...{ namespace, name, node: nodeOf(row), addresses: spec.addresses ?? [] },
    ...{ state: capture.state, why: capture.why },
    tunnels: resource && { connected: look.tunnels.size, ...look.tunnels.of(resource) },
    waypoint: waypointText({ workload: look.workload(row) ?? {} }) || undefined,
    services: look.services(row).map(([service, bound]) => ({
      service,
      ...bound && { waypoint: bound.binding.waypoint, way: wayOf(bound), why: bound.sentence },
    })),
    policies: look.policies(row),
  };
}
