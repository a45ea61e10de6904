/**
 * Sidecars that are in force for no workload, and unused imports of the other Sidecars.
 *
 * An import makes clusters, which have no effect by themselves. An import is in force where a listener or a route of
 * the Sidecar's workloads leads to an imported service.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { keyText } from "../finding/object_name.ts";
import { covers, isWildcard } from "../mesh/host_match.ts";
import { type HostImport, importsHost, importsService, parseImports } from "../mesh/imports.ts";
import type { Scope } from "../mesh/scope.ts";
import { MESH_GATEWAY } from "../mesh/sidecar_rules.ts";
import type { EffectiveVirtualService } from "../mesh/types.ts";
import { isVisible } from "../mesh/visibility.ts";
import { parseProtocol } from "../registry/protocol.ts";
import { resolutionOf, type Service } from "../registry/types.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import type { EffectWorld, UnusedPart } from "./judge.ts";
import type { ScopeDestinations } from "./destinations.ts";
import { selectedBy } from "./selecting.ts";

type ImportingSidecar = ConfigObject<"Sidecar">;

type ImportReason = Pick<UnusedPart, "value" | "expected" | "others">;

/** The most services named in a finding. */
const MOST_NAMED = 3;

/** A Sidecar makes no resource of its own, but decides about the resources of its workloads. */
export function judgeSidecar(object: ImportingSidecar, world: EffectWorld): readonly UnusedPart[] {
  world.noteDead();
  const scopes = world.sidecars.get(object.key);
  if (scopes !== undefined) return judgeImports(object, scopes, world);
  const concerned = selectedBy(object, world).filter(({ type }) => profileOf(type).sidecarsApply);
  const [other] = concerned.flatMap(({ scope }) => scope.sidecar?.key ?? []);
  if (concerned.length === 0) return [];
  return [{
    field: "",
    expected: `a Sidecar that decides for some workload${other === undefined ? "" : ` (${keyText(other)} decides)`}`,
    ...(other === undefined ? {} : { others: [other] }),
  }];
}

/** An import of a Sidecar in the scope of some workloads. */
interface ImportOf {
  readonly object: ImportingSidecar;
  /** Position of the egress listener. */
  readonly listener: number;
  /** Position in the egress listener. */
  readonly position: number;
  readonly written: HostImport;
  readonly scope: Scope;
  readonly reached: ScopeDestinations;
}

function judgeImports(
  object: ImportingSidecar,
  scopes: ReadonlySet<Scope>,
  world: EffectWorld,
): readonly UnusedPart[] {
  return (object.spec.egress ?? []).flatMap(({ hosts }, listener) =>
    hosts.flatMap((host, position): UnusedPart[] => {
      const part = judgeImport(object, [listener, position], scopes, world);
      return part === undefined ? [] : [{ field: `spec.egress[${listener}].hosts[${position}]`, value: host, ...part }];
    })
  );
}

/** Undefined: some workload uses the import, or no workload can be judged. */
function judgeImport(
  object: ImportingSidecar,
  [listener, position]: readonly [number, number],
  scopes: ReadonlySet<Scope>,
  world: EffectWorld,
): ImportReason | undefined {
  const { hosts } = object.spec.egress![listener]!;
  const reasons: ImportReason[] = [];
  let isUsed = false;
  for (const scope of scopes) {
    const reached = world.destinationsOf(scope);
    const [written] = parseImports([hosts[position]!], scope.namespace);
    if (reached === undefined || written === undefined) return undefined;
    const one: ImportOf = { object, listener, position, written, scope, reached };
    const name = `${listener}.${position}`;
    const hidden = reached.used.has(`all of ${name}`) ? undefined : hiddenPorts(one, world);
    if (hidden !== undefined) return hidden;
    reached.used.add(`all of ${name}`);
    isUsed ||= reached.used.has(name) || leadsSomewhere(one, world);
    if (isUsed) reached.used.add(name);
    else reasons.push(...reasonOf(one, world));
  }
  return isUsed ? undefined : reasons[0];
}

/** The imported services visible to the workloads. */
function* importedServices({ written, scope }: ImportOf, { mesh }: EffectWorld): Generator<Service> {
  const { services } = mesh;
  const hosts = isWildcard(written.host) ? services.hosts() : [written.host];
  for (const host of hosts) {
    if (services.visible(host, scope.namespace, (one) => importsService([written], one))) {
      const service = scope.service(host);
      if (service !== undefined) yield service;
    }
  }
}

/**
 * Whether a listener or a route of the workloads leads to an imported service, or comes from an imported
 * VirtualService.
 */
function leadsSomewhere(one: ImportOf, world: EffectWorld): boolean {
  const { object, listener, written, scope, reached } = one;
  const { mesh } = world;
  const own = ownPort(object, listener);
  const imports = (by: readonly HostImport[], host: string) =>
    mesh.services.visible(host, scope.namespace, (service) => importsService(by, service)) !== undefined;
  const isReached = own === undefined
    ? reachedHosts(one).some((host) => imports([written], host))
    // Each service with the port is in the listener, even a service whose protocol has no routes. The provider of a
    // Telemetry is used through its cluster. Without this import the workloads might not have the cluster.
    : [...importedServices(one, world)].some(({ ports }) => ports.some(({ port }) => port === own)) ||
      reachedHosts(one).some((host) => imports([written], host) && !imports(othersOf(one), host));
  if (isReached || isOnlyHere(one, world)) return true;
  const isInForce = reached.causes.values().some((cause) => {
    const vs = cause.startsWith("VirtualService/") ? mesh.resolver.effective(cause) : undefined;
    return vs !== undefined && isImported(vs, one);
  });
  return isInForce ||
    own !== undefined &&
      [...mesh.virtualServices.all()].some((vs) => isImported(vs, one) && showsService(vs, own, one, world));
}

/** Whether an import brings a VirtualService. */
function isImported(vs: EffectiveVirtualService, { written, scope }: ImportOf): boolean {
  return vs.gateways.includes(MESH_GATEWAY) && isVisible(vs, scope.namespace) &&
    vs.hosts.some((host) => importsHost([written], vs.namespace, host));
}

/** Whether a listener for a port may have a service because of a VirtualService of the service's host. */
function showsService({ hosts }: EffectiveVirtualService, own: number, one: ImportOf, { mesh }: EffectWorld): boolean {
  const { scope, reached } = one;
  const named = hosts.flatMap((host) =>
    isWildcard(host) ? [...mesh.services.hosts()].filter((of) => covers(host, of)) : [host]
  );
  return named.some((host) => {
    const service = scope.service(host);
    return service !== undefined && reached.causes.has(service.cause) && service.ports.some(({ port }) => port === own);
  });
}

/**
 * Whether a listener or a route is made for a service that the workloads see only by this import. A VirtualService that
 * another import brings may lead the service's connections elsewhere.
 */
function isOnlyHere(one: ImportOf, world: EffectWorld): boolean {
  const { scope, reached: { causes } } = one;
  const others = othersOf(one);
  return importedServices(one, world).some((service) =>
    causes.has(service.cause) &&
    world.mesh.services.visible(service.hostname, scope.namespace, (it) => importsService(others, it)) === undefined
  );
}

/** The other imports of the same Sidecar. */
function othersOf({ object, listener, position, scope }: ImportOf): HostImport[] {
  const all = (object.spec.egress ?? []).flatMap(({ hosts }, at) =>
    hosts.filter((_, index) => at !== listener || index !== position)
  );
  return parseImports(all, scope.namespace);
}

function reachedHosts({ written: { host }, reached }: ImportOf): IteratorObject<string> {
  if (isWildcard(host)) return reached.hosts.values();
  return (reached.hosts.has(host) ? [host] : []).values();
}

/**
 * The reason why nothing leads to the services of an import. Empty when nothing could lead to any service of the
 * import.
 */
function reasonOf(one: ImportOf, world: EffectWorld): ImportReason[] {
  const { object, listener, written } = one;
  const services = [...importedServices(one, world)];
  const served = services.filter(isJudged);
  // A host of several services may be another service's without the import.
  if (served.length === 0 || served.length < services.length) return [];
  if (services.some(({ hostname }) => world.mesh.services.of(hostname).length > 1)) return [];
  const others = served.slice(0, MOST_NAMED).map(({ cause }) => cause);
  const own = ownPort(object, listener);
  const named = served.slice(0, MOST_NAMED).map(({ hostname, ports }) =>
    `${hostname} has ${ports.map(({ port }) => port).join(", ")}`
  ).join("; ");
  const expected = own !== undefined && !served.some(({ ports }) => ports.some(({ port }) => port === own))
    ? `a service with port ${own}, the port of spec.egress[${listener}] (${named})`
    : `a service that a listener or route of the Sidecar's workloads leads to (none leads to ${
      isWildcard(written.host) ? `the imported services: ${named}` : written.host
    })`;
  return [{ expected, others }];
}

/** Whether a service would have a listener or a route without other objects in the way. */
function isJudged(service: Service): boolean {
  const { hostname, externalName, headless, ports } = service;
  return externalName === undefined && !headless && !isWildcard(hostname) &&
    ports.some((port) => port.protocol !== "UDP" && resolutionOf(service, port) !== "passthrough");
}

/** The port of an egress listener that takes this port for itself, if the listener is for services with the port. */
function ownPort({ spec }: ImportingSidecar, listener: number): number | undefined {
  const { number = 0, protocol = "" } = spec.egress?.[listener]?.port ?? {};
  return number === 0 || parseProtocol(protocol) === "HTTP_PROXY" ? undefined : number;
}

/** Ports of imported services that another egress listener takes for itself. Nothing leads to these ports. */
function hiddenPorts(one: ImportOf, world: EffectWorld): ImportReason | undefined {
  const { object, listener, position, scope, reached } = one;
  const { egress = [] } = object.spec;
  if (egress[listener]?.port !== undefined) return undefined;
  const owners = new Map(
    egress.keys().flatMap((at) => {
      const port = ownPort(object, at);
      return port === undefined ? [] : [[port, at] as const];
    }),
  );
  if (owners.size === 0) return undefined;
  const hidden: { readonly service: Service; readonly port: number; readonly owner: number }[] = [];
  for (const service of importedServices(one, world)) {
    if (!isJudged(service)) continue;
    const rules = scope.virtualService(service.hostname, undefined)?.causes ?? [];
    if (rules.some((cause) => reached.causes.has(cause))) continue;
    for (const { port, protocol } of service.ports) {
      const owner = owners.get(port);
      if (owner === undefined || protocol === "UDP" || scope.sees(owner, service.hostname)) continue;
      if (!reached.targets.has(`${service.hostname}:${port}`)) hidden.push({ service, port, owner });
    }
  }
  if (hidden.length === 0) return undefined;
  const shown = hidden.slice(0, MOST_NAMED);
  const more = hidden.length - shown.length;
  const names = shown.map(({ service, port }) => `${service.hostname}:${port}`).join(", ");
  const listeners = new Map(hidden.map(({ owner, port }) => [owner, port]));
  const has = [...listeners].map(([owner, port]) => `spec.egress[${owner}], the only listener for port ${port}`);
  return {
    value: `${names}${more > 0 ? ` and ${more} more` : ""} of ${egress[listener]!.hosts[position]}`,
    expected: `an import in ${has.join(", or in ")}`,
    others: [...new Set(shown.map(({ service }) => service.cause))],
  };
}
