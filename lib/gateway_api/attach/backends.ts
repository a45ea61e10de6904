/**
 * Backends of routes: each reference becomes a host with a port, or a fault.
 *
 * @module
 */
import type { BackendObjectReference } from "../../config/kinds/kinds.ts";
import { INFERENCE_GROUP } from "../../config/spelling/spelling.ts";
import { externalHost, externalService, isExternal, missingProtocol } from "./external_backends.ts";
import { isPermitted, missingGrant, type ReferenceOrigin, type ReferenceTarget } from "./grants.ts";
import { pickerOf, poolHost, poolPort } from "./pools.ts";
import {
  importedService,
  isVisible,
  type KnownService,
  NETWORKING_GROUPS,
  serviceBehindHost,
  type ServiceClients,
  serviceNamed,
  serviceOfHost,
} from "./services.ts";
import type {
  ApiRoute,
  AttachOptions,
  AttachReader,
  BackendReason,
  ConditionVerdict,
  RefusedBackend,
  ResolvedBackend,
  ResolvedRoute,
  ResolvedRule,
} from "./types.ts";
import { ALL_RESOLVED, fails, faultText, joined } from "./verdicts.ts";

/** The inputs of all references of a route. */
export interface ResolveContext {
  readonly read: AttachReader;
  readonly options: AttachOptions;
  /**
   * Parents of the route. References of mesh routes to other namespaces need no ReferenceGrant: a client of the mesh may
   * call services of other namespaces anyway.
   */
  readonly parents: "gateway" | "mesh";
  /** The namespace of the Gateway's proxies, which must see the backends. Absent: clients may be in any namespace. */
  readonly clients?: string;
  /** `defaultServiceExportTo` of the mesh. Absent: every namespace. */
  readonly defaultExportTo?: readonly string[];
}

/** Resolves all references of a route to backends. */
export function resolve(route: ApiRoute, context: ResolveContext): ResolvedRoute {
  const rules = writtenBackends(route).map(({ backends, mirrors }): ResolvedRule => ({
    backends: backends.map((one) => resolveBackend(one, route, context)),
    mirrors: mirrors.map((one) => resolveBackend({ ...one, isMirror: true }, route, context)),
  }));
  return { rules, resolvedRefs: refsVerdict(rules) };
}

/** A reference to a backend, with its place in the route. */
export interface WrittenBackend {
  /** Path from the spec: `rules[0].backendRefs[1]`. */
  readonly field: string;
  readonly ref: BackendObjectReference & { readonly weight?: number };
  /** Whether the backend gets copies of requests. Default: false. */
  readonly isMirror?: boolean;
}

/** The references of one rule. */
export interface WrittenBackends {
  readonly backends: readonly WrittenBackend[];
  readonly mirrors: readonly WrittenBackend[];
}

/** The fields that rules of all kinds of routes share. */
interface AnyRule {
  readonly backendRefs?: readonly WrittenBackend["ref"][];
  readonly filters?: readonly {
    readonly type: string;
    readonly requestMirror?: { readonly backendRef: BackendObjectReference };
  }[];
}

/** The references of a route to backends, by rule. */
export function writtenBackends(route: ApiRoute): readonly WrittenBackends[] {
  const rules: readonly AnyRule[] = route.spec.rules ?? [];
  return rules.map(({ backendRefs = [], filters = [] }, rule) => ({
    backends: backendRefs.map((ref, at) => ({ field: `rules[${rule}].backendRefs[${at}]`, ref })),
    mirrors: filters.flatMap(({ type, requestMirror }, at) =>
      type === "RequestMirror" && requestMirror
        ? [{ field: `rules[${rule}].filters[${at}].requestMirror.backendRef`, ref: requestMirror.backendRef }]
        : []
    ),
  }));
}

function resolveBackend(
  { field, ref: { weight = 1, ...ref }, isMirror = false }: WrittenBackend,
  route: ApiRoute,
  { read, options, parents, clients, defaultExportTo = [] }: ResolveContext,
): ResolvedBackend {
  const refuse = (reason: BackendReason, part: string, value: unknown, expected: string): RefusedBackend => ({
    ...{ weight, reason, fault: { field: `${field}.${part}`, value, expected } },
  });
  const lookup = lookupOf(ref, route.meta.namespace, options);
  if (lookup === undefined) {
    const expected = isExternal(ref) ? "a Service; an XBackend needs PILOT_ENABLE_ALPHA_GATEWAY_API=true" : "a Service";
    return refuse("InvalidKind", "kind", kindText(ref), expected);
  }
  if (lookup.kind === "pool") {
    const expected = poolProblem({ kind: route.kind, parents, isMirror }, options);
    if (expected !== undefined) return refuse("InvalidKind", "kind", kindText(ref), expected);
  }
  const from: ReferenceOrigin = { kind: route.kind, namespace: route.meta.namespace };
  const target = targetOf(ref, lookup, options);
  // Permission comes before existence: a status must not tell what other namespaces hold.
  if (parents === "gateway" && target !== undefined && !isPermitted(from, target, read)) {
    const [part, value] = lookup.kind === "host"
      ? ["name", ref.name] as const
      : ["namespace", lookup.namespace] as const;
    return refuse("RefNotPermitted", part, value, missingGrant(from, target));
  }
  if (lookup.kind === "pool") return { weight, ...poolBackend(lookup, field, read, options) };
  const service = find(lookup, { namespace: clients ?? route.meta.namespace, defaultExportTo }, read, options);
  if (service === undefined) {
    const refused = refuse("BackendNotFound", "name", ref.name, existing(lookup));
    const isThere = lookup.kind === "external" && read.object("XBackend", lookup.namespace, lookup.name) !== undefined;
    return isThere ? { ...refused, refusedHost: externalHost(lookup) } : refused;
  }
  if (clients !== undefined && !isVisible(service, clients, defaultExportTo)) {
    const expected = `a service that is exported to namespace ${clients} of the Gateway (${service.host} is not)`;
    return refuse("BackendNotFound", "name", ref.name, expected);
  }
  const protocol = lookup.kind === "external" ? missingProtocol(lookup, route.kind, read) : undefined;
  if (protocol !== undefined) return refuse("UnsupportedProtocol", "name", ref.name, protocol);
  // An XBackend has one port.
  const port = lookup.kind === "external" ? ref.port ?? service.ports?.[0]?.number : ref.port;
  const wrong = portFault(service, port, route.kind === "UDPRoute" ? "UDP" : "TCP");
  if (wrong !== undefined) return refuse(wrong.reason, "port", port, wrong.expected);
  const { kind, namespace, name } = service;
  return { host: service.host, port: port!, weight, target: { kind, namespace, name } };
}

function kindText({ group, kind }: BackendObjectReference): string {
  return group === "" ? kind : `${kind}.${group}`;
}

/** What is expected in place of an InferencePool; undefined: a pool may be there. */
function poolProblem(
  { kind, parents, isMirror }: {
    readonly kind: ApiRoute["kind"];
    readonly parents: ResolveContext["parents"];
    readonly isMirror: boolean;
  },
  { inferencePools }: AttachOptions,
): string | undefined {
  if (!inferencePools) return "a Service, or ENABLE_GATEWAY_API_INFERENCE_EXTENSION=true";
  if (kind !== "HTTPRoute") return "a Service: only an HTTPRoute leads to an InferencePool";
  if (isMirror) return "a Service: nobody picks an endpoint for the copy of a request";
  return parents === "mesh" ? "a Service: only routes at Gateways lead to an InferencePool" : undefined;
}

/** A pool as a backend. The port of the reference does not count. */
function poolBackend(
  { namespace, name }: BackendLookup,
  field: string,
  read: AttachReader,
  options: AttachOptions,
): PoolBackend {
  const refuse = (expected: string): PoolBackend => ({
    ...{ reason: "BackendNotFound", fault: { field: `${field}.name`, value: name, expected } },
  });
  const pool = read.object("InferencePool", namespace, name);
  if (pool === undefined) return refuse(`an InferencePool that exists (${namespace}/${name} does not)`);
  const { picker, fault } = pickerOf(pool, read, options);
  if (fault !== undefined) return refuse(`an InferencePool with an endpoint picker (${faultText(fault)})`);
  return {
    ...{ host: poolHost({ namespace, name }), port: poolPort(pool), picker },
    target: { kind: "InferencePool" as const, namespace, name },
  };
}

/** A backend without its weight. */
type PoolBackend = WithoutWeight<ResolvedBackend>;

type WithoutWeight<T> = T extends unknown ? Omit<T, "weight"> : never;

/** What is expected in place of the name of a backend that does not exist. */
function existing({ kind, namespace, name }: BackendLookup): string {
  if (kind === "host") return "the host name of a Service or ServiceEntry that exists";
  if (kind === "external") return `an XBackend that exists and is accepted (${namespace}/${name} is not)`;
  return `a ${kind === "import" ? "ServiceImport" : "Service"} that exists (${namespace}/${name} does not)`;
}

/** Where a reference leads. */
interface BackendLookup {
  readonly kind: "service" | "host" | "import" | "pool" | "external";
  readonly namespace: string;
  readonly name: string;
}

/** Where a reference leads; undefined: its kind is not supported. */
function lookupOf(
  { group, kind, namespace, name }: BackendObjectReference,
  ofRoute: string,
  { experimental }: AttachOptions,
): BackendLookup | undefined {
  const at = { namespace: namespace ?? ofRoute, name };
  if (group === "" && kind === "Service") return { kind: "service", ...at };
  if (NETWORKING_GROUPS.includes(group) && kind === "Hostname") return { kind: "host", ...at };
  if (group === "multicluster.x-k8s.io" && kind === "ServiceImport") return { kind: "import", ...at };
  if (group === INFERENCE_GROUP && kind === "InferencePool") return { kind: "pool", ...at };
  if (isExternal({ group, kind }) && experimental) return { kind: "external", ...at };
  return undefined;
}

/**
 * The object that may need a ReferenceGrant; undefined: a host outside of the cluster. The host name of a Service means
 * the Service: otherwise the name would be a way around the grant.
 */
function targetOf(
  { group, kind, name }: BackendObjectReference,
  lookup: BackendLookup,
  options: AttachOptions,
): ReferenceTarget | undefined {
  if (lookup.kind !== "host") return { group, kind, namespace: lookup.namespace, name };
  const meant = serviceBehindHost(name, options);
  return meant && { group: "", kind: "Service", ...meant };
}

function find(
  lookup: BackendLookup,
  clients: ServiceClients,
  read: AttachReader,
  options: AttachOptions,
): KnownService | undefined {
  switch (lookup.kind) {
    case "pool":
      return undefined;
    case "service":
      return serviceNamed(lookup, read, options);
    case "host":
      return serviceOfHost(lookup.name, clients, read, options);
    case "import":
      return importedService(lookup, read, options);
    case "external":
      return externalService(lookup, read, options);
  }
}

/** Why a service does not take the traffic of a route on a port; undefined: the service takes the traffic. */
function portFault(
  { host, ports }: KnownService,
  port: number | undefined,
  transport: "TCP" | "UDP",
): { readonly reason: BackendReason; readonly expected: string } | undefined {
  if (port === undefined) return { reason: "BackendNotFound", expected: `a port of ${host}` };
  if (ports === undefined) return undefined;
  const found = ports.filter(({ number }) => number === port);
  if (found.some((one) => one.transport === transport)) return undefined;
  const usable = ports.filter((one) => one.transport === transport).map(({ number }) => number).join(", ");
  const expected = `a ${transport} port of ${host} (${usable === "" ? "there is none" : usable})`;
  return { reason: found.length === 0 ? "BackendNotFound" : "UnsupportedProtocol", expected };
}

/** The verdict on all references. The first fault gives the reason. */
function refsVerdict(rules: readonly ResolvedRule[]): ConditionVerdict {
  const refused = rules.flatMap(({ backends, mirrors }) => [...backends, ...mirrors]).flatMap((one) =>
    one.host === undefined ? [one] : []
  );
  const [first] = refused;
  if (first === undefined) return ALL_RESOLVED;
  return fails(first.reason, joined(refused.map(({ fault }) => faultText(fault))));
}
