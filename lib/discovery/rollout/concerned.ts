/**
 * The connected proxies that a rollout concerns, by the settled version and the candidate of the object.
 *
 * @module
 */
import { type AnyConfigObject, type ConfigObject, isKind } from "../../config/types.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import { effectiveExportTo, fullGateway, fullHost } from "../../mesh/names.ts";
import type { Scope } from "../../mesh/scope.ts";
import { SelectionIndex } from "../../mesh/selection/index.ts";
import { isSelecting, type SelectingKind, selectsGateways } from "../../mesh/selection/selection.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import { isVisible } from "../../mesh/visibility.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import type { Translator } from "../../translate/machine/translator.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";

/** Whether a version of an object concerns a proxy. */
type Concerns = (state: ProxyState) => boolean;

/** The ids of the connected proxies that some version of an object concerns. */
export function concernedNodes(versions: readonly AnyConfigObject[], translator: Translator): Set<string> {
  const tests = versions.map((object) => concernOf(object, translator.mesh));
  const found = new Set<string>();
  for (const state of translator.proxies()) if (tests.some((test) => test(state))) found.add(state.proxy.nodeId);
  return found;
}

function concernOf(object: AnyConfigObject, mesh: Mesh): Concerns {
  if (isSelecting(object.kind)) return bySelection(object as ConfigObject<SelectingKind>, mesh);
  if (isKind(object, "VirtualService")) return byRoutes(object, mesh);
  if (isKind(object, "DestinationRule")) {
    const seen = visibleTo(object, object.spec.exportTo, mesh.config.defaultDestinationRuleExportTo);
    const host = fullHost(object.spec.host, object.meta.namespace, mesh.domainSuffix);
    return (state) => seen(state) && mayUse(state.proxyClass.scope, host, mesh);
  }
  return () => true;
}

function bySelection(object: ConfigObject<SelectingKind>, mesh: Mesh): Concerns {
  const { rootNamespace } = mesh.config;
  const selects = selectsGateways(object.kind, mesh.gatewaySelectors);
  const index = new SelectionIndex<SelectingKind>(rootNamespace, selects, object.kind === "Telemetry");
  index.update([], [object]);
  return ({ proxy: { properties } }) => {
    // Policies for what is behind a waypoint select the waypoint only by its namespace here: one proxy more is harmless.
    const { root, namespace, workload } = index.select(mesh.gatewayTargets.of(properties));
    return root.length + namespace.length + workload.length > 0 || profileOf(properties.type).waypoint;
  };
}

function byRoutes({ meta, spec }: ConfigObject<"VirtualService">, mesh: Mesh): Concerns {
  const seen = visibleTo({ meta }, spec.exportTo, mesh.config.defaultVirtualServiceExportTo);
  const hosts = (spec.hosts ?? []).map((host) => fullHost(host, meta.namespace, mesh.domainSuffix));
  const gateways = new Set(
    (spec.gateways?.length ? spec.gateways : [MESH_GATEWAY]).map((name) => fullGateway(name, meta.namespace)),
  );
  return (state) => {
    const { properties, namespace } = state.proxy;
    if (profileOf(properties.type).gateways) {
      // A delegate has neither hosts nor gateways: its roots decide.
      return hosts.length === 0 || mesh.gateways.select(namespace, properties.labels)
        .some(({ meta: { namespace: of, name } }) => gateways.has(`${of}/${name}`));
    }
    if (hosts.length === 0) return true;
    return gateways.has(MESH_GATEWAY) && seen(state) &&
      hosts.some((host) => mayUse(state.proxyClass.scope, host, mesh));
  };
}

function visibleTo(
  { meta: { namespace } }: Pick<ConfigObject, "meta">,
  exportTo: readonly string[] | undefined,
  defaults: readonly string[],
): Concerns {
  const exported = { namespace, exportTo: effectiveExportTo(exportTo, namespace, defaults) };
  return ({ proxy }) => isVisible(exported, proxy.namespace);
}

/** Whether a Sidecar leaves a host in view. A host without a service may come into view with the object itself. */
function mayUse(scope: Scope, host: string, { services }: Mesh): boolean {
  return host.includes("*") || !services.has(host) || scope.service(host) !== undefined;
}
