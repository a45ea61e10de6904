/**
 * Pages about the server's knowledge: objects, services, endpoints, mesh configuration.
 *
 * @module
 */
import { writtenMeshConfig } from "../config/mesh/print.ts";
import { apiVersionOfKind, spellingsOfKind } from "../config/spelling/spelling.ts";
import { type ConfigObject, UNDATED } from "../config/types.ts";
import type { Service } from "../registry/types.ts";
import { LazyObject, longJsonResponse } from "../http/json_stream.ts";
import { type HttpRequest, type HttpResponse, jsonResponse } from "../http/message.ts";
import type { DebugView } from "./view.ts";

/** An object in the form that users write, with its origin. */
export function writtenObject(object: ConfigObject) {
  const { kind, meta, spec, origin } = object;
  const { creationTimestamp, ...metadata } = meta;
  return {
    apiVersion: apiVersionOfKind(kind),
    kind: spellingsOfKind(kind)[0] ?? kind,
    metadata: {
      ...metadata,
      ...(creationTimestamp < UNDATED ? { creationTimestamp: new Date(creationTimestamp).toISOString() } : {}),
    },
    spec,
    origin,
  };
}

/** A service as stored. An undated service has no date field. */
export function datedService({ creationTimestamp, ...service }: Service) {
  return creationTimestamp === UNDATED ? service : { ...service, creationTimestamp };
}

/** `/debug/endpointShardz`: endpoints by service and shard. */
export function endpointShardz(request: HttpRequest, view: DebugView): HttpResponse {
  const parts = [...view.endpoints.entries()].map(([key]) => {
    const slash = key.indexOf("/");
    return { namespace: key.slice(0, slash), host: key.slice(slash + 1), shards: view.endpoints.shards(key) };
  });
  const byHost = Map.groupBy(parts, ({ host }) => host).entries().map(([host, namespaces]) => {
    const shown = namespaces.map(({ namespace, shards }) =>
      [namespace, { Shards: Object.fromEntries(shards) }] as const
    );
    return [host, Object.fromEntries(shown)] as const;
  });
  return longJsonResponse(new LazyObject(byHost), request);
}

/** `/debug/instancesz`: the services at each connected proxy's own addresses. */
export function instancesz(request: HttpRequest, view: DebugView): HttpResponse {
  const instances: Record<string, unknown[]> = {};
  for (const state of view.translator.proxies()) {
    instances[state.proxy.nodeId] = state.targets.map(({ port, servicePort, service }) => ({
      service: service && `${service.namespace}/${service.hostname}`,
      port: servicePort.port,
      protocol: servicePort.protocol,
      targetPort: port,
    }));
  }
  return jsonResponse(instances, request);
}

/** `/debug/mesh`: the mesh configuration in force, in the form of a mesh file. */
export function mesh(request: HttpRequest, view: DebugView): HttpResponse {
  return jsonResponse(writtenMeshConfig(view.mesh), request);
}

/** `/debug/networkz`: the networks as written, and the addresses of each network's gateways. */
export function networkz(request: HttpRequest, view: DebugView): HttpResponse {
  const { networks: { networks: written }, entrances } = view;
  const names = [...new Set([...Object.keys(written), ...entrances.keys()])];
  const shown = names.map((name) => {
    const entered = (entrances.get(name) ?? []).map(({ address, port, hbone, clusterIds }) => {
      return { address, port, ...(hbone && { hbone }), ...(clusterIds && { clusters: clusterIds }) };
    });
    return [name, { ...written[name], entrances: entered }];
  });
  return jsonResponse(Object.fromEntries(shown), request);
}

/** `/debug/clusterz`: the clusters whose services are part of the mesh, and how far each cluster has been read. */
export function clusterz(request: HttpRequest, view: DebugView): HttpResponse {
  return jsonResponse(view.clusters(), request);
}

/** `/debug/mcsz`: services that clusters share with each other, in the form of Istio's page. */
export function mcsz(request: HttpRequest, view: DebugView): HttpResponse {
  const shown = view.shared().map(({ cluster, name, namespace, exported, imported, address, discoverability }) => ({
    ...{ Cluster: cluster, Name: name, Namespace: namespace, Exported: exported, Imported: imported },
    ...{ ClusterSetVIP: address, Discoverability: discoverability },
  }));
  return jsonResponse(shown, request);
}

/** `/debug/deploymentz`: managed Gateways, and those that will get new pods. */
export function deploymentz(request: HttpRequest, view: DebugView): HttpResponse {
  return jsonResponse(view.deployments(), request);
}

/** `/debug/leaderz`: the locks of the server's duties, with the last known leaders. */
export function leaderz(request: HttpRequest, view: DebugView): HttpResponse {
  return jsonResponse(view.leaders(), request);
}
