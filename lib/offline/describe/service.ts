/**
 * A service with everything that decides about its traffic: ports, destination rules, routes, gateways, waypoint.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type {
  DescribedGateway,
  DescribedPort,
  DescribedRule,
  DescribedService,
  DescribedSubset,
  DescribedWaypoint,
} from "../../debug/description.ts";
import { unboundText, waypointBinding, wayText } from "../../ambient/binding.ts";
import { writtenKey } from "../../finding/origin.ts";
import { covers } from "../../mesh/host_match.ts";
import { fullHost } from "../../mesh/names.ts";
import type { EffectiveDestinationRule } from "../../mesh/types.ts";
import type { Labels } from "../../registry/labels.ts";
import { protocolText } from "../../registry/protocol.ts";
import { type Endpoint, type Service, serviceKey } from "../../registry/types.ts";
import { type KeyedPart, spelledKey } from "./parts.ts";
import { describedRoutes } from "./routes.ts";
import type { DescribedWorld } from "./world.ts";

/** Describes a service. @param pod labels of the described pod; absent: no pod is described */
export function describedService(service: Service, world: DescribedWorld, pod?: Labels): KeyedPart<DescribedService> {
  const { endpoints } = world;
  const placed = endpoints.endpoints(serviceKey(service));
  const waypoint = waypointOf(service, world);
  const rules = destinationRules(service, world, placed, pod);
  const routes = describedRoutes(service, world, pod);
  const part: DescribedService = {
    host: service.hostname,
    namespace: service.namespace,
    object: spelledKey(service.cause, world),
    ports: service.ports.map((port): DescribedPort => ({
      ...{ name: port.name, port: port.port, protocol: protocolText(port.protocol) },
      targets: [...new Set(placed.filter(({ portName }) => portName === port.name).map((one) => one.port))]
        .sort((a, b) => a - b),
    })),
    ...waypoint === undefined ? {} : { waypoint },
    rules: rules.part,
    routes: routes.part,
    gateways: routes.part.flatMap(({ gateways }) => gateways).filter((name) => name !== "mesh")
      .filter((name, at, all) => all.indexOf(name) === at)
      .map((name) => describedGateway(name, world)),
  };
  const ofWaypoint = waypoint === undefined ? [] : [`ApiGateway/${waypoint.name}`];
  return {
    part,
    keys: [service.cause, ...service.otherCauses ?? [], ...ofWaypoint, ...rules.keys, ...routes.keys],
  };
}

/** The waypoint that a service asks for; undefined: none. */
export function waypointOf({ cause }: Service, world: DescribedWorld): DescribedWaypoint | undefined {
  const [kind, namespace = "", name = ""] = cause.split("/");
  const object = kind === "Service"
    ? world.facts.get("Service", namespace, name)
    : kind === "ServiceEntry"
    ? world.store.get("ServiceEntry", namespace, name)
    : undefined;
  const binding = object && waypointBinding(object, world.bindings);
  if (binding === undefined) return undefined;
  const why = unboundText(binding, namespace);
  const text = why === "" ? wayText(binding) : `${why}. ${wayText(binding)}`;
  return { name: binding.waypoint, way: binding.way, text };
}

/** The rules whose host covers the service's, in force or not. */
function destinationRules(
  service: Service,
  world: DescribedWorld,
  placed: readonly Endpoint[],
  pod: Labels | undefined,
): KeyedPart<DescribedRule[]> {
  const inForce = world.mesh.scope(service.namespace).destinationRules(service.hostname);
  const used = new Set(inForce.flatMap(({ causes }) => causes));
  const written = world.store.list("DestinationRule").filter(({ spec, meta }) =>
    covers(fullHost(spec.host, meta.namespace, world.domain), service.hostname)
  );
  const others = written.filter(({ key }) => !used.has(key));
  const rule = (
    object: string,
    isUsed: boolean,
    { subsets = [], trafficPolicy }: EffectiveDestinationRule["spec"],
  ) => ({
    object,
    inForce: isUsed,
    subsets: subsets.map((subset): DescribedSubset => ({
      ...{ name: subset.name, labels: subset.labels ?? {} },
      ...pod === undefined ? {} : { matches: carriesLabels(pod, subset.labels ?? {}) },
      endpoints: placed.filter(({ labels }) => carriesLabels(labels, subset.labels ?? {})).length,
    })),
    policy: policyWords(trafficPolicy),
  });
  return {
    part: [
      ...inForce.map(({ causes, spec }) => rule(causes.map((key) => spelledKey(key, world)).join(", "), true, spec)),
      ...others.map((object) => rule(writtenKey(object), false, object.spec)),
    ],
    keys: [...used, ...others.map(({ key }) => key)],
  };
}

/** The settings of a traffic policy. */
function policyWords(policy: EffectiveDestinationRule["spec"]["trafficPolicy"]): string[] {
  return Object.entries(policy ?? {}).filter(([, value]) => value !== undefined).map(([name]) =>
    name === "tls" && policy?.tls?.mode !== undefined ? `tls ${policy.tls.mode}` : name
  );
}

/** A Gateway `namespace/name`. */
export function describedGateway(name: string, { store }: Pick<DescribedWorld, "store">): DescribedGateway {
  const [namespace = "", short = ""] = name.split("/");
  const object = store.get("Gateway", namespace, short);
  if (object === undefined) return { object: `Gateway/${name}`, servers: ["there is no such Gateway"] };
  const servers = object.spec.servers ?? [];
  return {
    object: writtenKey(object),
    servers: servers.map(({ port, hosts = [], tls }) => {
      const mode = tls?.mode === undefined ? "" : `, TLS ${tls.mode}`;
      return `${port?.protocol ?? ""} ${port?.number ?? ""} for ${hosts.join(", ")}${mode}`.trim();
    }),
  };
}
