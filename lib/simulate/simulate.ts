/**
 * Simulates, step by step, the treatment of a request by a proxy with given resources.
 *
 *     request ─> listener ─> first bytes ─> filter chain ─┬─> HTTP: virtual host ─> route ─> action ─┐
 *                                                         └─> TCP proxy ─────────────────────────────┴─> clusters ─> endpoints
 *
 * The simulation applies Envoy's rules. Shares and weights are reported, not drawn at random. The health of endpoints
 * is the health that the control plane sent. Where a rule is not implemented the outcome is `unknown`, never a guess.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { act, type ClusterShare } from "./action.ts";
import { isJudging, refusal, refusalsOnTrial } from "./authorization.ts";
import { clusterStep, mayForward } from "./cluster.ts";
import { causeOf, causesOf, configured, type ConfiguredFilter, packedName, stateOf, unpack } from "./decode.ts";
import { detect } from "./detection.ts";
import { chooseChain } from "./filter_chain.ts";
import { normalize, type NormalizedRequest } from "./http_request.ts";
import { chooseListener } from "./listener.ts";
import { NotJudged } from "./matchers.ts";
import { chooseRoute, matchText } from "./route.ts";
import type { LackedSecret } from "./secret_types.ts";
import { lackedSecret, lackedText } from "./secrets.ts";
import { shareOf } from "./share.ts";
import type {
  ClusterStep,
  EndedOutcome,
  ProxyResources,
  RouteStep,
  SimulatedRequest,
  Simulation,
  SimulationOutcome,
  SimulationStep,
} from "./types.ts";
import { chooseVirtualHost } from "./virtual_host.ts";

type FaultLevel = Pick<envoy.config.route.v3.Route | envoy.config.route.v3.VirtualHost, "typed_per_filter_config">;
type FaultSetting = envoy.extensions.filters.http.fault.v3.HTTPFault;

/** The name of the fault filter in the settings of routes. */
const FAULT = "envoy.filters.http.fault";

/** Whether the fault filter is present. Without the filter, Envoy ignores the settings of routes for it. */
function injectsFaults(filters: readonly ConfiguredFilter[]): boolean {
  return filters.some(({ name }) => name === FAULT);
}

/**
 * The abort of a route, or else of its virtual host; undefined: no abort.
 *
 * @returns Undefined also for an abort with conditions on clients or clusters. Translation never writes such an abort.
 */
function abortOf(levels: readonly FaultLevel[]): RouteStep["abort"] {
  const [set] = levels.flatMap(({ typed_per_filter_config }) => typed_per_filter_config?.[FAULT] ?? []);
  const fault = unpack<FaultSetting>(set, "envoy.extensions.filters.http.fault.v3.HTTPFault");
  const { abort, headers = [], downstream_nodes = [], upstream_cluster = "" } = fault ?? {};
  if (abort === undefined || headers.length > 0 || downstream_nodes.length > 0 || upstream_cluster !== "") {
    return undefined;
  }
  const status = abort.http_status ?? HTTP_OF_GRPC[abort.grpc_status ?? -1];
  // Envoy reads a missing percentage as 0, other than a missing fraction elsewhere.
  const share = abort.percentage === undefined ? 0 : shareOf({ default_value: abort.percentage });
  return status === undefined || share === 0 ? undefined : { status, share };
}

/** The HTTP statuses sent by Envoy for gRPC statuses, by the gRPC number. */
const HTTP_OF_GRPC: readonly number[] = [
  ...[200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401],
];

type FilterChain = envoy.config.listener.v3.FilterChain;
type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
type TcpProxy = envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy;

const HCM = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const SNI_CLUSTER = "envoy.extensions.filters.network.sni_cluster.v3.SniCluster";
const SNI_RESOLVER = "envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig";
const TCP_PROXY = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";
const PLAINTEXT_SOCKETS: ReadonlySet<string> = new Set([
  "",
  "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer",
]);

/** Simulates a request. Never throws because of the content of resources: the outcome is then `unknown`. */
export function simulate(resources: ProxyResources, request: SimulatedRequest): Simulation {
  const steps: SimulationStep[] = [];
  const onTrial: string[] = [];
  const outcome = judged(() => connect({ resources, request, steps, onTrial }));
  return { steps, outcome, ...(onTrial.length === 0 ? {} : { onTrial }) };
}

function judged(outcomeOf: () => SimulationOutcome): SimulationOutcome {
  try {
    return outcomeOf();
  } catch (error) {
    if (!(error instanceof NotJudged)) throw error;
    return { kind: "unknown", why: error.message };
  }
}

interface SimulationState {
  readonly resources: ProxyResources;
  readonly request: SimulatedRequest;
  readonly steps: SimulationStep[];
  /** See `Simulation.onTrial`. */
  readonly onTrial: string[];
}

function connect(walk: SimulationState): SimulationOutcome {
  const { resources, request, steps } = walk;
  const chosen = chooseListener(resources, request);
  if (chosen === undefined) {
    return { kind: "closed", why: request.hbone ? "the proxy takes nothing by HBONE" : "no listener has that address" };
  }
  const { listener, via, why } = chosen;
  steps.push({
    step: "listener",
    name: listener.name ?? "",
    why,
    ...(via === undefined ? {} : { via: via.name ?? "" }),
    ...causeOf(listener.metadata),
    ...causesOf(resources, "listeners", listener.name ?? ""),
  });
  if (listener.filter_chain_matcher) throw new NotJudged("a listener with a matcher tree");
  const detection = detect(via ? [via, listener] : [listener], request);
  steps.push(detection);
  const match = chooseChain(listener, { request, detection });
  if (match === undefined) return { kind: "closed", why: "no filter chain matches" };
  const { chain, index, matched } = match;
  const terminatesTls = !PLAINTEXT_SOCKETS.has(packedName(chain.transport_socket?.typed_config));
  const name = chain.name ?? "";
  const tls = serverTls(chain);
  const lacks = lackedSecret(resources, tls?.common_tls_context);
  const known = { ...(lacks === undefined ? {} : { lacks }), ...causeOf(chain.metadata) };
  steps.push({ step: "filterChain", name, index, matched, terminatesTls, ...known });
  if (terminatesTls && request.protocol !== "tls") return { kind: "closed", why: "the chain expects TLS" };
  if (lacks?.isCertain) return { kind: "closed", why: `${lackedText(lacks)}; without it the chain ends no TLS` };
  if (terminatesTls && request.identity === "" && tls?.require_client_certificate?.value === true) {
    return { kind: "closed", why: "the chain demands a certificate, and the client shows none" };
  }
  return throughFilters(walk, chain, terminatesTls);
}

type ServerTlsContext = envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext;

function serverTls({ transport_socket }: FilterChain): ServerTlsContext | undefined {
  const packed = transport_socket?.typed_config;
  return unpack<ServerTlsContext>(packed, "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext");
}

function throughFilters(walk: SimulationState, chain: FilterChain, terminatesTls: boolean): SimulationOutcome {
  const filters = configured(walk.resources, chain.filters ?? []);
  const traffic = { connection: walk.request, terminatesTls };
  const why = refusal(filters, traffic);
  if (why === undefined) walk.onTrial.push(...refusalsOnTrial(filters, traffic));
  let last: string | undefined;
  let [named, host, server]: (string | undefined)[] = [];
  for (const filter of filters) {
    const type = packedName(filter.typed_config);
    last = filter.name ?? type;
    const terminal = type === HCM || type === TCP_PROXY;
    walk.steps.push({ step: "networkFilter", name: last, terminal });
    if (why !== undefined && isJudging(type)) return { kind: "closed", why };
    if (isJudging(type)) continue;
    if (type === SNI_CLUSTER) named = walk.request.sni?.toLowerCase();
    named ??= stateOf(filter, "envoy.tcp_proxy.cluster");
    host ??= stateOf(filter, "envoy.upstream.dynamic_host");
    if (type === SNI_RESOLVER) server = host ?? walk.request.sni;
    const hcm = unpack<HttpConnectionManager>(filter.typed_config, HCM);
    if (hcm) return http(walk, hcm, terminatesTls);
    const tcp = unpack<TcpProxy>(filter.typed_config, TCP_PROXY);
    if (tcp) return forward(walk, named ? [{ name: named, weight: 1 }] : tcpDestinations(tcp), undefined, server);
  }
  if (last === undefined) return { kind: "closed", why: "the chain has no filters" };
  throw new NotJudged(`what the filter ${last} does with the connection`);
}

function tcpDestinations(tcp: TcpProxy): ClusterShare[] {
  if (tcp.cluster !== undefined) return [{ name: tcp.cluster, weight: 1 }];
  return (tcp.weighted_clusters?.clusters ?? []).map(({ name = "", weight = 0 }) => ({ name, weight }))
    .filter(({ weight }) => weight > 0);
}

function http(walk: SimulationState, hcm: HttpConnectionManager, terminatesTls: boolean): SimulationOutcome {
  const { request, resources, steps } = walk;
  const isHttp = request.protocol === "http" || (terminatesTls && request.host !== undefined);
  if (!isHttp) return { kind: "closed", why: "the bytes are not HTTP, and the chain carries only HTTP" };
  const normal = normalize(hcm, request, terminatesTls);
  if ("status" in normal) return { kind: "answered", ...normal };
  const filters = configured(resources, hcm.http_filters ?? []);
  const traffic = { connection: request, terminatesTls, http: normal };
  const why = refusal(filters, traffic);
  if (why !== undefined) return { kind: "answered", status: 403, why };
  walk.onTrial.push(...refusalsOnTrial(filters, traffic));
  const inline = hcm.route_config;
  const name = hcm.rds?.route_config_name ?? inline?.name ?? "";
  const configuration = inline ?? (hcm.rds ? resources.routes.get(name) : undefined);
  if (hcm.scoped_routes) throw new NotJudged("scoped routes");
  const causes = inline ? {} : causesOf(resources, "routes", name);
  steps.push({ step: "routeConfiguration", name, source: inline ? "inline" : "RDS", ...causes });
  if (configuration === undefined) return { kind: "answered", status: 404, why: "the route configuration is missing" };
  return route(walk, configuration, normal, injectsFaults(filters));
}

function route(
  walk: SimulationState,
  configuration: envoy.config.route.v3.RouteConfiguration,
  request: NormalizedRequest,
  takesFaults: boolean,
): SimulationOutcome {
  const chosen = chooseVirtualHost(walk.resources, configuration, request.authority);
  if (chosen === undefined) return { kind: "answered", status: 404, why: "no virtual host matches" };
  const { virtualHost, domain, source } = chosen;
  const virtualHostName = virtualHost.name ?? "";
  walk.steps.push({
    step: "virtualHost",
    name: virtualHostName,
    domain,
    source,
    ...causeOf(virtualHost.metadata),
    ...causesOf(walk.resources, "virtualHosts", `${configuration.name}/${virtualHostName}`),
  });
  if (virtualHost.matcher) throw new NotJudged("a virtual host with a matcher tree");
  if (virtualHost.require_tls && request.scheme === "http") {
    const location = `https://${request.authority}${request.path}`;
    return { kind: "answered", status: 301, location, why: "the virtual host requires TLS" };
  }
  const routes = virtualHost.routes ?? [];
  const { chosen: match, passed } = chooseRoute(routes, request);
  if (match === undefined) {
    walk.steps.push({ step: "noRoute", passed, routes });
    return { kind: "answered", status: 404, why: "no route matches" };
  }
  const filters = new Set(
    [virtualHost, match.route].flatMap((level) => Object.keys(level.typed_per_filter_config ?? {})),
  );
  const abort = takesFaults ? abortOf([match.route, virtualHost]) : undefined;
  walk.steps.push({
    step: "route",
    name: match.route.name ?? "",
    index: match.index,
    ...(match.share < 1 ? { share: match.share } : {}),
    match: matchText(match.route.match ?? {}),
    passed,
    routes,
    filters: [...filters],
    ...(abort === undefined ? {} : { abort }),
    ...causeOf(match.route.metadata),
  });
  if (abort?.share === 1) {
    return { kind: "answered", status: abort.status, why: "the fault of the rule ends the request" };
  }
  const acted = act(match.route, request);
  walk.steps.push(acted.step);
  for (const { name, share, suffixed } of acted.mirrors) {
    const cluster = followed(walk, { name, weight: 1 }, acted.missingStatus);
    walk.steps.push({ step: "mirror", share, suffixed, cluster });
  }
  return acted.outcome ?? forward(walk, acted.destinations, acted.missingStatus);
}

/**
 * @param missingStatus Status for a request whose cluster is missing; undefined for a connection of other bytes.
 * @param server Name of the server to resolve for a connection of other bytes; absent: no name is resolved.
 */
function forward(
  walk: SimulationState,
  destinations: readonly ClusterShare[],
  missingStatus: number | undefined,
  server?: string,
): SimulationOutcome {
  const sum = destinations.reduce((weights, { weight }) => weights + weight, 0);
  const clusters = destinations.map((one): ClusterStep => ({
    ...followed(walk, one, missingStatus, server),
    ...(destinations.length > 1 ? { share: one.weight / sum } : {}),
  }));
  walk.steps.push(...clusters);
  const able = clusters.some(({ ends }) => ends === undefined);
  if (able) return { kind: "forwarded", clusters: clusters.map(({ name, weight }) => ({ name, weight })) };
  const [lacking] = clusters.map(({ lacks }) => lacks).filter((lacks) => lacks?.isCertain);
  const [first] = clusters;
  if (first?.ends !== undefined && clusters.every(({ ends }) => ends?.why === first.ends?.why)) return first.ends;
  return failed(clusters.every(({ type }) => type === "missing") ? "missing" : lacking, missingStatus);
}

/** A cluster, and the outcome of requests to a cluster that takes no requests. */
function followed(
  walk: SimulationState,
  share: ClusterShare,
  missingStatus: number | undefined,
  server?: string,
): ClusterStep {
  const step = clusterStep(walk.resources, share, walk.request.destination);
  const { lacks } = step;
  if (missingStatus === undefined && step.type.includes("dynamic_forward_proxy") && !server) {
    return { ...step, ends: { kind: "closed", why: "nothing names the server, which the cluster would resolve" } };
  }
  if (mayForward(step) && !lacks?.isCertain) return step;
  return { ...step, ends: failed(step.type === "missing" ? "missing" : lacks, missingStatus) };
}

/**
 * @param cause The whole cluster is missing, or a secret for TLS to the endpoints; undefined: no endpoint is healthy.
 */
function failed(cause: "missing" | LackedSecret | undefined, missingStatus: number | undefined): EndedOutcome {
  const missing = cause === "missing";
  const why = missing
    ? "the cluster does not exist"
    : cause?.isCertain
    ? `${lackedText(cause)}; without it no endpoint is connected to`
    : "no healthy endpoint";
  if (missingStatus === undefined) return { kind: "closed", why };
  return { kind: "answered", status: missing ? missingStatus : 503, why };
}
