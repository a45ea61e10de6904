/**
 * Pages about authorization policies and the other inputs of a push beside services: the ways into networks.
 *
 * @module
 */
import { LazyList, LazyObject, longJsonResponse } from "../http/json_stream.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import type { AuthorizationPolicy } from "../mesh/authorization_policy.ts";
import { selectionOf } from "../mesh/selection/selection.ts";
import type { NetworkEntrance } from "../registry/types.ts";
import { objectsByNamespace } from "./by_namespace.ts";
import { objectUrl } from "./links.ts";
import type { DescribedList } from "./list_page.ts";
import { policyWorkload } from "./policy_workload.ts";
import { chosenProxy, isAnswer, PROXY_ID, proxyStateOf } from "./select.ts";
import type { DebugView } from "./view.ts";

/**
 * `/debug/authorizationz`: the authorization policies by namespace, the oldest first, in the form of Istio's page. The
 * query `proxyID` leaves only the policies for a single proxy.
 */
export const POLICIES: DescribedList<AuthorizationPolicy, DebugView> = {
  title: "Authorization policies",
  noun: "policy",
  none: "The mesh has no authorization policy here.",
  query: { proxyID: PROXY_ID.optional() },
  rows: (view, query) => {
    const proxyID = query.get("proxyID");
    return proxyID === null ? view.store.list("AuthorizationPolicy") : policiesOf(proxyID, view);
  },
  people: (policies) => policies.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
  json: (policies, view) => new LazyObject([["authorization_policies", policiesByNamespace(policies, view)]]),
  look: (view) => view,
  searched: ({ key }) => key,
  filters: [
    { name: "namespace", of: ({ meta }) => meta.namespace },
    { name: "action", of: ({ spec }) => spec.action },
  ],
  columns: [
    { title: "Name", cell: ({ key, meta }) => ({ text: meta.name, link: objectUrl(key) }) },
    { title: "Namespace", cell: ({ meta }) => meta.namespace },
    { title: "Action", cell: ({ spec }) => spec.action },
    { title: "Rules", cell: ({ spec }) => spec.rules?.length ?? 0 },
    { title: "For", cell: (policy, { mesh }) => workloadsOf(policy, mesh.rootNamespace) },
  ],
};

/** The policies for a proxy, found by a part of its connection id; or the answer that says why there are none. */
function policiesOf(proxyID: string, view: DebugView): readonly AuthorizationPolicy[] | HttpResponse {
  const connection = chosenProxy(proxyID, view);
  if (isAnswer(connection)) return connection;
  const state = proxyStateOf(connection, view);
  if (state === undefined) return [];
  const workload = policyWorkload(state, view);
  const { layersPolicies, mesh: { authorizationPolicies } } = view.translator;
  const targeted = authorizationPolicies.of(workload);
  if (workload.ofWaypoint === undefined || !layersPolicies) return targeted;
  return [...authorizationPolicies.layered(workload), ...targeted];
}

/** Policies by namespace, in the form of Istio's pages. */
function policiesByNamespace(policies: readonly AuthorizationPolicy[], { mesh }: DebugView): LazyObject {
  return objectsByNamespace("namespace_to_policies", policies, mesh.rootNamespace);
}

/** The workloads of a policy, in words. */
function workloadsOf(policy: AuthorizationPolicy, rootNamespace: string): string {
  const { labels, targets } = selectionOf(policy);
  if (targets.length > 0) return targets.map(({ kind, name }) => `${kind} ${name}`).join(", ");
  const chosen = Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(", ");
  const where = policy.meta.namespace === rootNamespace ? "all namespaces" : "its namespace";
  return `${chosen || "all workloads"} of ${where}`;
}

/**
 * `/debug/pushcontext`: the inputs of a push beside services, in the form of Istio's page: authorization policies, the
 * ways into networks by address, and the same before the names of gateways are resolved.
 */
export function pushContext(request: HttpRequest, view: DebugView): HttpResponse {
  const context = new LazyObject([
    ["AuthorizationPolicies", policiesByNamespace(view.store.list("AuthorizationPolicy"), view)],
    ["NetworkGateways", gateways([...view.entrances.values()].flat())],
    ["UnresolvedGateways", gateways(view.namedEntrances)],
  ]);
  return longJsonResponse(context, request);
}

/** An entrance for each of its clusters. An entrance without known clusters has one entry without a cluster. */
function gateways(entrances: readonly NetworkEntrance[]): LazyList {
  const each = entrances.flatMap(({ network, address, port, hbone, clusterIds = [""] }) =>
    clusterIds.map((cluster) => ({
      ...{ Network: network, Cluster: cluster, Addr: address },
      ...(hbone ? { HBONEPort: port } : { Port: port }),
    }))
  );
  return LazyList.of(each, (gateway) => gateway);
}
