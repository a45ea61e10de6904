/**
 * The status that an object of the Gateway API should have, from the verdicts of the derivation, the state of services and
 * the progress of proxies.
 *
 * @module
 */
import type { DerivationReader } from "../../config/derive/derivation.ts";
import { isWritten } from "../../config/derive/reads.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { ConfigObject, Kind } from "../../config/types.ts";
import { externalBackendView } from "../../gateway_api/attach/external_backends.ts";
import { backendTlsView } from "../../gateway_api/attach/policies.ts";
import { backendTrafficView } from "../../gateway_api/attach/traffic_policies.ts";
import type { ApiRoute, AttachOptions, GatewayView, ResolvedBackend } from "../../gateway_api/attach/types.ts";
import { ALL_RESOLVED } from "../../gateway_api/attach/verdicts.ts";
import { parametersMap, parametersProblem } from "../../gateway_api/deploy/overlays.ts";
import { parentKind } from "../../gateway_api/groups/groups.ts";
import type { JudgedRoute } from "../../gateway_api/groups/judged.ts";
import type { GatewayRuntime } from "../../gateway_api/status/assignment.ts";
import { classStatus } from "../../gateway_api/status/classes.ts";
import type { StatusJson } from "../../gateway_api/status/conditions.ts";
import { externalBackendStatus } from "../../gateway_api/status/external_backends.ts";
import { gatewayStatus, programmedVerdict } from "../../gateway_api/status/gateways.ts";
import { listenerSetStatus } from "../../gateway_api/status/listener_sets.ts";
import { countRoutes } from "../../gateway_api/status/listeners.ts";
import { meshStatus } from "../../gateway_api/status/meshes.ts";
import { type PolicyGateway, type PolicyReport, policyStatus } from "../../gateway_api/status/policies.ts";
import { poolStatus } from "../../gateway_api/status/pools.ts";
import { routeStatus } from "../../gateway_api/status/routes.ts";
import type { GatewayApiVerdicts, JudgedGateway } from "../../gateway_api/groups/verdicts.ts";
import type { PatienceOf, WAIT } from "../../gateway_api/status/live.ts";
import type { IsOurs } from "../../gateway_api/status/parents.ts";
import type { GatewayOwner, OwnedObject } from "./gateway_owner.ts";
import type { GatewayApiProgress } from "./gateway_progress.ts";
import { servicesOfGateway } from "./gateway_services.ts";

/** Inputs of statuses. */
export interface GatewayApiWorld {
  readonly store: ConfigStore;
  readonly facts: FactStore;
  readonly verdicts: GatewayApiVerdicts;
  readonly options: AttachOptions;
  /** The mesh configuration in force. */
  readonly mesh: () => MeshConfig;
  /** What proxies have of objects. */
  readonly progress: GatewayApiProgress;
  readonly owner: GatewayOwner;
}

/** A whole status; undefined: the present status is right, or this server does not write the status. */
type Wanted = StatusJson | typeof WAIT | undefined;

/** A status as it was read, and the time and patience of a new one. */
interface StatusInput {
  readonly present: StatusJson;
  readonly now: string;
  readonly patience: PatienceOf;
}

/**
 * The whole status of an object; undefined: the present status is right, or this server does not write the status.
 *
 * @param now RFC 3339.
 */
export function wantedStatus(object: ConfigObject, input: StatusInput, world: GatewayApiWorld): Wanted {
  const { present, now } = input;
  switch (object.kind) {
    case "GatewayClass":
      return classStatus(
        { object: object as ConfigObject<"GatewayClass">, hasFeatures: true },
        world.options,
        present,
        now,
      );
    case "XBackend": {
      const backend = object as ConfigObject<"XBackend">;
      const view = externalBackendView(backend, readerOf(world), world.options);
      return externalBackendStatus({ view, ...policyReport(backend, world) }, present, now);
    }
    case "XMesh":
      return meshStatus(object as ConfigObject<"XMesh">, world.options, present, now);
    case "ApiGateway":
      return ofGateway(object as ConfigObject<"ApiGateway">, input, world);
    case "ListenerSet":
      return ofSet(object as ConfigObject<"ListenerSet">, input, world);
    case "BackendTLSPolicy":
      return ofTlsPolicy(object as ConfigObject<"BackendTLSPolicy">, present, now, world);
    case "XBackendTrafficPolicy":
      return ofTrafficPolicy(object as ConfigObject<"XBackendTrafficPolicy">, present, now, world);
    case "InferencePool":
      return ofPool(object as ConfigObject<"InferencePool">, present, now, world);
    case "HTTPRoute":
    case "GRPCRoute":
    case "TLSRoute":
    case "TCPRoute":
    case "UDPRoute":
      return ofRoute(object as ApiRoute, input, world);
  }
  return undefined;
}

function ofGateway(
  gateway: ConfigObject<"ApiGateway">,
  { present, now, patience }: StatusInput,
  world: GatewayApiWorld,
): Wanted {
  const { verdicts } = world;
  const judged = verdicts.gateway(gateway.key);
  // The verdicts are about another version of the Gateway. Verdicts on this version will follow.
  if (judged?.view.gateway.hash !== gateway.hash) return undefined;
  const view = withParameters({ ...judged.view, gateway }, world.facts);
  const report = { view, runtime: runtimeOf(view, world), attachedRoutes: countRoutes(judged.routes) };
  return gatewayStatus(report, present, now, patience);
}

/** The view of a Gateway whose parameters cannot be used: its proxies are not deployed. */
function withParameters(view: GatewayView, facts: FactStore): GatewayView {
  const { gateway: { meta, spec }, accepted, addressing } = view;
  const map = parametersMap(spec);
  if (accepted.status !== "True" || addressing.by !== "managed" || map === undefined) return view;
  const message = parametersProblem({ spec }, facts.get("ConfigMap", meta.namespace, map));
  if (message === undefined) return view;
  return {
    ...view,
    accepted: { status: "False", reason: "InvalidParameters", message },
    programmed: { status: "False", reason: "Invalid", message },
  };
}

function runtimeOf(view: GatewayView, { facts, progress }: GatewayApiWorld): GatewayRuntime {
  return { services: servicesOfGateway(view, facts), proxies: progress.gateway(view) };
}

function ofSet(
  set: ConfigObject<"ListenerSet">,
  { present, now, patience }: StatusInput,
  world: GatewayApiWorld,
): Wanted {
  const { verdicts, progress } = world;
  const judged = verdicts.gateway(set.key);
  const view = judged?.view.sets.find((one) => one.set.key === set.key);
  if (judged === undefined || view?.set.hash !== set.hash) return undefined;
  const parent = judged.view;
  const gateway = programmedVerdict(parent, runtimeOf(parent, world));
  const proxies = progress.listenerSet(parent, { ...view, set });
  const report = { view: { ...view, set }, attachedRoutes: countRoutes(judged.routes), parent, gateway, proxies };
  return listenerSetStatus(report, present, now, patience);
}

function ofRoute(
  route: ApiRoute,
  { present, now, patience }: StatusInput,
  { verdicts, options, progress, owner }: GatewayApiWorld,
): Wanted {
  const judged = verdicts.route(route.key);
  if (judged.some((one) => one.route.hash !== route.hash)) return undefined;
  const isMesh = ({ at }: JudgedRoute) =>
    at.some(({ ref }) => ["Service", "ServiceEntry"].includes(parentKind(ref) ?? ""));
  const atServices = judged.find(isMesh);
  const atGateways = judged.find((one) => one.at.length > 0 && !isMesh(one));
  return routeStatus(
    {
      route,
      attachments: judged.flatMap(({ at }) => at.filter(({ ref }) => owner.ownsEntry(route, ref)))
        .sort((a, b) => a.index - b.index),
      resolvedRefs: {
        gateway: atGateways?.resolved.resolvedRefs ?? ALL_RESOLVED,
        mesh: atServices?.resolved.resolvedRefs ?? ALL_RESOLVED,
      },
      refused: judged.find(({ rules }) => rules !== undefined)?.rules?.refusals ?? [],
      isOurs: (controller, ref) => isOurController(controller, options) && owner.ownsEntry(route, ref),
      proxies: (at) => progress.route(route, at),
    },
    present,
    now,
    patience,
  );
}

function ofTlsPolicy(
  policy: ConfigObject<"BackendTLSPolicy">,
  present: StatusJson,
  now: string,
  world: GatewayApiWorld,
): StatusJson | undefined {
  const view = backendTlsView(policy, readerOf(world), world.options);
  return policyStatus({ view, ...policyReport(policy, world) }, present, now);
}

function ofTrafficPolicy(
  policy: ConfigObject<"XBackendTrafficPolicy">,
  present: StatusJson,
  now: string,
  world: GatewayApiWorld,
): StatusJson | undefined {
  const { owner, options } = world;
  const view = backendTrafficView(policy, readerOf(world), options);
  // The clients in the mesh follow the policy too, and a target may have no route at a Gateway.
  const ofMesh = owner.ownsLabelled(policy) ? { meshController: options.controllerName } : {};
  return policyStatus({ view, ...policyReport(policy, world), ...ofMesh }, present, now);
}

/** The Gateways of this revision, and which entries of a policy are ours. */
function policyReport(
  policy: OwnedObject,
  { owner, options, verdicts }: GatewayApiWorld,
): Pick<PolicyReport, "gateways" | "isOurs"> {
  const owned = [...verdicts.judgedGateways()].filter((judged) => owner.owns(judged.view.gateway));
  const isOursToo: IsOurs = (controller, ref) => isOurController(controller, options) && owner.ownsEntry(policy, ref);
  return { gateways: owned.map(policyGateway), isOurs: isOursToo };
}

function ofPool(
  pool: ConfigObject<"InferencePool">,
  present: StatusJson,
  now: string,
  { verdicts, options, owner }: GatewayApiWorld,
): StatusJson | undefined {
  const judged = verdicts.pool(pool.key);
  if (judged?.pool.hash !== pool.hash) return undefined;
  const isOursToo: IsOurs = (controller, ref) => isOurController(controller, options) && owner.ownsEntry(pool, ref);
  const parents = judged.parents.filter((parent) => owner.ownsEntry(pool, parent));
  return poolStatus({ ...judged, pool, parents, isOurs: isOursToo }, present, now);
}

/** The hosts of backends, once for each judgement of a Gateway's routes. */
const hostsOf = new WeakMap<JudgedGateway["routes"], ReadonlySet<string>>();

function policyGateway({ view: { gateway, controller }, routes }: JudgedGateway): PolicyGateway {
  let hosts = hostsOf.get(routes);
  if (hosts === undefined) {
    const used = routes.filter(({ at }) => at.some(({ bound }) => bound.length > 0));
    const backends = used.flatMap(({ resolved }) => resolved.rules.flatMap((rule) => rule.backends));
    hostsOf.set(routes, hosts = new Set(backends.flatMap(hostIn)));
  }
  const { namespace, name } = gateway.meta;
  return { namespace, name, controller, hosts };
}

/** The host that a backend is about. An XBackend that is not accepted has a status too. */
function hostIn(backend: ResolvedBackend): readonly string[] {
  const host = backend.host ?? backend.refusedHost;
  return host === undefined ? [] : [host];
}

/** Whether a controller is ours. */
export function isOurController(controller: string, { controllers, controllerName }: AttachOptions): boolean {
  return controller === controllerName || Object.hasOwn(controllers, controller);
}

/** Reads written objects and facts, without a record of the reads. */
function readerOf({ store, facts, mesh }: GatewayApiWorld): DerivationReader {
  return {
    object: (kind, namespace, name) => {
      const found = store.get(kind, namespace, name);
      return found !== undefined && isWritten(found) ? found : undefined;
    },
    objects: <K extends Kind>(kind: K, namespace?: string) =>
      writtenOf(store.list(kind, namespace) as readonly ConfigObject[]) as unknown as ReturnType<
        typeof store.list<K>
      >,
    fact: (kind, namespace, name) => facts.get(kind, namespace, name),
    facts: (kind, namespace) => facts.list(kind, namespace),
    mesh: (field) => mesh()[field],
    members: () => [],
  };
}

/** The written objects of each list: a store gives one list until an object changes. */
const written = new WeakMap<readonly ConfigObject[], readonly ConfigObject[]>();

function writtenOf(list: readonly ConfigObject[]): readonly ConfigObject[] {
  let found = written.get(list);
  if (found === undefined) written.set(list, found = list.every(isWritten) ? list : list.filter(isWritten));
  return found;
}
