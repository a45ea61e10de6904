/**
 * Connections of a pod's applications: each goes where the tunnel's decision sends it, or is refused.
 *
 * Permissions: ffi (the C library), net (names of workloads).
 *
 * @module
 */
import { lookup } from "node:dns/promises";
import type { Duplex } from "node:stream";
import {
  serviceNameOf,
  textOf,
  type TunnelService,
  type TunnelWorkload,
} from "../../../lib/simulate/tunnel/addresses.ts";
import { identityOf } from "../../../lib/simulate/tunnel/connect.ts";
import { type TunnelHop, tunnelRoute } from "../../../lib/simulate/tunnel/outbound.ts";
import { ipOf } from "../../../lib/simulate/ip.ts";
import type { SocketAddress } from "../../../lib/simulate/types.ts";
import { tunnelPorts } from "../../../lib/iptables/model/ambient_config.ts";
import type { ServedPod } from "../node/pods.ts";
import { type HboneRequest, HboneTunnels } from "./hbone.ts";
import { join } from "./pipes.ts";
import { type TunnelWorld, written } from "./world.ts";

/** Longest wait for a plain connection, ms. */
const TIMEOUT = 10_000;

/** Ports of the tunnel itself, at which an application has no business. */
const OWN_PORTS: ReadonlySet<number> = new Set(Object.values(tunnelPorts));

/** A connection on its way. */
interface Way {
  readonly workload: TunnelWorkload;
  readonly client: SocketAddress;
  readonly destination: SocketAddress;
}

/** The outbound half. */
export class Outbound {
  readonly #world: TunnelWorld;
  readonly #tunnels: HboneTunnels;

  constructor(world: TunnelWorld) {
    this.#world = world;
    this.#tunnels = new HboneTunnels(world.sockets);
  }

  /** Ends the tunnels of a pod. */
  end(pod: ServedPod): void {
    this.#tunnels.end(pod);
  }

  /** Takes a connection of an application. */
  async take(pod: ServedPod, fd: number, family: 4 | 6): Promise<void> {
    const { sockets, say } = this.#world;
    const client = sockets.peer(fd);
    const destination = sockets.originalDestination(fd, family);
    const common = { event: "connection", uid: pod.uid, way: "out", peer: client.ip } as const;
    const target = destination === undefined ? "" : written(destination);
    let by: "plain" | "hbone" = "plain";
    try {
      if (destination === undefined) throw new Error("the connection was not redirected");
      const workload = await this.#world.workloadOf(pod);
      const own = workload.addresses?.map((bytes) => textOf(bytes)) ?? [];
      if (own.includes(destination.ip) && OWN_PORTS.has(destination.port)) throw new Error("a port of the tunnel");
      const hop = this.#choose({ workload, client, destination });
      by = hop?.transport === "plain" || hop === undefined ? "plain" : "hbone";
      const far = await this.#open(pod, hop, { workload, client, destination });
      say({ ...common, by, target, to: written(hop?.dialled ?? destination) });
      await join(sockets.stream(fd), far);
    } catch (error) {
      say({ ...common, by, target, refused: (error as Error).message });
      sockets.reset(fd);
    }
  }

  /** Undefined: the connection passes unchanged. */
  #choose({ workload, destination }: Way): TunnelHop | undefined {
    const route = tunnelRoute(workload, destination, this.#world.held.state.addresses);
    if (route.to === "unchanged") return undefined;
    if (route.to === "refused") throw new Error(route.waypoint ? `${route.why}: ${route.waypoint}` : route.why);
    // The shares of all hops add up to 1.
    let left = Math.random();
    return route.hops.find(({ share }) => (left -= share) < 0) ?? route.hops.at(-1);
  }

  async #open(pod: ServedPod, hop: TunnelHop | undefined, way: Way): Promise<Duplex> {
    const { sockets, identities } = this.#world;
    const dialled = await withAddress(hop?.dialled ?? way.destination);
    if (hop === undefined || hop.transport === "plain") {
      return sockets.stream(await sockets.dial(pod.namespace, dialled, undefined, TIMEOUT));
    }
    const common = {
      ...{ pod, dialled, authority: hop.authority!, headers: headersOf(way, this.#serviceOf(way)) },
      certificate: await identities.of(this.#world.identityOf(pod)),
    };
    if (hop.transport === "gateway") return await this.#openByGateway(hop, way, common);
    return await this.#tunnels.open({
      ...{ ...common, server: hop.workload.uid ?? "" },
      expected: [identityOf(hop.workload), ...this.#alternatives(hop, way)],
    });
  }

  /** In another network, the service names who may answer: any of its workloads may be chosen there. */
  #openByGateway(
    { workload, dialled: { ip } }: TunnelHop,
    way: Way,
    common: Omit<HboneRequest, "server" | "expected" | "by">,
  ): Promise<Duplex> {
    const { addresses } = this.#world.held.state;
    const { address, hostname } = workload.network_gateway!;
    const gateway = hostname
      ? addresses.workloadNamed(serviceNameOf(hostname))
      : addresses.workloadAt(address?.network ?? "", ip);
    if (gateway === undefined) throw new Error("nobody knows the identity of the gateway");
    const { dialled, authority } = common;
    return this.#tunnels.open({
      ...{ ...common, server: workload.uid ?? "", expected: this.#serviceOf(way)?.subject_alt_names ?? [] },
      by: { dialled, authority, server: gateway.uid ?? "", expected: [identityOf(gateway)] },
    });
  }

  #serviceOf({ workload: { network = "", namespace = "" }, destination }: Way): TunnelService | undefined {
    return this.#world.held.state.addresses.serviceAt(network, destination.ip, namespace);
  }

  /** Names of a service stand for its endpoints, not for its waypoint. */
  #alternatives({ workload }: TunnelHop, way: Way): readonly string[] {
    const service = this.#serviceOf(way);
    const isOf = service && Object.hasOwn(workload.services ?? {}, `${service.namespace}/${service.hostname}`);
    return isOf ? service.subject_alt_names ?? [] : [];
  }
}

/** The headers that tell a waypoint about the client. */
function headersOf({ workload, client }: Way, service: TunnelService | undefined): Record<string, string> {
  const facts = {
    "k8s.cluster.name": workload.cluster_id,
    "k8s.namespace.name": workload.namespace,
    "k8s.pod.name": workload.name,
    "service.name": workload.canonical_name,
    "service.version": workload.canonical_revision,
    "cloud.region": workload.locality?.region,
    "cloud.availability_zone": workload.locality?.zone,
  };
  const baggage = Object.entries(facts).flatMap(([key, value]) => value ? [`${key}=${encodeURIComponent(value)}`] : []);
  const host = service?.hostname === undefined ? "" : `;host=${service.hostname}`;
  return { baggage: baggage.join(","), forwarded: `for="${written({ ...client, ip: client.ip })}"${host}` };
}

async function withAddress({ ip, port }: SocketAddress): Promise<SocketAddress> {
  return { ip: ipOf(ip) === undefined ? (await lookup(ip)).address : ip, port };
}
