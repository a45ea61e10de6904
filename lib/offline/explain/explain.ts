/**
 * The way of a request over both hops: through the client's proxy, and through the proxy of the reached endpoint. The
 * simulator derives the actions of each proxy from the proxy's resources. If a rule divides the requests, every share
 * is followed.
 *
 * @module
 */
import { hostAndPort } from "../../kernel/text/host.ts";
import { keyText } from "../../finding/object_name.ts";
import {
  type ExplainedEnd,
  type ExplainedHop,
  type ExplainedShare,
  type Explanation,
  mainShare,
  type ProxyOnWay,
} from "../../debug/explanation.ts";
import { isIp } from "../../registry/address.ts";
import type { ServiceTarget } from "../../registry/inbound.ts";
import { type Endpoint, portCauses } from "../../registry/types.ts";
import { trialText } from "../../simulate/explain.ts";
import { simulate } from "../../simulate/simulate.ts";
import type {
  ClusterStep,
  SimulatedEndpoint,
  SimulatedRequest,
  Simulation,
  SimulationOutcome,
} from "../../simulate/types.ts";
import { parseOutboundClusterName } from "../../translate/destination/names.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";
import { arriving, type DialledEndpoint, type MadeConnection, unendedTls, wrongServer } from "./arrival.ts";
import type { ManifestEndpoint } from "./manifest.ts";
import { dialOf, type OwnDial } from "./own_listeners.ts";
import { type ReadQuestion, simulatedRequest } from "./question.ts";
import { namesOf, type ResolvedHost, resolveHost, type Resolver } from "./resolve.ts";
import { explainedSteps, shortCluster } from "./steps.ts";
import { endByTunnel, explainedByTunnel, refusedAt, type TunnelledWay } from "./tunnel.ts";
import type { ExplainWorld } from "./world.ts";

/** Explains the way of a request from a client's proxy, or from a workload without a proxy. */
export async function explainRequest(
  question: ReadQuestion,
  from: ProxyOnWay,
  world: ExplainWorld,
): Promise<Explanation> {
  const isGateway = profileOf(from.type).gateways;
  const named: ResolvedHost = isGateway
    ? { ip: from.address, port: question.port, http: question.scheme === "unknown" }
    : resolveHost(question.host, question.port, from, world.resolver);
  const dial = isGateway || from.runs === false ? REDIRECTED : await ownDial(question, named, from, world);
  const resolved = dial.how === "socket" ? dial.resolved : named;
  const direction = isGateway || dial.how === "socket" ? "direct" : "outbound";
  const sent = simulatedRequest(question, resolved, direction, from.address);
  const { method, authority, path, headers } = question;
  const destination = shownAddress(resolved.ip, resolved.port);
  const service = ownerOf(resolved);
  const request = {
    ...{ method, authority, path, headers, scheme: sent.protocol, destination },
    ...(service === undefined ? {} : { service }),
  };
  const tunnels = from.runs === false ? world.tunnels?.() : undefined;
  const client = tunnels?.client(from);
  if (tunnels && client) {
    const way = endByTunnel(client, resolved, tunnels.state);
    const { hop, ...behind } = await behindTunnel(way, { sent, from, resolved, world });
    return explainedByTunnel(question, request, behind, hop === undefined ? [] : [hop]);
  }
  const own = from.runs === false || dial.how === "past" ? undefined : await hopOf(from, sent, world);
  const simulation = own?.simulation ?? withoutProxy(resolved, world.resolver);
  const notes = [...resolvedNotes(resolved, world), ...trialNotes(own)];
  if (dial.how === "past") notes.push(dial.note);
  else if (own === undefined) {
    notes.push(`no proxy runs beside ${from.namespace}/${from.name}: the request leaves as it is`);
  }
  const behind: FirstHop = { simulation, sent, from, resolved, world, notes };
  const ways = await waysOf(behind);
  const mirrors = await mirrorsOf(behind);
  const main = mainShare(ways);
  notes.push(...hiddenNotes(question.host, own, from, world));
  return {
    request,
    hops: [own, main?.hop].filter((hop) => hop !== undefined),
    end: withConditions(main?.end ?? endOf(simulation), [own, main?.hop]),
    shares: ways.length > 1 ? ways : [],
    mirrors,
    notes: [...new Set(notes)],
  };
}

const REDIRECTED: OwnDial = { how: "redirected" };

async function ownDial(
  question: ReadQuestion,
  resolved: ResolvedHost,
  from: ProxyOnWay,
  world: ExplainWorld,
): Promise<OwnDial> {
  // Which listeners count depends on the port alone.
  const resources = await world.resources(from, simulatedRequest(question, resolved, "outbound", from.address));
  return dialOf(resources, question.host, resolved, from);
}

/** An end that holds only if certain secrets exist. Their state is not known. */
function withConditions(end: ExplainedEnd, hops: readonly (ExplainedHop | undefined)[]): ExplainedEnd {
  if (end.kind !== "forwarded") return end;
  const lacked = hops.flatMap((hop) => hop?.simulation.steps ?? []).flatMap((step) =>
    (step.step === "filterChain" || step.step === "cluster") && step.lacks ? [step.lacks] : []
  );
  const texts = new Set(lacked.map(({ name, why }) => `${name} is sent: ${why}`));
  return texts.size === 0 ? end : { ...end, text: `${end.text}, if ${[...texts].join("; and if ")}` };
}

/** Objects hidden from the client, about the host of the request and about missing destinations. */
function* hiddenNotes(
  host: string,
  own: ExplainedHop | undefined,
  from: ProxyOnWay,
  world: ExplainWorld,
): Iterable<string> {
  const hosts = new Set(isIp(host) ? [] : namesOf(host, from.namespace, world.resolver.domain));
  for (const step of own?.simulation.steps ?? []) {
    if (step.step !== "cluster") continue;
    const target = parseOutboundClusterName(step.name);
    if (target !== undefined) hosts.add(target.host);
  }
  for (const one of hosts) yield* world.hidden(one, from);
}

/** Key of the object behind the dialled port, or else behind the service. */
function ownerOf({ service, manifest, port }: ResolvedHost): string | undefined {
  if (service === undefined) return manifest?.fact.key;
  return portCauses(service, service.ports.find((one) => one.port === port))[0];
}

function* resolvedNotes({ note, manifest }: ResolvedHost, { place }: ExplainWorld): Iterable<string> {
  if (note !== undefined) yield note;
  if (manifest === undefined) return;
  const { meta: { namespace, name }, origin } = manifest.fact;
  const at = place(origin, "");
  const where = at === undefined ? "" : ` (${at.file}:${at.line})`;
  yield `Service ${namespace}/${name} is known only from its manifest${where}, and Services of manifests are served ` +
    `only with --registries=File: proxies get no cluster and no endpoints of it`;
}

/** What policies on trial would refuse. */
function trialNotes(hop: ExplainedHop | undefined): string[] {
  return (hop?.simulation.onTrial ?? []).map(trialText);
}

async function hopOf(proxy: ProxyOnWay, request: SimulatedRequest, world: ExplainWorld): Promise<ExplainedHop> {
  const resources = await world.resources(proxy, request);
  const simulation = simulate(resources, request);
  const steps = explainedSteps(simulation, { resources, world, proxy, port: request.destination.port });
  return { proxy, direction: request.direction, steps, simulation };
}

/** The facts known behind the first hop. */
interface FirstHop {
  /** What the client's proxy does. Without a proxy: the destination of the connection. */
  readonly simulation: Simulation;
  readonly sent: SimulatedRequest;
  readonly from: ProxyOnWay;
  readonly resolved: ResolvedHost;
  readonly world: ExplainWorld;
  readonly notes: string[];
  /** Whether the request is a copy with `-shadow` behind its host. Default false. */
  readonly suffixed?: boolean;
}

/** The ways behind the first proxy, the largest share first; empty: the proxy forwards nothing. */
async function waysOf(behind: FirstHop): Promise<ExplainedShare[]> {
  const { simulation, from, world } = behind;
  if (simulation.outcome.kind !== "forwarded") return [];
  const clusters = simulation.steps.filter((step) => step.step === "cluster").sort((a, b) => b.weight - a.weight);
  const ways: ExplainedShare[] = [];
  for (const cluster of clusters) {
    const share = { share: cluster.share ?? 1, cluster: shortCluster(cluster.name, from, world) };
    ways.push({ ...share, ...await wayOf(cluster, behind) });
  }
  return ways;
}

/** The ways of the copies. */
async function mirrorsOf(behind: FirstHop): Promise<ExplainedShare[]> {
  const { simulation, from, world } = behind;
  const mirrors: ExplainedShare[] = [];
  for (const { share, cluster, suffixed } of simulation.steps.filter((step) => step.step === "mirror")) {
    const way = await wayOf(cluster, { ...behind, suffixed });
    mirrors.push({ share, cluster: shortCluster(cluster.name, from, world), ...way });
  }
  return mirrors;
}

/** `reviews:80` as `reviews-shadow:80`. */
function withSuffix(host: string): string {
  const port = /:\d+$/.exec(host)?.[0] ?? "";
  return `${host.slice(0, host.length - port.length)}-shadow${port}`;
}

type FollowedWay = Pick<ExplainedShare, "hop" | "end">;

async function wayOf(cluster: ClusterStep, behind: FirstHop): Promise<FollowedWay> {
  const { resolved: { manifest, port }, world } = behind;
  if (cluster.ends !== undefined) return { end: endOf({ outcome: cluster.ends, steps: [cluster] }) };
  const [endpoint] = cluster.endpoints.filter(({ healthy }) => healthy);
  if (endpoint === undefined) {
    return { end: { kind: "forwarded", text: "forwarded to an address that is resolved then" } };
  }
  if (manifest !== undefined && cluster.type === "ORIGINAL_DST") {
    const known = world.resolver.manifests.endpoints(manifest, port);
    return known[0] === undefined ? { end: forwarded(cluster, endpoint) } : await wayByManifest(known, cluster, behind);
  }
  const end = forwarded(cluster, endpoint);
  // The client dialled the address itself: the server there is not part of this mesh.
  const isExternal = cluster.type !== "EDS" && cluster.type !== "STATIC" && cluster.type !== "ORIGINAL_DST";
  return await throughProxy(
    isExternal ? undefined : world.workloadAt(endpoint.address),
    { cluster, endpoint, end },
    behind,
  );
}

/** The orchestrator takes the connection to any of the endpoints. */
async function wayByManifest(
  known: readonly ManifestEndpoint[],
  cluster: ClusterStep,
  behind: FirstHop,
): Promise<FollowedWay> {
  const { resolved: { ip, port }, world } = behind;
  const { address, port: target, workload } = known[0]!;
  const proxy = (address === undefined ? undefined : world.workloadAt(address)) ??
    (workload === undefined ? undefined : world.workloadOf(workload));
  const there = address === undefined
    ? `port ${target} of a pod of ${keyText(workload ?? "")}`
    : shownAddress(address, target);
  const of = `1 of ${known.length} in manifests`;
  const end: ExplainedEnd = {
    kind: "forwarded",
    ...(address === undefined ? {} : { endpoint: there }),
    text: ip === address && port === target
      ? `forwarded ${there}, as it was dialled (${of})`
      : `forwarded ${shownAddress(ip, port)}, which the orchestrator takes to ${there} (${of})`,
  };
  const endpoint = { address: address ?? proxy?.address ?? ip, port: target };
  return await throughProxy(proxy, { cluster, endpoint, end }, behind);
}

/** The way of the request through a proxy beside the endpoint. */
async function throughProxy(
  proxy: ProxyOnWay | undefined,
  { cluster, endpoint, end }: {
    readonly cluster: ClusterStep;
    readonly endpoint: DialledEndpoint;
    /** The outcome if the proxy lets the request pass, or if no proxy is there. */
    readonly end: ExplainedEnd;
  },
  { simulation, sent, from, world, notes, suffixed = false }: FirstHop,
): Promise<FollowedWay> {
  if (proxy === undefined) {
    notes.push(`no proxy is known at ${endpoint.address}: the workload there gets the request as it is`);
    return { end };
  }
  const name = `${proxy.namespace}/${proxy.name}`;
  if (profileOf(proxy.type).gateways) {
    notes.push(`${endpoint.address} is the gateway ${name}: explain from there tells what it does`);
    return { end };
  }
  const made = { sent, simulation, cluster, endpoint, from, resolver: world.resolver };
  if (proxy.runs === false) {
    const unended = unendedTls(made, `no proxy beside ${name} ends mutual TLS`) ??
      refusedByTunnel(made, proxy, world);
    if (unended === undefined) notes.push(`no proxy runs beside ${name}: the workload gets the request as it is`);
    return { end: unended ?? end };
  }
  const request = arriving(made);
  const { host = "" } = request;
  const hop = await hopOf(proxy, suffixed && host !== "" ? { ...request, host: withSuffix(host) } : request, world);
  const shared = sharedPortNote(hop, endpoint.port, world.resolver);
  if (shared !== undefined) notes.push(shared);
  notes.push(...trialNotes(hop));
  const taken = hop.simulation.outcome.kind === "forwarded" ? undefined : endOf(hop.simulation);
  if (taken !== undefined && proxy.runs === undefined) {
    notes.push(`nothing says whether a proxy runs beside ${name}; without one it gets the request as it is`);
  }
  return { hop, end: failedHandshake(made, hop, proxy) ?? taken ?? end };
}

/** The way behind the tunnel of the client: through the sidecar of the reached workload, if a sidecar runs there. */
async function behindTunnel(
  { end, notes, reached }: TunnelledWay,
  { sent, from, resolved, world }: Pick<FirstHop, "sent" | "from" | "resolved" | "world">,
): Promise<Pick<TunnelledWay, "end" | "notes"> & Pick<ExplainedShare, "hop">> {
  const proxy = reached && world.workloadAt(reached.address);
  if (reached === undefined || proxy === undefined || proxy.runs !== true) return { end, notes };
  const simulation = leadingTo("EDS", [{ ...plain(reached), ...reached.hbone ? { hbone: true } : {} }]);
  const [cluster] = simulation.steps as readonly ClusterStep[];
  const more: string[] = [];
  const made = { cluster: cluster!, endpoint: cluster!.endpoints[0]!, end };
  const way = await throughProxy(proxy, made, { simulation, sent, from, resolved, world, notes: more });
  return { ...way, notes: [...notes, ...more] };
}

/** The end at the tunnel of a server in ambient mode. Undefined: no tunnel is there, or the tunnel accepts. */
function refusedByTunnel({ endpoint, from, resolver }: MadeConnection, to: ProxyOnWay, world: ExplainWorld) {
  const tunnels = world.tunnels?.();
  const server = tunnels?.client(to);
  if (tunnels === undefined || server === undefined) return undefined;
  const identity = endpoint.hbone ? resolver.identityOf(from) : undefined;
  const destination = { ip: endpoint.address, port: endpoint.port };
  return refusedAt(server, { source: from.address, destination, ...identity ? { identity } : {} }, tunnels.state);
}

/** How mutual TLS fails at a proxy, before the proxy looks at the content. */
function failedHandshake(made: MadeConnection, { simulation }: ExplainedHop, proxy: ProxyOnWay) {
  const chain = simulation.steps.find((step) => step.step === "filterChain");
  if (chain?.terminatesTls) return wrongServer(made, proxy);
  if (simulation.outcome.kind !== "forwarded") return undefined;
  return unendedTls(made, `the port takes no mutual TLS, and ${proxy.namespace}/${proxy.name} gets it as bytes`);
}

function forwarded({ endpoints, type }: ClusterStep, chosen: SimulatedEndpoint): ExplainedEnd {
  const endpoint = shownAddress(chosen.address, chosen.port);
  if (type === "ORIGINAL_DST") return { kind: "forwarded", endpoint, text: `forwarded ${endpoint}, as it was dialled` };
  const healthy = endpoints.filter((one) => one.healthy).length;
  return { kind: "forwarded", endpoint, text: `forwarded ${endpoint} (${healthy} of ${endpoints.length} healthy)` };
}

function endOf({ outcome, steps }: Simulation): ExplainedEnd {
  switch (outcome.kind) {
    case "forwarded":
      return { kind: "forwarded", text: "forwarded" };
    case "answered": {
      const location = outcome.location === undefined ? "" : ` to ${outcome.location}`;
      const text = `answered ${outcome.status}${location}: ${outcome.why}`;
      return { kind: "answered", status: outcome.status, text };
    }
    case "closed":
      return { kind: "closed", text: `connection closed: ${outcome.why}` };
    case "unknown": {
      const text = `not judged: ${outcome.why}${steps.length === 0 ? "" : " (the steps above hold)"}`;
      return { kind: "unknown", text };
    }
  }
}

function shownAddress(ip: string, port: number): string {
  return port === 0 ? ip : hostAndPort(ip, port);
}

// Ports of a workload behind several service ports with different protocols. Only a single protocol holds. A reader
// needs to know the protocol to understand why a request is treated as bytes, or the reverse.

/** A sentence about the reached port; undefined: all services of the port agree, or a Sidecar decides. */
function sharedPortNote({ proxy, simulation }: ExplainedHop, port: number, resolver: Resolver) {
  const isListed = simulation.steps.some((step) =>
    step.step === "listener" && step.causes?.some((key) => key.startsWith("Sidecar/"))
  );
  if (isListed) return undefined;
  const [first, ...others] = resolver.servedBy(proxy)
    .filter((target) => target.endpointPort === port && target.port.protocol !== "UDP");
  const differing = others.filter((other) => other.port.protocol !== first?.port.protocol);
  if (first === undefined || differing.length === 0) return undefined;
  return `port ${port} of ${proxy.namespace}/${proxy.name} is ${spoken(first)}, as ${written(first)} says; ` +
    `${differing.map((one) => `${written(one)} says ${spoken(one)}`).join(", and ")}, which does not hold there`;
}

/** `port 80 of own.test (ServiceEntry prod/own)`. */
function written({ service, port }: ServiceTarget): string {
  return `port ${port.port} of ${service.hostname} (${keyText(portCauses(service, port)[0] ?? "")})`;
}

function spoken({ port }: ServiceTarget): string {
  return port.protocol === "Unsupported" ? "recognized by its first bytes" : port.protocol;
}

// The way of a request from a workload without a proxy: to an endpoint of the service, chosen by the orchestrator, or
// to the dialled address.

/** The destination of the connection, as a simulation with the endpoints as its only step. */
function withoutProxy(resolved: ResolvedHost, resolver: Resolver): Simulation {
  const { ip, port, service } = resolved;
  const dialled = { address: ip, port } as const;
  if (service === undefined) return leadingTo("ORIGINAL_DST", [plain(dialled)]);
  const portName = service.ports.find((one) => one.port === port)?.name;
  const endpoints = resolver.endpoints(service).filter((one) => one.portName === portName);
  // Without a virtual address the client dials one of the endpoints.
  if (!service.addresses.includes(ip)) return leadingTo("ORIGINAL_DST", [plain(dialled)]);
  if (service.provider !== "Orch") {
    const why = `who answers at ${ip}, an address that only proxies know`;
    return { steps: [], outcome: { kind: "unknown", why } };
  }
  if (!endpoints.some(({ health }) => health === "healthy")) {
    return { steps: [], outcome: { kind: "closed", why: `no endpoint of ${service.hostname} is ready` } };
  }
  return leadingTo("EDS", endpoints.map((one) => plain(one)));
}

function plain({ address, port, health = "healthy" }: Pick<Endpoint, "address" | "port"> & Partial<Endpoint>) {
  const endpoint: SimulatedEndpoint = {
    ...{ address, port, priority: 0, locality: "", localityWeight: 0, weight: 1 },
    healthy: health === "healthy",
  };
  return endpoint;
}

function leadingTo(type: "EDS" | "ORIGINAL_DST", endpoints: readonly SimulatedEndpoint[]): Simulation {
  const cluster: ClusterStep = { step: "cluster", name: "", weight: 1, type, transport: "plaintext", endpoints };
  const outcome: SimulationOutcome = { kind: "forwarded", clusters: [{ name: "", weight: 1 }] };
  return { steps: [cluster], outcome };
}
