/**
 * A translator with a mesh of its own, over the reports of registries.
 *
 * @module
 */
import type { MeshConfig, MeshNetworks } from "../../config/mesh/types.ts";
import { Mesh } from "../../mesh/mesh.ts";
import type { Aggregate } from "../../registry/aggregate.ts";
import type { EndpointIndex } from "../../registry/endpoint_index.ts";
import { knownWorkload } from "../../registry/known_workload.ts";
import type { Proxy } from "../../translate/proxy/node.ts";
import { type ProxyPlace, serviceTargets } from "../../registry/inbound.ts";
import type { ResourceTable } from "../../resource/set.ts";
import { Translator } from "../../translate/machine/translator.ts";
import type { PipelineOptions } from "./options.ts";

/** Inputs of a translator beside the options of the pipeline. */
export interface TranslatorParts {
  readonly config: MeshConfig;
  readonly networks: MeshNetworks;
  readonly aggregate: Aggregate;
  readonly endpoints: EndpointIndex;
  readonly table: ResourceTable;
}

/** @param failed Called with results that could not be built, beside the callback in the options. */
export function newTranslator(
  { config, networks, aggregate, endpoints, table }: TranslatorParts,
  { settings, caches, enhancedDestinationRuleMerge, tokenKeys, buildFailed, results, indexes, staged }: PipelineOptions,
  failed: (what: string, error: unknown) => void,
): Translator {
  const mesh = new Mesh({
    config,
    networks,
    domainSuffix: settings.domainSuffix,
    source: {
      service: (key) => aggregate.service(key),
      endpoints: (key) => endpoints.endpoints(key),
      workloads: () => aggregate.allWorkloads(),
      workloadsAt: (address) => aggregate.workloadsAt(address),
    },
    tokenKeys,
    scopeGatewayToNamespace: settings.scopeGatewayToNamespace,
    gatewaySelectors: settings.gatewaySelectors,
    waypoints: settings.waypoints,
    ingressWaypoints: settings.ingressWaypoints ? settings : undefined,
    multiNetwork: settings.multiNetwork ? settings : undefined,
    sharedScopes: caches.all,
    enhancedDestinationRuleMerge,
    ...indexes && { indexes },
  });
  return new Translator({
    mesh,
    settings,
    table,
    caches,
    ...results && { results },
    failed: (kind, name, error) => {
      failed(`${kind.name} ${name}`, error);
      buildFailed(kind, name, error);
    },
    candidates: staged && {
      of: ({ nodeId }) => staged.candidatesOf(nodeId),
      fork: (name) => staged.fork(name),
    },
    targetsOf: (proxy) => serviceTargets(placeOf(proxy), endpoints, aggregate),
    knownOf: (proxy) => knownWorkload(placeOf(proxy), endpoints, aggregate),
  });
}

function placeOf({ addresses, namespace, id, properties: { clusterId } }: Proxy): ProxyPlace {
  return { addresses, namespace, clusterId, pod: `pod/${id.namespace}/${id.name}` };
}
