/**
 * The way of a connection whose client is in ambient mode: through the tunnel of the client's node, and past the
 * policies of the tunnel at the server.
 *
 * @module
 */
import { hostAndPort } from "../../kernel/text/host.ts";
import type { ExplainedEnd, Explanation, ProxyOnWay } from "../../debug/explanation.ts";
import type { TunnelWorkload } from "../../simulate/tunnel/addresses.ts";
import { authorizeConnection, type TunnelConnection, type TunnelVerdict } from "../../simulate/tunnel/authorize.ts";
import {
  connectByTunnel,
  type JudgedHop,
  type TunnelledConnection,
  type TunnelState,
} from "../../simulate/tunnel/connect.ts";
import type { TunnelRefusal, TunnelRoute } from "../../simulate/tunnel/outbound.ts";
import type { ReadQuestion } from "./question.ts";
import type { ResolvedHost } from "./resolve.ts";

/** The tunnels of a mesh. */
export interface TunnelWorld {
  /** The workload of a client whose connections its node's tunnel takes. Undefined: no tunnel takes them. */
  client(of: ProxyOnWay): TunnelWorkload | undefined;
  readonly state: TunnelState;
}

/** The way of a connection from a client in ambient mode, with sentences about the way. */
export interface TunnelledWay extends Pick<Explanation, "end" | "notes"> {
  /** The workload at the end, without a waypoint on the way; absent: the connection reaches none, or by a gateway. */
  readonly reached?: { readonly address: string; readonly port: number; readonly hbone: boolean };
}

/** The way of a connection from a client in ambient mode. */
export function endByTunnel(
  client: TunnelWorkload,
  { ip, port }: Pick<ResolvedHost, "ip" | "port">,
  state: TunnelState,
): TunnelledWay {
  const connection = connectByTunnel(client, { ip, port }, state);
  const { route } = connection;
  const taken = `the tunnel of its node takes connections of ${nameOf(client)}`;
  if (route.to === "unchanged") {
    const text = `forwarded ${hostAndPort(ip, port)}, as it was dialled`;
    return {
      end: { kind: "forwarded", endpoint: hostAndPort(ip, port), text },
      notes: [`${taken}, and passes this one on unchanged: no service and no workload has the address`],
    };
  }
  const notes = [`${taken}: ${placeText(route, ip)}`, ...policyNotes(connection)];
  if (route.to === "refused") return { end: closed(refusalText(route.why)), notes };
  if (route.waypoint !== undefined) return { end: endAtWaypoint(route.waypoint, connection), notes };
  return { ...endAtWorkloads(connection.hops), notes };
}

/** A request as the question describes it, with the end. @param hops Of proxies behind the tunnel. */
export function explainedByTunnel(
  question: ReadQuestion,
  request: Explanation["request"],
  { end, notes }: Pick<Explanation, "end" | "notes">,
  hops: Explanation["hops"],
): Explanation {
  const isRequest = question.scheme !== "tcp" && question.scheme !== "tls";
  const unread = isRequest
    ? ["a tunnel sees connections only: methods, paths and headers make no difference there"]
    : [];
  return { request, hops, end, shares: [], mirrors: [], notes: [...notes, ...unread] };
}

/** The end of a connection that the tunnel of a server refuses. Undefined: the tunnel accepts the connection. */
export function refusedAt(
  server: TunnelWorkload,
  connection: TunnelConnection,
  { policies }: TunnelState,
): ExplainedEnd | undefined {
  const refusal = refusalOf(authorizeConnection(connection, server, policies), server);
  return refusal === undefined ? undefined : closed(refusal);
}

/** The verdict of the tunnel at a workload, as the reason of a closed connection. Undefined: accepted. */
function refusalOf(
  verdict: TunnelVerdict | undefined,
  at: TunnelWorkload,
  where = `at the tunnel of ${nameOf(at)}`,
): string | undefined {
  if (verdict === undefined || verdict.accepted) return undefined;
  if (verdict.policy !== undefined) return `policy ${verdict.policy} refuses it ${where}`;
  return `no ALLOW policy accepts it ${where} (${verdict.asked.join(", ")})`;
}

function placeText({ service, waypoint }: Exclude<TunnelRoute, { readonly to: "unchanged" }>, ip: string): string {
  const what = service === undefined ? `workload ${ip}` : `service ${service}`;
  return waypoint === undefined ? what : `${what}, by waypoint ${waypoint}`;
}

const REFUSALS: Readonly<Record<TunnelRefusal, string>> = {
  "no such port": "the service has no such port",
  "no endpoint": "the service has no healthy endpoint with this port",
  "unknown waypoint": "nothing has the name or the address of the waypoint",
  "no waypoint endpoint": "the waypoint has no instance that takes connections",
  "no gateway": "no gateway into the network of the endpoint is known",
  "unknown gateway": "nothing has the name or the address of the gateway into the network of the endpoint",
  "no identity": "the service names no identity that may answer in the other network",
  "no address": "the workload has no address",
};

function refusalText(why: TunnelRefusal): string {
  return `the tunnel refuses it: ${REFUSALS[why]}`;
}

function endAtWorkloads(hops: readonly JudgedHop[]): Pick<TunnelledWay, "end" | "reached"> {
  const open = hops.filter(({ hop, verdict }) => refusalOf(verdict, hop.workload) === undefined);
  const [first] = open;
  if (first === undefined) {
    const [refused] = hops;
    return { end: closed((refused && refusalOf(refused.verdict, refused.hop.workload)) ?? "no endpoint takes it") };
  }
  const { transport, dialled, port, authority, workload } = first.hop;
  const endpoint = hostAndPort(dialled.ip, transport === "gateway" ? dialled.port : port);
  const how = {
    hbone: "in a tunnel",
    plain: "without a tunnel",
    gateway: `in a tunnel within a tunnel, to ${authority} by the gateway into network ${workload.network}`,
  }[transport];
  const text = `forwarded ${endpoint} ${how} (${open.length} of ${hops.length} endpoints)`;
  const end = { kind: "forwarded", endpoint, text } as const;
  return transport === "gateway"
    ? { end }
    : { end, reached: { address: dialled.ip, port, hbone: transport === "hbone" } };
}

function endAtWaypoint(waypoint: string, { hops, behind }: TunnelledConnection): ExplainedEnd {
  const atWaypoint = hops.map(({ hop, verdict }) => refusalOf(verdict, hop.workload, `at waypoint ${waypoint}`));
  const [layered] = atWaypoint;
  if (layered !== undefined && atWaypoint.every((one) => one !== undefined)) return closed(layered);
  const [first] = hops;
  const refusals = behind.map(({ hop, verdict }) => refusalOf(verdict, hop.workload));
  const [refusal] = refusals;
  if (refusal !== undefined && refusals.every((one) => one !== undefined)) {
    return closed(`behind waypoint ${waypoint}, whose identity counts there, ${refusal}`);
  }
  const endpoint = first && hostAndPort(first.hop.dialled.ip, first.hop.dialled.port);
  const by = first?.hop.transport === "gateway" ? `, by the gateway into network ${first.hop.workload.network}` : "";
  const text = `forwarded ${endpoint ?? ""} to waypoint ${waypoint}${by}, which decides what becomes of it`;
  return { kind: "forwarded", ...endpoint === undefined ? {} : { endpoint }, text };
}

/** Endpoints that refuse beside others, and policies that the tunnels lack. */
function policyNotes({ route, hops, behind }: TunnelledConnection): string[] {
  const judged = [...hops, ...behind];
  const waypoint = route.to === "hops" ? route.waypoint : undefined;
  const front = waypoint === undefined ? undefined : `at waypoint ${waypoint}`;
  const refused = [
    ...hops.flatMap(({ hop, verdict }) => refusalOf(verdict, hop.workload, front) ?? []),
    ...behind.flatMap(({ hop, verdict }) => refusalOf(verdict, hop.workload) ?? []),
  ];
  const lacked = judged.flatMap(({ verdict }) => verdict?.unknown ?? []);
  return [
    ...new Set([
      ...refused.length < judged.length ? refused : [],
      ...lacked.map((name) => `no tunnel has the policy ${name}, which is skipped`),
    ]),
  ];
}

function closed(why: string): ExplainedEnd {
  return { kind: "closed", text: `connection closed: ${why}` };
}

function nameOf({ namespace = "", name = "" }: TunnelWorkload): string {
  return `${namespace}/${name}`;
}
