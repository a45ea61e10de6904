/**
 * The listeners of a waypoint.
 *
 *     connect_terminate ─┬─ main_internal ─ address and port of a service     chains of the service
 *                        │                └ any other address                 closed
 *                        └─ address of a workload ── direct listeners (`direct.ts`)
 *
 * Mutual TLS and CONNECT end in the first listener, which may enforce policies for connections (`./layered.ts`). The
 * second listener sees the address of the CONNECT as the dialled address, so a client reaches the services and workloads
 * behind the waypoint, and nothing else.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { type Finding, lossOf } from "../../finding/finding.ts";
import { mainInternalCluster } from "../cluster/hbone.ts";
import { waypointListening } from "../hbone/ability.ts";
import { HBONE_PORT, MAIN_INTERNAL } from "../hbone/names.ts";
import { cidrRange } from "../listener/address.ts";
import { mainInternalListener } from "../listener/hbone/main_internal.ts";
import { connectTerminateListener } from "../listener/hbone/terminate.ts";
import { closedChain } from "../listener/inbound/passthrough.ts";
import type { Built } from "../message/built.ts";
import type { Reader } from "../reader/reader.ts";
import { isNetworkGateway, waypointName } from "../reader/waypoint_role.ts";
import { type Identity, secretsOf } from "../tls/secret_source.ts";
import type { ServiceChains } from "./chains.ts";
import { gatewayPolicies, layeredPolicies } from "./layered.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;
type Cluster = envoy.config.cluster.v3.Cluster;

/** The listeners of a waypoint, with the cluster between them. */
export interface WaypointListeners {
  readonly listeners: readonly Built<Listener>[];
  readonly clusters: readonly Built<Cluster>[];
  readonly findings: readonly Finding[];
}

/** Builds the listeners. Without the means to take HBONE, the waypoint takes nothing. */
export function waypointListeners(read: Reader, services: readonly ServiceChains[]): WaypointListeners {
  const listening = waypointListening(read);
  const name = read.derived("waypointName", waypointName);
  // Another list of services comes with other inputs. The query tells which changes may change the inputs, too.
  const addresses = routesConnects(read) ? "routedAddress" : "anyAddress";
  const gateway = `ApiGateway/${name}`;
  if ("why" in listening) {
    const text = `a waypoint cannot accept connections by HBONE: ${listening.why}`;
    return { listeners: [], clusters: [], findings: [lossOf("not-as-written", [gateway], text)] };
  }
  const { identity } = listening;
  if (isNetworkGateway(read)) return gatewayListeners(read, identity, gateway);
  const { chains, findings } = placedChains(services);
  const layered = layeredPolicies(read);
  findings.push(...layered.findings);
  const causes = [gateway, ...new Set(services.flatMap((one) => one.causes))];
  const terminate: Built<Listener> = {
    message: connectTerminateListener(read, identity, { addresses, policies: layered.filters }),
    causes: [gateway, ...layered.causes],
    secrets: secretsOf([identity.certificate, identity.authorities]),
  };
  const main: Built<Listener> = {
    // A waypoint may have no service yet.
    message: mainInternalListener(read, [
      closedChain(`${MAIN_INTERNAL}-blackhole-${HBONE_PORT}`, HBONE_PORT),
      ...chains,
    ]),
    causes,
    ...(services.some(({ needsApi }) => needsApi) ? { needsApi: true } : {}),
  };
  return { listeners: [terminate, main], clusters: [mainInternalCluster(read)], findings };
}

/** Whether a route configuration tells what a CONNECT leads to. */
export function routesConnects(read: Reader): boolean {
  return read.waypoint(read.derived("waypointName", waypointName)).forWorkloads || read.settings.multiNetwork;
}

/**
 * A gateway between networks forwards the connections inside without a second listener. Policies that name its Gateway see
 * the CONNECTs.
 */
function gatewayListeners(read: Reader, identity: Identity, gateway: string): WaypointListeners {
  const [layered, own] = [layeredPolicies(read), gatewayPolicies(read)];
  const message = connectTerminateListener(read, identity, {
    addresses: "routedAddress",
    policies: [...layered.filters, ...own.filters],
  });
  const secrets = secretsOf([identity.certificate, identity.authorities]);
  return {
    listeners: [{ message, causes: [gateway, ...layered.causes, ...own.causes], secrets }],
    clusters: [],
    findings: [...layered.findings, ...own.findings],
  };
}

/**
 * The chains of all services, each for the addresses of its service. Envoy refuses two chains with one match, so of two
 * services with an address and a port in common the first has both.
 */
function placedChains(services: readonly ServiceChains[]): {
  readonly chains: readonly FilterChain[];
  readonly findings: Finding[];
} {
  const owners = new Map<string, ServiceChains>();
  const findings: Finding[] = [];
  const chains = services.flatMap((service) =>
    service.chains.flatMap((chain): FilterChain[] => {
      const port = chain.filter_chain_match?.destination_port?.value ?? 0;
      const ranges = service.ranges.filter((range) => {
        const owner = owners.getOrInsert(`${range} ${port}`, service);
        if (owner === service) return true;
        const text = `a waypoint sends connections to ${range} port ${port} to ${owner.host}, not to ${service.host}`;
        findings.push(lossOf("not-as-written", [service.causes[0] ?? "", owner.causes[0] ?? ""], text));
        return false;
      });
      if (ranges.length === 0) return [];
      const match = { ...chain.filter_chain_match, prefix_ranges: ranges.map(cidrRange) };
      return [{ ...chain, filter_chain_match: match }];
    })
  );
  return { chains, findings };
}
