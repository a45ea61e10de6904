/**
 * Chooses the filter chain of a listener for a connection.
 *
 * Envoy narrows the chains by one criterion after another, in a fixed order. After each criterion only the chains with
 * the most specific matching value remain, and Envoy never goes back. So a chain that matches as a whole may lose to a
 * chain that is more specific in an earlier criterion. If that chain then fails a later criterion, the default chain
 * takes the connection, or no chain does. (Order: documentation of `FilterChainMatch`.)
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { isLoopback, longestRange, sameIp } from "./ip.ts";
import type { DetectionStep, SimulatedRequest } from "./types.ts";

type FilterChain = envoy.config.listener.v3.FilterChain;
type ChainCriteria = envoy.config.listener.v3.FilterChainMatch;

/** A connection as the chains see it. */
export interface InspectedConnection {
  readonly request: SimulatedRequest;
  readonly detection: DetectionStep;
}

/** The chosen chain. */
export interface ChosenChain {
  readonly chain: FilterChain;
  /** -1: the default chain. */
  readonly index: number;
  readonly matched: readonly string[];
}

/** How specific a chain is for a criterion. Undefined: the chain does not match. 0: the chain has no condition. */
type CriterionFit = { readonly rank: number; readonly text: string } | undefined;

const INDIFFERENT: CriterionFit = { rank: 0, text: "" };

/** The criteria in Envoy's order. */
const CRITERIA: readonly ((match: ChainCriteria, connection: InspectedConnection) => CriterionFit)[] = [
  destinationPort,
  (match, { request }) => range("destination", match.prefix_ranges, request.destination.ip),
  serverName,
  transportProtocol,
  applicationProtocol,
  (match, { request }) => range("direct source", match.direct_source_prefix_ranges, sourceIp(request)),
  sourceType,
  (match, { request }) => range("source", match.source_prefix_ranges, sourceIp(request)),
  sourcePort,
];

/** The chain of a connection; undefined when there is none: the connection is closed. */
export function chooseChain(
  listener: envoy.config.listener.v3.Listener,
  connection: InspectedConnection,
): ChosenChain | undefined {
  let left = (listener.filter_chains ?? []).map((chain, index) => ({ chain, index }));
  const matched: string[] = [];
  for (const criterion of CRITERIA) {
    const fits = left.map((candidate) => criterion(candidate.chain.filter_chain_match ?? {}, connection));
    const best = Math.max(...fits.map((fit) => fit?.rank ?? -1));
    left = left.filter((_, i) => fits[i]?.rank === best && best >= 0);
    const text = fits.find((fit) => fit?.rank === best)?.text;
    if (text) matched.push(text);
  }
  const [first] = left;
  if (first) return { ...first, matched };
  const rest = listener.default_filter_chain;
  return rest && { chain: rest, index: -1, matched: [] };
}

function destinationPort(match: ChainCriteria, { request }: InspectedConnection): CriterionFit {
  const port = match.destination_port?.value;
  if (!port) return INDIFFERENT;
  return port === request.destination.port ? { rank: 1, text: `destination port ${port}` } : undefined;
}

function range(what: string, ranges: ChainCriteria["prefix_ranges"], address: string): CriterionFit {
  if (!ranges?.length) return INDIFFERENT;
  const length = longestRange(ranges, address);
  return length === undefined ? undefined : { rank: length + 1, text: `${what} ${address} within /${length}` };
}

function serverName(match: ChainCriteria, { detection: { sni } }: InspectedConnection): CriterionFit {
  if (!match.server_names?.length) return INDIFFERENT;
  let best: CriterionFit;
  for (const name of match.server_names) {
    const suffix = name.startsWith("*.") ? name.slice(1) : undefined;
    // A longer suffix is more specific; a whole name is more so than any suffix.
    const rank = suffix === undefined
      ? (name === sni ? Infinity : -1)
      : (sni.endsWith(suffix) && sni.length > suffix.length ? suffix.length : -1);
    if (rank > (best?.rank ?? 0)) best = { rank, text: `server name ${name}` };
  }
  return best;
}

function transportProtocol(match: ChainCriteria, { detection }: InspectedConnection): CriterionFit {
  if (!match.transport_protocol) return INDIFFERENT;
  return match.transport_protocol === detection.transport
    ? { rank: 1, text: `transport ${match.transport_protocol}` }
    : undefined;
}

function applicationProtocol(
  match: ChainCriteria,
  { detection: { applicationProtocols } }: InspectedConnection,
): CriterionFit {
  if (!match.application_protocols?.length) return INDIFFERENT;
  // The first protocol of the client that any chain names decides.
  const index = applicationProtocols.findIndex((protocol) => match.application_protocols?.includes(protocol));
  if (index < 0) return undefined;
  return { rank: applicationProtocols.length - index, text: `application protocol ${applicationProtocols[index]}` };
}

/** 0 any, 1 same IP or loopback, 2 external. */
function sourceType(match: ChainCriteria, { request }: InspectedConnection): CriterionFit {
  if (!match.source_type) return INDIFFERENT;
  const local = isLoopback(sourceIp(request)) || sameIp(sourceIp(request), request.destination.ip);
  if (match.source_type === 1) return local ? { rank: 1, text: "source is local" } : undefined;
  return local ? undefined : { rank: 1, text: "source is external" };
}

function sourcePort(match: ChainCriteria, { request }: InspectedConnection): CriterionFit {
  if (!match.source_ports?.length) return INDIFFERENT;
  const port = request.source?.port;
  return port !== undefined && match.source_ports.includes(port) ? { rank: 1, text: `source port ${port}` } : undefined;
}

function sourceIp(request: SimulatedRequest): string {
  return request.source?.ip ?? "127.0.0.1";
}
