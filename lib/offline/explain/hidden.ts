/**
 * Existing objects about a host that are hidden from a client: the objects are not exported to the client's namespace,
 * or the client's Sidecar omits them.
 *
 * @module
 */
import { isServedBy } from "../../config/kinds/gateway/workloads.ts";
import type { AnyConfigObject, ConfigObject } from "../../config/types.ts";
import type { ProxyOnWay } from "../../debug/explanation.ts";
import { wildcardsOver } from "../../mesh/host_match.ts";
import { importsHost, importsService, parseImports } from "../../mesh/imports.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import type { Scope } from "../../mesh/scope.ts";
import { effectiveExportTo } from "../../mesh/names.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { EffectiveVirtualService } from "../../mesh/types.ts";
import { isVisible } from "../../mesh/visibility.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";

/** The part of a mesh that the search reads. */
export interface AskedMesh {
  readonly mesh: Pick<Mesh, "config" | "services" | "virtualServices" | "destinationRules" | "scope">;
  readonly object: (key: string) => Pick<AnyConfigObject, "kind" | "spec"> | undefined;
}

/** The client that does not see the objects. */
export type SeeingClient = Pick<ProxyOnWay, "namespace" | "labels" | "type">;

/** A sentence for each object, by the object's key. */
export function hiddenObjects(host: string, client: SeeingClient, { mesh, object }: AskedMesh): string[] {
  const names = [host, ...wildcardsOver(host)];
  const scope = mesh.scope(client.namespace, client.labels);
  const { sidecar } = scope;
  const isGateway = profileOf(client.type).gateways;
  const narrowed = isGateway ? undefined : sidecar;
  return [
    // A route imported by a Sidecar brings its destination services along.
    ...(narrowed !== undefined && scope.service(host) !== undefined
      ? []
      : hiddenServices(names, client, narrowed, mesh)),
    ...hiddenRoutes(names, client, narrowed, { mesh, object }),
    ...isGateway ? [] : routesOfOthers(host, scope, mesh),
    ...hiddenRules(host, client, mesh),
  ];
}

type Sidecar = ConfigObject<"Sidecar"> | undefined;

function* hiddenServices(
  names: readonly string[],
  { namespace }: SeeingClient,
  sidecar: Sidecar,
  { services, config }: AskedMesh["mesh"],
): Iterable<string> {
  const all = names.flatMap((name) => services.of(name));
  const exported = (one: (typeof all)[number]) =>
    effectiveExportTo(one.exportTo, one.namespace, config.defaultServiceExportTo);
  const imports = importsOf(sidecar, namespace);
  const sees = (one: (typeof all)[number]) =>
    isVisible({ namespace: one.namespace, exportTo: exported(one) }, namespace) &&
    (imports === undefined || importsService(imports, one));
  if (all.some(sees)) return;
  for (const one of all) {
    const to = exported(one);
    if (!isVisible({ namespace: one.namespace, exportTo: to }, namespace)) {
      yield `${one.cause} has the host ${one.hostname} and is ${
        exportText(to)
      }, so namespace ${namespace} does not see it`;
    } else if (sidecar !== undefined) {
      yield `${one.cause} has the host ${one.hostname}, and ${sidecar.key} of the client does not import it`;
    }
  }
}

function* hiddenRoutes(
  names: readonly string[],
  client: SeeingClient,
  sidecar: Sidecar,
  { mesh, object }: AskedMesh,
): Iterable<string> {
  const { namespace } = client;
  const imports = importsOf(sidecar, namespace);
  for (const one of mesh.virtualServices.all()) {
    const about = one.hosts.find((host) => names.includes(host));
    if (about === undefined || !isFor(one, client, object)) continue;
    const key = one.causes[0] ?? `VirtualService/${one.namespace}/${one.name}`;
    if (!isVisible(one, namespace)) {
      const to = effectiveExportTo(one.exportTo, one.namespace, mesh.config.defaultVirtualServiceExportTo);
      yield `${key} has rules for ${about} and is ${exportText(to)}, so namespace ${namespace} does not see it`;
    } else if (imports !== undefined && !one.hosts.some((host) => importsHost(imports, one.namespace, host))) {
      yield `${key} has rules for ${about}, and ${sidecar?.key} of the client does not import it`;
    }
  }
}

/** Routes at a service of another namespace than the namespace from which the client gets the host. */
function* routesOfOthers(host: string, scope: Scope, { virtualServices }: AskedMesh["mesh"]): Iterable<string> {
  const names = [host, ...wildcardsOver(host)];
  const service = names.map((name) => scope.service(name)).find((one) => one !== undefined);
  if (service === undefined) return;
  for (const one of names.flatMap((name) => virtualServices.forHost(name))) {
    const { serviceNamespace, causes, namespace, name } = one;
    if (!isVisible(one, scope.namespace) || scope.isAboutService(one, host)) continue;
    const key = causes[0] ?? `VirtualService/${namespace}/${name}`;
    yield `${key} has rules for ${host} of namespace ${serviceNamespace}, and the client gets the host from ${service.cause}`;
  }
}

/** Whether the rules are for clients of this sort: for sidecars, or for the client as a gateway. */
function isFor(
  { gateways }: EffectiveVirtualService,
  { labels, namespace, type }: SeeingClient,
  object: AskedMesh["object"],
): boolean {
  if (!profileOf(type).gateways) return gateways.includes(MESH_GATEWAY);
  return gateways.some((full) => {
    const gateway = full === MESH_GATEWAY ? undefined : object(`Gateway/${full}`) as AnyConfigObject | undefined;
    return gateway?.kind === "Gateway" && isServedBy(gateway, { namespace, labels });
  });
}

function* hiddenRules(
  host: string,
  { namespace }: SeeingClient,
  { destinationRules, config }: AskedMesh["mesh"],
): Iterable<string> {
  for (const { namespace: owner, spec: { exportTo }, causes } of destinationRules.anywhere(host)) {
    const to = effectiveExportTo(exportTo, owner, config.defaultDestinationRuleExportTo);
    if (isVisible({ namespace: owner, exportTo: to }, namespace)) continue;
    yield `${causes[0]} is about ${host} and is ${exportText(to)}, so namespace ${namespace} does not see it`;
  }
}

function importsOf(sidecar: Sidecar, namespace: string) {
  const egress = sidecar?.spec.egress ?? [];
  return egress.length === 0 ? undefined : egress.flatMap(({ hosts }) => parseImports(hosts, namespace));
}

function exportText(to: readonly string[]): string {
  return to[0] === "~" ? "exported to nobody" : `exported only to ${to.join(", ")}`;
}
