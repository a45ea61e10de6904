/**
 * A request on its way between two proxies: the connection as seen by the second proxy, and the outcome of mutual TLS
 * if no server ends the TLS connection.
 *
 * @module
 */
import type { ExplainedEnd, ProxyOnWay } from "../../debug/explanation.ts";
import type { ClusterStep, SimulatedEndpoint, SimulatedRequest, Simulation } from "../../simulate/types.ts";
import type { Resolver } from "./resolve.ts";

/** The facts about an endpoint that matter for the way to the endpoint. */
export type DialledEndpoint = Pick<SimulatedEndpoint, "address" | "port" | "transport" | "hbone">;

/** A connection made by a proxy. */
export interface MadeConnection {
  readonly sent: SimulatedRequest;
  /** What the client's proxy did with the request. */
  readonly simulation: Simulation;
  readonly cluster: ClusterStep;
  readonly endpoint: DialledEndpoint;
  readonly from: ProxyOnWay;
  readonly resolver: Resolver;
}

/** The request as it arrives at the endpoint's proxy. */
export function arriving(made: MadeConnection): SimulatedRequest {
  const { sent, cluster, endpoint, from } = made;
  const action = actionOf(made);
  const encrypted = isEncrypted(made);
  const alpn = encrypted ? cluster.alpn?.[action ? "http" : "bytes"] : undefined;
  const { identity: _ofClient, ...others } = sent;
  return {
    ...others,
    direction: "inbound",
    destination: { ip: endpoint.address, port: endpoint.port },
    source: { ip: from.address },
    ...(endpoint.hbone ? { hbone: true } : {}),
    ...shownIdentity(made),
    protocol: encrypted ? "tls" : sent.protocol === "tls" && action ? "http" : sent.protocol,
    ...(alpn ? { alpn } : {}),
    ...(action?.path === undefined ? {} : { path: action.path }),
    ...(action?.authority === undefined ? {} : { host: action.authority }),
  };
}

function actionOf({ simulation: { steps } }: MadeConnection) {
  return steps.find((step) => step.step === "action");
}

function isEncrypted({ cluster, endpoint }: MadeConnection): boolean {
  return cluster.transport === "tls" || endpoint.transport === "tls";
}

/** Whether the client's proxy itself speaks mutual TLS of the mesh to the endpoint, outside of HBONE. */
function speaksMeshTls(made: MadeConnection): boolean {
  return isEncrypted(made) && made.cluster.tls?.certificate === "mesh";
}

/** The identity shown by the client's proxy, as far as known. */
function shownIdentity(made: MadeConnection): Pick<SimulatedRequest, "identity" | "identityStart"> {
  const { cluster, endpoint, from, resolver, sent } = made;
  if (!endpoint.hbone && !speaksMeshTls(made)) {
    // TLS of the client itself is passed on with the client's certificate.
    if (!isEncrypted(made)) return sent.protocol === "tls" && actionOf(made) === undefined ? {} : { identity: "" };
    return cluster.tls?.certificate === "none" ? { identity: "" } : {};
  }
  const identity = resolver.identityOf(from);
  return identity === undefined ? { identityStart: resolver.identityStart(from.namespace) } : { identity };
}

/**
 * The outcome of a mutual TLS connection that the endpoint does not end: the workload runs no proxy, or the proxy
 * passes the port's bytes on. To the client's proxy a failed handshake is a request without an answer.
 *
 * @param why What is there instead.
 */
export function unendedTls(made: MadeConnection, why: string): ExplainedEnd | undefined {
  if (!speaksMeshTls(made) || made.endpoint.hbone) return undefined;
  if (actionOf(made) === undefined) return { kind: "closed", text: `connection closed: ${why}` };
  return { kind: "answered", status: 503, text: `answered 503: ${why}` };
}

/**
 * The name that the client's proxy demands and the server's proxy does not have; undefined: the names match, or are not
 * known.
 */
export function wrongServer(made: MadeConnection, server: ProxyOnWay): ExplainedEnd | undefined {
  const { cluster, resolver } = made;
  const names = speaksMeshTls(made) ? cluster.tls?.serverNames ?? [] : [];
  const identity = resolver.identityOf(server);
  if (names.length === 0 || identity === undefined || names.includes(identity)) return undefined;
  return unendedTls(made, `${identity} is not one of the names that the client expects (${names.join(", ")})`);
}
