/**
 * Pages about the inputs of a push beside services: authorization policies, and the ways into networks.
 *
 * @module
 */
import * as z from "zod";
import { LazyList, LazyObject, longJsonResponse } from "../http/json_stream.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import type { AuthorizationPolicy } from "../mesh/authorization_policy.ts";
import type { NetworkEntrance } from "../registry/types.ts";
import { objectsByNamespace } from "./by_namespace.ts";
import { queried } from "./query.ts";
import { chosenProxy, isAnswer, PROXY_ID, proxyStateOf } from "./select.ts";
import type { DebugView } from "./view.ts";

/**
 * `/debug/authorizationz`: the authorization policies by namespace, of each the oldest first, in the form of Istio's page;
 * with `proxyID` those that are for one proxy.
 */
export const authorizationz = queried(
  z.object({ proxyID: PROXY_ID.optional() }),
  (request, view, { proxyID }): HttpResponse => {
    const policies = proxyID === undefined ? view.store.list("AuthorizationPolicy") : policiesOf(proxyID, view);
    if ("status" in policies) return policies;
    return longJsonResponse(new LazyObject([["authorization_policies", byNamespace(policies, view)]]), request);
  },
);

/** The policies for the proxy whose connection id has this part, or the answer that says why there is none. */
export function policiesOf(proxyID: string, view: DebugView): readonly AuthorizationPolicy[] | HttpResponse {
  const connection = chosenProxy(proxyID, view);
  if (isAnswer(connection)) return connection;
  const state = proxyStateOf(connection, view);
  if (state === undefined) return [];
  const { namespace, properties: { labels } } = state.proxy;
  return view.translator.mesh.authorizationPolicies.of({ namespace, labels });
}

function byNamespace(policies: readonly AuthorizationPolicy[], { mesh }: DebugView): LazyObject {
  return objectsByNamespace("namespace_to_policies", policies, mesh.rootNamespace);
}

/**
 * `/debug/pushcontext`: the inputs of a push beside services, in the form of Istio's page: authorization policies, the
 * ways into networks by address, and the same before the names of gateways are resolved.
 */
export function pushContext(request: HttpRequest, view: DebugView): HttpResponse {
  const context = new LazyObject([
    ["AuthorizationPolicies", byNamespace(view.store.list("AuthorizationPolicy"), view)],
    ["NetworkGateways", gateways([...view.entrances.values()].flat())],
    ["UnresolvedGateways", gateways(view.namedEntrances)],
  ]);
  return longJsonResponse(context, request);
}

/** An entrance for each of its clusters; of one without the cluster is not known. */
function gateways(entrances: readonly NetworkEntrance[]): LazyList {
  const each = entrances.flatMap(({ network, address, port, clusterIds = [""] }) =>
    clusterIds.map((cluster) => ({ Network: network, Cluster: cluster, Addr: address, Port: port }))
  );
  return LazyList.of(each, (gateway) => gateway);
}
