/**
 * Pages about what the server knows: objects, services, endpoints, mesh configuration.
 *
 * @module
 */
import { KINDS } from "../config/kinds/mod.ts";
import { groupOfKind } from "../config/spelling.ts";
import { type ConfigObject, UNDATED } from "../config/types.ts";
import type { Service } from "../registry/types.ts";
import { type Answer, type Ask, json } from "./http.ts";
import type { DebugView } from "./view.ts";

/** `/debug/configz`: all objects, in the form that users write, with where they were written. */
export function configz(ask: Ask, view: DebugView): Answer {
  return json(KINDS.flatMap((kind) => view.store.list(kind).map(written)), ask);
}

function written(object: ConfigObject) {
  const { kind, meta, spec, origin } = object;
  const { creationTimestamp, ...metadata } = meta;
  return {
    apiVersion: `${groupOfKind(kind)}.mesh.io/v1`,
    kind,
    metadata: {
      ...metadata,
      ...(creationTimestamp !== UNDATED ? { creationTimestamp: new Date(creationTimestamp).toISOString() } : {}),
    },
    spec,
    origin,
  };
}

/** `/debug/resourcesz`: the kinds that are read. */
export function resourcesz(ask: Ask, _view: DebugView): Answer {
  return json(KINDS.map((kind) => `${groupOfKind(kind)}.mesh.io/v1/${kind}`), ask);
}

/** `/debug/problemz`: what is wrong with configuration now. */
export function problemz(ask: Ask, view: DebugView): Answer {
  return json([...view.findings()], ask);
}

/** `/debug/registryz`: all services, with the date (ms since the epoch) of those that have one. */
export function registryz(ask: Ask, view: DebugView): Answer {
  const services = [...view.services.services()];
  services.sort((a, b) => (`${a.hostname}/${a.namespace}` < `${b.hostname}/${b.namespace}` ? -1 : 1));
  const dated = ({ creationTimestamp, ...service }: Service) =>
    creationTimestamp === UNDATED ? service : { ...service, creationTimestamp };
  return json(services.map(dated), ask);
}

/** `/debug/endpointShardz`: endpoints by service and shard. */
export function endpointShardz(ask: Ask, view: DebugView): Answer {
  const shards: Record<string, Record<string, { Shards: Record<string, unknown> }>> = {};
  for (const [key] of view.endpoints.entries()) {
    const slash = key.indexOf("/");
    const host = key.slice(slash + 1);
    (shards[host] ??= {})[key.slice(0, slash)] = { Shards: Object.fromEntries(view.endpoints.shards(key)) };
  }
  return json(shards, ask);
}

/** `/debug/instancesz`: the services at each connected proxy's own addresses. */
export function instancesz(ask: Ask, view: DebugView): Answer {
  const instances: Record<string, unknown[]> = {};
  for (const state of view.translator.proxies()) {
    instances[state.proxy.nodeId] = state.targets.map(({ port, servicePort, service }) => ({
      service: service && `${service.namespace}/${service.hostname}`,
      port: servicePort.port,
      protocol: servicePort.protocol,
      targetPort: port,
    }));
  }
  return json(instances, ask);
}

/** `/debug/mesh`: the mesh configuration in force. */
export function mesh(ask: Ask, view: DebugView): Answer {
  return json(view.mesh, ask);
}

/** `/debug/networkz`: networks and their gateways. */
export function networkz(ask: Ask, view: DebugView): Answer {
  return json(view.networks.networks, ask);
}
