/**
 * Connections to the addresses of the workloads behind a waypoint (label `mesh.io/waypoint-for`: `workload`, `all`).
 *
 *     connect_terminate ─ address of a workload ─┬─ direct ────────> encap ──> connect_originate ──> workload :15008
 *                                                └─ direct_plain ──> the dialled address
 *
 * The addresses are only in a route configuration. So a workload that comes or goes changes no listener, and no
 * connection of another workload ends. The chains have the policies of the waypoint itself.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { type Finding, lossOf } from "../../finding/finding.ts";
import type { ServedWorkload } from "../../mesh/waypoints/workloads.ts";
import { any } from "../../pb/codec.ts";
import { FilterStateValue_SharedWithUpstream as Shared } from "../../../proto/gen/enums.ts";
import { Authorization } from "../authorization/authorization.ts";
import { accountNames } from "../cluster/server_names.ts";
import { PASSTHROUGH } from "../cluster/static.ts";
import { entrancesTo } from "../endpoint/select.ts";
import { unverifiableFindings } from "../filters/http/jwt_authn/filter.ts";
import { pluginCauses } from "../filters/wasm.ts";
import { sendsHbone, waypointListening } from "../hbone/ability.ts";
import { DIALLED_ADDRESS, DIRECT, ENCAP } from "../hbone/names.ts";
import type { ConnectGroup } from "../listener/hbone/terminate.ts";
import { type InboundChain, inboundFilterChains } from "../listener/inbound/chain.ts";
import { PASSED } from "../listener/inbound/passthrough.ts";
import { findingsOnce } from "../message/finding.ts";
import type { Reader } from "../reader/reader.ts";
import { isNetworkGateway, waypointName } from "../reader/waypoint_role.ts";
import { defaultInboundRoute } from "../route/default_route.ts";
import { tunnelAddresses } from "../service/address.ts";
import { wrap } from "../../pb/wellknown.ts";

type Filter = envoy.config.listener.v3.Filter;
type FilterChain = envoy.config.listener.v3.FilterChain;

/** The chains of a direct listener. */
export interface DirectChains {
  /** Name of the listener. */
  readonly listener: string;
  readonly chains: readonly FilterChain[];
}

/** The chains of all direct listeners; empty: the waypoint is only for services. */
export interface BuiltDirectChains {
  readonly listeners: readonly DirectChains[];
  readonly causes: readonly string[];
  readonly findings: readonly Finding[];
}

/** Whether connections to addresses of workloads come here. */
export function servesWorkloads(read: Reader): boolean {
  return !isNetworkGateway(read) && read.waypoint(read.derived("waypointName", waypointName)).forWorkloads &&
    "identity" in waypointListening(read);
}

/** Builds the chains. The reader answers for the waypoint itself. */
export function directChains(read: Reader): BuiltDirectChains {
  if (!servesWorkloads(read)) return { listeners: [], causes: [], findings: [] };
  const authorization = new Authorization(read, { hbone: true });
  const built = (cluster: string) => inboundFilterChains(read, chainTo(cluster), authorization);
  const encapsulated = (chain: FilterChain) => ({ ...chain, filters: [dialledAgain(), ...chain.filters ?? []] });
  const listeners = [
    ...sendsHbone(read) ? [{ listener: DIRECT.hbone, chains: built(ENCAP).map(encapsulated) }] : [],
    { listener: DIRECT.plain, chains: built(PASSTHROUGH) },
  ];
  const causes = [
    ...[...read.tokenPolicy().causes, ...read.telemetryCauses(), ...pluginCauses(read, "server")],
    ...authorization.causes,
  ];
  const findings = [...unverifiableFindings(read), ...authorization.findings()];
  return { listeners, causes: [...new Set(causes)], findings: findingsOnce(findings) };
}

/** Names of the chains are Istio's. */
function chainTo(cluster: string): InboundChain {
  return {
    ...PASSED,
    name: { http: "direct-http", tcp: "direct-tcp" },
    statPrefix: { http: cluster, tcp: cluster },
    cluster,
    routes: {
      name: cluster,
      virtual_hosts: [{
        name: "inbound|http|0",
        domains: ["*"],
        routes: [defaultInboundRoute(cluster, "direct:*/*", "Unsupported")],
      }],
      validate_clusters: wrap(false),
    },
    hbone: true,
  };
}

/** The next internal listener gets the address that the client dialled. */
function dialledAgain(): Filter {
  const config: envoy.extensions.filters.network.set_filter_state.v3.Config = {
    on_new_connection: [{
      object_key: DIALLED_ADDRESS,
      format_string: { text_format_source: { inline_string: "%DOWNSTREAM_LOCAL_ADDRESS%" }, omit_empty_values: true },
      shared_with_upstream: Shared.ONCE,
      skip_if_empty: true,
    }],
  };
  return {
    name: "envoy.filters.network.set_filter_state",
    typed_config: any("envoy.extensions.filters.network.set_filter_state.v3.Config", config),
  };
}

/** The addresses of the workloads, grouped by the way to them, and findings about addresses without a way. */
export interface DirectGroups {
  readonly groups: readonly ConnectGroup[];
  readonly findings: readonly Finding[];
}

/** What is known about an address. */
interface DirectAddress {
  /** The address counts only for the workloads of this namespace. */
  readonly namespace: string;
  takesHbone: boolean;
  /** Accounts of the workloads with the address; undefined: the account of one is not known. */
  accounts: Set<string> | undefined;
}

/**
 * Groups the workloads of the waypoint. Addresses of the waypoint's services are not theirs, except that a service does not
 * take the address of a pod of another namespace.
 *
 * Whoever may use the waypoint may write an entry with any address. Such an entry does not decide whether and how the
 * waypoint reaches a pod of another namespace: in plain text, or with other identities.
 */
export function directGroups(read: Reader): DirectGroups {
  const name = read.derived("waypointName", waypointName);
  const ofServices = Map.groupBy(
    read.waypoint(name).services.flatMap((service) =>
      tunnelAddresses(read, service).map((address) => ({ address, namespace: service.namespace }))
    ),
    ({ address }) => address,
  );
  const isOfService = (address: string, { isPod, namespace }: ServedWorkload) =>
    ofServices.get(address)?.some((one) => !isPod || one.namespace === namespace) === true;
  const sends = sendsHbone(read);
  const found = new Map<string, DirectAddress>();
  const elsewhere = new Set<string>();
  const taken = new Set<string>();
  for (const workload of inOrder(read.waypointWorkloads(name), name)) {
    if (entrancesTo(read, workload).length > 0) {
      for (const address of workload.addresses) elsewhere.add(address);
      continue;
    }
    for (const address of workload.addresses) {
      if (isOfService(address, workload)) continue;
      if (isOfForeignPod(read, address, workload)) taken.add(address);
      else if (!note(found, address, workload)) taken.add(address);
    }
  }
  const groups = new Map<string, { readonly addresses: string[]; readonly group: Omit<ConnectGroup, "addresses"> }>();
  for (const [address, { takesHbone, accounts }] of [...found].sort(([a], [b]) => a < b ? -1 : 1)) {
    const isTunnelled = takesHbone && sends;
    const known = isTunnelled ? [...accounts ?? []].sort() : [];
    const of = isTunnelled ? `${DIRECT.hbone} ${known.join(",")}` : DIRECT.plain;
    const group = groups.getOrInsertComputed(of, () => ({
      addresses: [],
      group: {
        name: of,
        cluster: isTunnelled ? DIRECT.hbone : DIRECT.plain,
        names: known.length > 0 ? accountNames(read, known) : [],
      },
    }));
    group.addresses.push(address);
  }
  return {
    groups: [...groups.values()].map(({ addresses, group }) => ({ ...group, addresses })),
    findings: [
      ...elsewhere.size === 0 ? [] : [elsewhereFinding(name, elsewhere)],
      ...taken.size === 0 ? [] : [takenFinding(name, taken)],
    ],
  };
}

/** Pods first, then the namespace of the waypoint, then the namespaces by name. */
function inOrder(workloads: readonly ServedWorkload[], waypoint: string): readonly ServedWorkload[] {
  const home = waypoint.slice(0, waypoint.indexOf("/"));
  const rank = ({ isPod, namespace }: ServedWorkload) => isPod ? 0 : namespace === home ? 1 : 2;
  return workloads.toSorted((a, b) => rank(a) - rank(b) || (a.namespace < b.namespace ? -1 : 1));
}

/** Whether a pod of another namespace has the address, in a network that the waypoint dials directly. */
function isOfForeignPod(read: Reader, address: string, { ofOthers = [] }: ServedWorkload): boolean {
  return ofOthers.some((one) => one.address === address && entrancesTo(read, one).length === 0);
}

/** @returns false: workloads of another namespace have the address */
function note(
  found: Map<string, DirectAddress>,
  address: string,
  { takesHbone, account, namespace }: ServedWorkload,
): boolean {
  const known = found.getOrInsertComputed(
    address,
    () => ({ namespace, takesHbone: false, accounts: new Set<string>() }),
  );
  if (known.namespace !== namespace) return false;
  known.takesHbone ||= takesHbone;
  if (account === "") known.accounts = undefined;
  else known.accounts?.add(account);
  return true;
}

function takenFinding(name: string, addresses: ReadonlySet<string>): Finding {
  const [first = ""] = [...addresses].sort();
  const text =
    `entries name ${addresses.size} addresses of workloads of other namespaces, such as ${first}: a waypoint does not ` +
    "take these addresses for workloads of the entries";
  return lossOf("not-as-written", [`ApiGateway/${name}`], text);
}

function elsewhereFinding(name: string, addresses: ReadonlySet<string>): Finding {
  const [first = ""] = [...addresses].sort();
  const text =
    `a waypoint refuses connections to ${addresses.size} addresses of workloads in other networks, such as ` +
    `${first}: only services lead into another network`;
  return lossOf("not-as-written", [`ApiGateway/${name}`], text);
}
