/**
 * All Gateway objects of a workload, merged into one set of listening ports.
 *
 *     Gateway a ── servers ─┐                         ┌─ 8080            http: one route configuration
 *     Gateway b ── servers ─┼─ oldest object first ─> ├─ 8443            tls: chains by server name
 *     Gateway c ── servers ─┘   conflicts reported    └─ 9000, 10.0.0.1  tcp: one destination
 *
 * Of several servers with the same place, the first keeps the place: the server of the older object, or the earlier
 * server of an object. The other servers are omitted as a whole and reported in `problems`. Everything else is served.
 *
 * @module
 */
import { serverHosts } from "../../config/kinds/gateway/hosts.ts";
import type { GatewayServerSpec } from "../../config/kinds/gateway/schema.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { ServiceTarget } from "../../registry/inbound.ts";
import { wildcards } from "../listener/address.ts";
import type { Reader } from "../reader/reader.ts";
import { Http3Ports, takesHttp3 } from "./http3.ts";
import { listeningPort } from "./port.ts";
import { type GatewayRefusal, type GatewayRefusalReason, serverRefusal } from "./problem.ts";
import { carriesDatagrams, type GatewayServer, routeConfigurationName, serverKind, serverNames } from "./server.ts";

/** A server at its listening port. */
export interface MergedServer extends GatewayServer {
  /** Name of the server's route configuration. Absent: the server carries no HTTP. */
  readonly routeName?: string;
  /** The UDP port for requests over HTTP/3. Absent: no HTTP/3. */
  readonly http3Port?: number;
}

/** The traffic of a port: requests, bytes, TLS routed by server name, or datagrams. */
export type PortKind = "http" | "tcp" | "tls" | "udp";

/** A listening port of the proxy. */
export interface MergedPort {
  /** 1-65535; 0: a Unix socket. */
  readonly port: number;
  /** IP address or Unix socket; empty: all addresses. */
  readonly bind: string;
  readonly kind: PortKind;
  /** Present: of UDP, for HTTP/3. */
  readonly http3?: true;
  /** In order of precedence. A `tcp` or `udp` port has a single server. */
  readonly servers: readonly MergedServer[];
}

/** The merged form of some Gateway objects. */
export interface MergedGateways {
  /** In order of first appearance, UDP ports last. */
  readonly ports: readonly MergedPort[];
  /** Servers by route configuration, in order of precedence. */
  readonly routes: ReadonlyMap<string, readonly MergedServer[]>;
  /** Names (`namespace/name`) of the objects, oldest first. */
  readonly names: readonly string[];
  readonly problems: readonly GatewayRefusal[];
}

/**
 * The merged gateways of a proxy.
 *
 * @param targets Ports of the services that select the workload. Each maps a service port to a port of the workload.
 */
export function mergedGateways(read: Reader, targets: readonly ServiceTarget[] = []): MergedGateways {
  return mergeGateways(read.gateways(), targets, wildcards(read)[0], takesHttp3(read));
}

/**
 * Merges Gateway objects.
 *
 * @param gateways Oldest first.
 * @param targets Ports of the workload's own services.
 * @param wildcard The bind equivalent to no bind (`0.0.0.0`, or `::`).
 * @param http3 Whether eligible servers are also served over HTTP/3.
 */
export function mergeGateways(
  gateways: readonly ConfigObject<"Gateway">[],
  targets: readonly ServiceTarget[] = [],
  wildcard = "0.0.0.0",
  http3 = false,
): MergedGateways {
  const merge = new Merge(
    targets,
    wildcard,
    http3 ? new Http3Ports(targets, datagramPorts(gateways, targets)) : undefined,
  );
  for (const object of gateways) {
    for (const [index, spec] of object.spec.servers.entries()) merge.add(object, spec, index);
  }
  const ports = [...merge.places.values()].map(({ port, bind, kind, servers }) => ({ port, bind, kind, servers }));
  const names = gateways.map(nameOf);
  return { ports: [...ports, ...http3Ports(ports)], routes: merge.routes, names, problems: merge.problems };
}

/** The ports of servers for datagrams. */
function datagramPorts(gateways: readonly ConfigObject<"Gateway">[], targets: readonly ServiceTarget[]): Set<number> {
  const servers = gateways.flatMap(({ spec }) => spec.servers.filter(carriesDatagrams));
  return new Set(servers.map(({ port }) => listeningPort(port.number, targets, "UDP")));
}

/** The UDP ports of the ports' servers. */
function http3Ports(ports: readonly MergedPort[]): MergedPort[] {
  const found = new Map<string, MergedPort & { readonly servers: MergedServer[] }>();
  for (const { bind, servers } of ports) {
    for (const server of servers) {
      const port = server.http3Port;
      if (port === undefined) continue;
      const known = found.get(`${bind}|${port}`);
      if (known) known.servers.push(server);
      else found.set(`${bind}|${port}`, { port, bind, kind: "tls", http3: true, servers: [server] });
    }
  }
  return [...found.values()];
}

/** A port during the merge. */
interface PortMerge {
  readonly port: number;
  readonly bind: string;
  readonly kind: PortKind;
  readonly servers: MergedServer[];
  /** Route configuration of a plain HTTP port, named after its first server. */
  readonly routeName: string | undefined;
  /** The owners of server names. */
  readonly names: Map<string, GatewayServer>;
}

class Merge {
  readonly places = new Map<string, PortMerge>();
  readonly routes = new Map<string, MergedServer[]>();
  readonly problems: GatewayRefusal[] = [];
  readonly #targets: readonly ServiceTarget[];
  readonly #wildcard: string;
  readonly #http3: Http3Ports | undefined;

  /** @param http3 Absent: no server has HTTP/3. */
  constructor(targets: readonly ServiceTarget[], wildcard: string, http3: Http3Ports | undefined) {
    this.#targets = targets;
    this.#wildcard = wildcard;
    this.#http3 = http3;
  }

  /** Adds a server, or records the reason for omitting the server. */
  add(object: ConfigObject<"Gateway">, spec: GatewayServerSpec, index: number): void {
    const server = gatewayServer(object, spec, index);
    const transport = server?.kind === "udp" ? "UDP" : "TCP";
    const port = listeningPort(spec.port.number, this.#targets, transport);
    const bind = spec.bind === undefined || spec.bind === this.#wildcard ? "" : spec.bind;
    const key = `${transport}|${bind}|${port}`;
    const place = this.places.get(key);
    const refusal = server === undefined
      ? missingTls(spec)
      : (place && conflictWith(place, server)) ?? this.#nameTaken(server, object, port);
    if (server === undefined || refusal) {
      const about = { gateway: nameOf(object), cause: object.key, index, spec };
      if (refusal) this.problems.push(serverRefusal(about, port, ...refusal));
      return;
    }
    const kind = portKind(server);
    const routeName = place?.routeName ?? routeConfigurationName(server, object, port);
    const http3Port = this.#http3?.take(server, bind);
    const merged: MergedServer = {
      ...server,
      ...(routeName === undefined ? {} : { routeName }),
      ...(http3Port === undefined ? {} : { http3Port }),
    };
    const at: PortMerge = place ??
      { port, bind, kind, servers: [], routeName: kind === "http" ? routeName : undefined, names: new Map() };
    at.servers.push(merged);
    this.places.set(key, at);
    if (kind === "tls") { for (const name of serverNames(server)) at.names.set(name, server); }
    if (routeName === undefined) return;
    const sharing = this.routes.get(routeName);
    if (sharing) sharing.push(merged);
    else this.routes.set(routeName, [merged]);
  }

  #nameTaken(server: GatewayServer, object: ConfigObject<"Gateway">, port: number): Refusal | undefined {
    const { kind, spec } = server;
    if (kind !== "https" || !this.routes.has(routeConfigurationName(server, object, port) ?? "")) return undefined;
    return ["duplicatePortName", `left out, another server of the object has port name "${spec.port.name}"`];
  }
}

type Refusal = [GatewayRefusalReason, string];

function missingTls(spec: GatewayServerSpec): Refusal {
  return ["missingTls", `left out, protocol ${spec.port.protocol} needs tls settings`];
}

function portKind({ kind }: GatewayServer): PortKind {
  return kind === "http" || kind === "tcp" || kind === "udp" ? kind : "tls";
}

function conflictWith(place: PortMerge, server: GatewayServer): Refusal | undefined {
  const [first] = place.servers;
  const kind = portKind(server);
  if (first && (place.kind !== kind || kind === "tcp" || kind === "udp")) {
    return ["protocolConflict", `left out, ${titleOf(first)} has the port with protocol ${first.spec.port.protocol}`];
  }
  if (kind !== "tls") return undefined;
  const taken = serverNames(server).filter((name) => place.names.has(name));
  if (taken.length === 0) return undefined;
  const owners = new Set(taken.flatMap((name) => place.names.get(name) ?? []).map(titleOf));
  return [
    "duplicateHosts",
    `left out, ${[...owners].join(" and ")} has ${taken.map((name) => `"${name}"`).join(", ")}`,
  ];
}

function gatewayServer(
  object: ConfigObject<"Gateway">,
  spec: GatewayServerSpec,
  index: number,
): GatewayServer | undefined {
  const kind = serverKind(spec);
  if (kind === undefined) return undefined;
  const hosts = serverHosts(spec, object.meta.namespace);
  return { gateway: nameOf(object), cause: object.key, index, kind, spec, hosts };
}

function nameOf({ meta }: ConfigObject<"Gateway">): string {
  return `${meta.namespace}/${meta.name}`;
}

function titleOf({ gateway, index }: GatewayServer): string {
  return `Gateway ${gateway} servers[${index}]`;
}
