/**
 * `/debug/sidecarz`: the part of the mesh visible to a proxy by its namespace or its Sidecar: services and rules.
 *
 * @module
 */
import * as z from "zod";
import { paced } from "../kernel/time/paced.ts";
import { LazyList, LazyObject, longJsonResponse } from "../http/json_stream.ts";
import { type HttpResponse, textResponse } from "../http/message.ts";
import type { Scope } from "../mesh/scope.ts";
import type { EffectiveDestinationRule } from "../mesh/types.ts";
import type { Service } from "../registry/types.ts";
import { queried } from "./query.ts";
import { chosenProxy, isAnswer, PROXY_ID, proxyStateOf } from "./select.ts";
import { datedService } from "./world.ts";

/** The services, hosts and rules visible through a scope. */
interface SeenByScope {
  readonly services: Service[];
  /** Hosts by position of the egress listener. */
  readonly byListener: readonly string[][];
  readonly rules: (readonly [host: string, rules: readonly EffectiveDestinationRule[]])[];
}

/**
 * The page, with the fields of Istio's page. `services` has each service in full, and the other fields have only its
 * host. `servicesByHostname` maps the host to the namespace. `egressListenerServices` lists the hosts of each egress
 * listener.
 */
export const sidecarz = queried(
  z.object({ proxyID: PROXY_ID }),
  async (request, view, { proxyID }): Promise<HttpResponse> => {
    const connection = chosenProxy(proxyID, view);
    if (isAnswer(connection)) return connection;
    const state = proxyStateOf(connection, view);
    if (state === undefined) return textResponse(404, `nothing is translated for ${connection.id}\n`);
    const { proxy: { namespace }, proxyClass: { scope } } = state;
    const { services, byListener, rules } = await paced(seenBy(scope), { signal: request.signal });
    const named = services.map(({ hostname, namespace }) => [hostname, namespace] as const);
    const shown = new LazyObject([
      ["version", String(view.xds.ledger.latest)],
      ["name", scope.sidecar?.meta.name ?? NO_SIDECAR],
      ["namespace", scope.sidecar?.meta.namespace ?? namespace],
      ["sidecar", scope.sidecar?.spec],
      ["outboundTrafficPolicy", scope.outboundTrafficPolicy()],
      ["services", LazyList.of(services, datedService)],
      ["egressListenerServices", LazyList.of(byListener, (hosts) => hosts)],
      ["servicesByHostname", new LazyObject(named)],
      ["destinationRules", new LazyObject(rules)],
    ]);
    return longJsonResponse(shown, request);
  },
);

/** The name that Istio's page gives to a scope without a Sidecar. */
const NO_SIDECAR = "default-sidecar";

/** Reads everything visible through a scope, in steps. */
function* seenBy(scope: Scope): Generator<void, SeenByScope> {
  const seen: SeenByScope = { services: [], byListener: scope.egress.map(() => []), rules: [] };
  for (const host of scope.hosts()) {
    yield;
    const service = scope.service(host);
    if (service === undefined) continue;
    seen.services.push(service);
    for (const { index } of scope.egress) if (scope.sees(index, host)) seen.byListener[index]?.push(host);
    const rules = scope.destinationRules(host);
    if (rules.length > 0) seen.rules.push([host, rules]);
  }
  return seen;
}
