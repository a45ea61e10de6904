/**
 * The reason why no proxy has a rule of a VirtualService, as far as known.
 *
 * @module
 */
import type { EffectiveVirtualService, RuleProtocol } from "../mesh/types.ts";
import { MESH_GATEWAY } from "../mesh/sidecar_rules.ts";
import { parseProtocol, protocolText } from "../registry/protocol.ts";
import type { Service } from "../registry/types.ts";
import { isTls, listenerKind } from "../translate/service/protocol.ts";
import { keyText } from "../finding/object_name.ts";
import type { EffectWorld, UnusedPart } from "./judge.ts";

type Reason = Pick<UnusedPart, "expected" | "others">;

/** @param match Position of the match; absent: the rule as a whole. */
export function reasonOfRule(
  list: RuleProtocol,
  at: number,
  vs: EffectiveVirtualService,
  world: EffectWorld,
  match?: number,
): Reason {
  const matches = vs.httpOrigins === undefined ? vs.spec[list]?.[at]?.match ?? [] : [];
  const ports = matches.filter((_, position) => match === undefined || position === match).map(({ port }) => port);
  const port = new Set(ports).size === 1 ? ports[0] : undefined;
  return ofSidecars(list, port, vs, world) ?? ofGateways(list, port, vs, world) ?? {
    expected: `a rule that reaches some proxy (no proxy has the rule${
      at > 0 ? ": earlier rules may take all its requests" : ""
    })`,
  };
}

function ofSidecars(
  list: RuleProtocol,
  port: number | undefined,
  vs: EffectiveVirtualService,
  world: EffectWorld,
): Reason | undefined {
  if (!vs.gateways.includes(MESH_GATEWAY)) return undefined;
  return hiddenBy(list, vs, world) ?? ofServices(list, port, vs, world);
}

/** Another VirtualService that has all hosts of the given VirtualService on every client. */
function hiddenBy(list: RuleProtocol, vs: EffectiveVirtualService, { views }: EffectWorld): Reason | undefined {
  const winners = new Set(
    views.flatMap(({ scope }) => vs.hosts.flatMap((host) => scope.deciding(host, list))),
  );
  if (winners.has(vs)) return undefined;
  const [winner] = [...winners].flatMap((one) => one.causes[0] ?? []);
  return winner === undefined ? undefined : {
    expected: `a host that no other VirtualService has (the ${list} rules of ${keyText(winner)} decide)`,
    others: [winner],
  };
}

function ofServices(
  list: RuleProtocol,
  port: number | undefined,
  { hosts }: EffectiveVirtualService,
  { views }: EffectWorld,
): Reason | undefined {
  const services = new Set(views.flatMap(({ scope }) => hosts.flatMap((host) => scope.service(host) ?? [])));
  const [service] = services;
  if (service === undefined) {
    if (list !== "http") {
      return { expected: `the host of a service (${list} rules act only on connections to services)` };
    }
    return port !== undefined && port !== 80
      ? { expected: `port 80, or a service with the host and HTTP port ${port}` }
      : {
        expected:
          "a service with the host, or some service with HTTP port 80 (no proxy listens for requests to the host)",
      };
  }
  const all = [...services].flatMap(({ ports }) => ports);
  const others = [service.cause];
  if (port !== undefined && !all.some((one) => one.port === port)) {
    return { expected: `a port of ${service.hostname} (${portsOf(service)})`, others };
  }
  const asked = port === undefined ? all : all.filter((one) => one.port === port);
  if (asked.some((one) => carries(list, one.protocol))) return undefined;
  return { expected: `${WANTED[list]} of ${service.hostname} (${portsOf(service)})`, others };
}

const WANTED: Readonly<Record<RuleProtocol, string>> = {
  http: "an HTTP port",
  tls: "a TLS port",
  tcp: "a TCP port",
};

function carries(list: RuleProtocol, protocol: Service["ports"][number]["protocol"]): boolean {
  const kind = listenerKind(protocol);
  if (list === "http") return kind === "http" || kind === "auto";
  return (kind === "tcp" || kind === "auto") && isTls(protocol) === (list === "tls");
}

function portsOf({ ports }: Service): string {
  return ports.length === 0
    ? "the service has no port"
    : `it has ${ports.map((one) => `${one.port} ${protocolText(one.protocol)}`).join(", ")}`;
}

/** The servers of the rule's gateways as a reason: a server for bytes has a single destination. */
function ofGateways(
  list: RuleProtocol,
  port: number | undefined,
  vs: EffectiveVirtualService,
  { mesh, routers, inForce }: EffectWorld,
): Reason | undefined {
  const gateways = routers.flatMap(({ namespace, labels }) => mesh.gateways.select(namespace, labels))
    .filter(({ meta }) => vs.gateways.includes(`${meta.namespace}/${meta.name}`));
  const [gateway] = gateways;
  if (gateway === undefined) return undefined;
  const numbers = [...new Set(gateways.flatMap(({ spec }) => spec.servers.map((server) => server.port.number)))];
  if (port !== undefined && !numbers.includes(port)) {
    return { expected: `a port of ${keyText(gateway.key)} (it has ${numbers.join(", ")})`, others: [gateway.key] };
  }
  const servers = gateways.flatMap(({ spec }) => spec.servers)
    .filter((server) => port === undefined || server.port.number === port);
  const protocols = servers.map((server) => parseProtocol(server.port.protocol));
  if (list === "tcp" && protocols.length > 0) {
    const others = gateways.flatMap(({ meta }) => mesh.virtualServices.forGateway(`${meta.namespace}/${meta.name}`))
      .filter((one) => one !== vs && (one.spec.tcp ?? []).length > 0 && inForce.has(one.causes[0] ?? ""));
    const [winner = ""] = others.flatMap((one) => one.causes[0] ?? []);
    if (winner !== "") {
      return {
        expected: `a port without other tcp rules (bytes name no host, so the rules of ${
          keyText(winner)
        } take all connections to ${keyText(gateway.key)})`,
        others: [winner, gateway.key],
      };
    }
  }
  return undefined;
}
