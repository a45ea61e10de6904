/**
 * The way of a request over both hops: through the client's proxy, and through the proxy of the endpoint that it
 * reaches. What each proxy does is what the simulator says of the resources that it gets.
 *
 * @module
 */
import { simulate } from "../../simulate/simulate.ts";
import type { ClusterStep, SimulatedEndpoint, SimulatedRequest, Simulation } from "../../simulate/types.ts";
import { type ReadQuestion, simulatedRequest } from "./question.ts";
import { type ResolvedHost, resolveHost } from "./resolve.ts";
import { type ExplainedStep, explainedSteps } from "./steps.ts";
import type { ExplainWorld, ProxyOnWay } from "./world.ts";

/** One proxy on the way, and what it does. */
export interface ExplainedHop {
  readonly proxy: ProxyOnWay;
  readonly direction: SimulatedRequest["direction"];
  readonly steps: readonly ExplainedStep[];
  /** All that the simulator says. */
  readonly simulation: Simulation;
}

/** How the whole way ends. */
export interface ExplainedEnd {
  readonly kind: Simulation["outcome"]["kind"];
  /** Status of an answer that a proxy gives itself. */
  readonly status?: number;
  /** `10.0.0.7:9080`, where an endpoint gets the request. */
  readonly endpoint?: string;
  /** One sentence. */
  readonly text: string;
}

/** The way of a request. */
export interface Explanation {
  readonly request: {
    readonly method: string;
    readonly authority: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly scheme: string;
    /** Address that the client dials. */
    readonly destination: string;
    /** Key of the object behind the service that has that host; absent: none has. */
    readonly service?: string;
  };
  readonly hops: readonly ExplainedHop[];
  readonly end: ExplainedEnd;
  /** What a reader should know of how the question was read, one sentence each. */
  readonly notes: readonly string[];
}

/** Explains the way of a request from a client's proxy. */
export async function explainRequest(
  question: ReadQuestion,
  from: ProxyOnWay,
  world: ExplainWorld,
): Promise<Explanation> {
  const isGateway = from.type === "router";
  const resolved: ResolvedHost = isGateway
    ? { ip: from.address, port: question.port, http: question.scheme === "unknown" }
    : resolveHost(question.host, question.port, from.namespace, world.resolver);
  const sent = simulatedRequest(question, resolved, isGateway ? "direct" : "outbound", from.address);
  const first = await hop(from, sent, world);
  const notes = resolved.note === undefined ? [] : [resolved.note];
  const chosen = endpointOf(first.simulation, notes);
  const hops = [first];
  let end = endOf(first.simulation, chosen);
  const server = chosen && !isExternal(chosen.cluster) ? world.proxyAt(chosen.endpoint.address) : undefined;
  if (chosen !== undefined && server !== undefined) {
    const second = await hop(server, arriving(sent, first.simulation, chosen, from.address), world);
    hops.push(second);
    if (second.simulation.outcome.kind !== "forwarded") end = endOf(second.simulation, undefined);
  } else if (chosen !== undefined) {
    notes.push(`no proxy is known at ${chosen.endpoint.address}: what is there gets the request as it is`);
  }
  const { method, authority, path, headers } = question;
  const destination = shownAddress(resolved.ip, resolved.port);
  const service = resolved.service === undefined ? {} : { service: resolved.service.cause };
  return {
    request: { method, authority, path, headers, scheme: sent.protocol, destination, ...service },
    hops,
    end,
    notes,
  };
}

async function hop(proxy: ProxyOnWay, request: SimulatedRequest, world: ExplainWorld): Promise<ExplainedHop> {
  const resources = await world.resources(proxy);
  const simulation = simulate(resources, request);
  const steps = explainedSteps(simulation, { resources, world, proxy, port: request.destination.port });
  return { proxy, direction: request.direction, steps, simulation };
}

interface ChosenEndpoint {
  readonly cluster: ClusterStep;
  readonly endpoint: SimulatedEndpoint;
}

/** The endpoint that most requests reach; of several that are as good, the first. */
function endpointOf(simulation: Simulation, notes: string[]): ChosenEndpoint | undefined {
  if (simulation.outcome.kind !== "forwarded") return undefined;
  const clusters = simulation.steps.filter((step) => step.step === "cluster").sort((a, b) => b.weight - a.weight);
  for (const cluster of clusters) {
    const healthy = cluster.endpoints.filter((endpoint) => endpoint.healthy);
    const [endpoint] = healthy;
    if (endpoint === undefined) continue;
    if (clusters.length > 1) notes.push(`the way goes on with ${cluster.name}, which gets the largest share`);
    return { cluster, endpoint };
  }
  return undefined;
}

/** The address that the client dialled: what lies there is no part of this mesh. */
function isExternal({ type }: ClusterStep): boolean {
  return type !== "EDS" && type !== "STATIC" && type !== "ORIGINAL_DST";
}

/** The request as it arrives at the endpoint's proxy. */
function arriving(
  sent: SimulatedRequest,
  { steps }: Simulation,
  { cluster, endpoint }: ChosenEndpoint,
  source: string,
): SimulatedRequest {
  const action = steps.find((step) => step.step === "action");
  return {
    ...sent,
    direction: "inbound",
    destination: { ip: endpoint.address, port: endpoint.port },
    source: { ip: source },
    protocol: cluster.transport === "tls" ? "tls" : sent.protocol === "tls" && action ? "http" : sent.protocol,
    ...(action?.path === undefined ? {} : { path: action.path }),
    ...(action?.authority === undefined ? {} : { host: action.authority }),
  };
}

function endOf({ outcome, steps }: Simulation, chosen: ChosenEndpoint | undefined): ExplainedEnd {
  switch (outcome.kind) {
    case "forwarded": {
      if (chosen === undefined) return { kind: "forwarded", text: "forwarded to an address that is resolved then" };
      const { endpoints, type } = chosen.cluster;
      const healthy = endpoints.filter((one) => one.healthy).length;
      const endpoint = shownAddress(chosen.endpoint.address, chosen.endpoint.port);
      if (type === "ORIGINAL_DST") {
        return { kind: "forwarded", endpoint, text: `forwarded ${endpoint}, as it was dialled` };
      }
      return { kind: "forwarded", endpoint, text: `forwarded ${endpoint} (${healthy} of ${endpoints.length} healthy)` };
    }
    case "answered": {
      const location = outcome.location === undefined ? "" : ` to ${outcome.location}`;
      return {
        kind: "answered",
        status: outcome.status,
        text: `answered ${outcome.status}${location}: ${outcome.why}`,
      };
    }
    case "closed":
      return { kind: "closed", text: `connection closed: ${outcome.why}` };
    case "unknown":
      return {
        kind: "unknown",
        text: `not judged: ${outcome.why}${steps.length === 0 ? "" : " (the steps above hold)"}`,
      };
  }
}

function shownAddress(ip: string, port: number): string {
  if (port === 0) return ip;
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
