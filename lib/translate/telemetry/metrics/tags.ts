/**
 * The standard tags of metrics, with the names in Istio's dashboards.
 *
 * @module
 */
import type { TelemetrySide } from "../../../mesh/telemetry/access_logging.ts";
import type { LoggingPlace } from "../access_logs.ts";
import { LOCAL_PRINCIPAL, PEER_PRINCIPAL } from "../../hbone/names.ts";
import { BLOCK_ALL } from "../../message/unknown_hosts.ts";
import { GATHERED } from "./gathered.ts";
import { clientPart, constant, headerPart, ownPart, PEER_TAGS, serverPart } from "./peer.ts";
import { cel, firstOf, type TagCommand } from "./tag_value.ts";

/** Where metrics are measured. */
export interface MetricsPlace {
  readonly side: TelemetrySide;
  readonly place: LoggingPlace;
  /** Clients set the host and are trusted. If nothing else names the destination, the host does. */
  readonly trustsHost: boolean;
  /** Inside HBONE: identities are in filter state. */
  readonly hbone?: true;
}

/** Whose measurement it is. */
function reporterOf({ side, waypoint }: MeasuredPlace): "source" | "destination" | "waypoint" {
  return waypoint ? "waypoint" : side === "client" ? "source" : "destination";
}

/** A place with the kind of measurement. */
export interface MeasuredPlace extends MetricsPlace {
  /** Proxies exchange statements about their workloads in headers. */
  readonly exchanged: boolean;
  /** A waypoint measures: neither the client nor the server is its own workload. */
  readonly waypoint?: true;
}

/** Tags with values, in order. */
export function standardTags(at: MeasuredPlace): Map<string, string> {
  const http = at.place === "http";
  return new Map([
    ["reporter", reporterOf(at)],
    ...workloadTags(at),
    ...principals(at),
    ...serviceTags(at),
    ["request_protocol", http ? requestProtocol(at) : "tcp"],
    ...(http ? [["response_code", "%RESPONSE_CODE%"], ["grpc_response_status", "%GRPC_STATUS_NUMBER%"]] as const : []),
    ["response_flags", "%RESPONSE_FLAGS%"],
    ["connection_security_policy", securityPolicy(at)],
  ]);
}

/** The server knows the security of a connection. The client leaves the tag to the server. */
function securityPolicy({ side, hbone, exchanged }: MeasuredPlace): string {
  if (side === "client") return "unknown";
  if (hbone) return "mutual_tls";
  return firstOf(...(exchanged ? [GATHERED.tls] : []), cel("connection.mtls ? 'mutual_tls' : 'none'"));
}

function requestProtocol({ exchanged }: MeasuredPlace): string {
  const asked = cel("request.headers['content-type'].matches('^application/grpc($|[+])') ? 'grpc' : 'http'");
  return firstOf(...(exchanged ? [GATHERED.grpc, GATHERED.constant("http")] : []), asked, { text: "http" });
}

function workloadTags({ side, exchanged, hbone, waypoint }: MeasuredPlace): (readonly [string, string])[] {
  return Object.entries(PEER_TAGS).flatMap(([tag, part]) => {
    if (waypoint) {
      const [source, destination] = [clientPart(part, exchanged, hbone === true), serverPart(part, exchanged)];
      return [[`source_${tag}`, source], [`destination_${tag}`, destination]] as const;
    }
    const own = firstOf(...ownPart(part, exchanged));
    return side === "client"
      ? [[`source_${tag}`, own], [`destination_${tag}`, serverPart(part, exchanged)]] as const
      : [[`source_${tag}`, clientPart(part, exchanged, hbone === true)], [`destination_${tag}`, own]] as const;
  });
}

function principals(at: MeasuredPlace): (readonly [string, string])[] {
  const [source, destination] = identities(at);
  const unknown = constant("unknown", at.exchanged);
  return [
    ["source_principal", firstOf(source, ...unknown)],
    ["destination_principal", firstOf(destination, ...unknown)],
  ];
}

/** The identities of client and server. */
function identities({ side, hbone, waypoint }: MeasuredPlace): readonly [TagCommand, TagCommand] {
  if (side === "client") return [{ command: "UPSTREAM_LOCAL_URI_SAN" }, { command: "UPSTREAM_PEER_URI_SAN" }];
  if (!hbone) return [{ command: "DOWNSTREAM_PEER_URI_SAN" }, { command: "DOWNSTREAM_LOCAL_URI_SAN" }];
  const state = (key: string) => ({ command: "FILTER_STATE", param: `${key}:PLAIN` });
  return [state(PEER_PRINCIPAL), waypoint ? { command: "UPSTREAM_PEER_URI_SAN" } : state(LOCAL_PRINCIPAL)];
}

/** Clusters without a service, with names known to dashboards. */
const CLUSTER_NAME = cel(
  "re.extract(xds.cluster_name, '^(PassthroughCluster|BlackHoleCluster|InboundPassthroughCluster.*)$', '\\\\1')",
);

/** A refused request to an unknown host: no cluster was chosen. */
const REFUSED = cel(`{'${BLOCK_ALL}': 'BlackHoleCluster'}[xds.route_name]`);

/** The expression is for requests that bypass the filters. */
function ofService(field: "host" | "name" | "namespace", exchanged: boolean): TagCommand[] {
  const asked = cel(`xds.cluster_metadata.filter_metadata['istio']['services'][0]['${field}']`);
  return exchanged ? [GATHERED.service(field), asked] : [asked];
}

function serviceTags(at: MeasuredPlace): (readonly [string, string])[] {
  const { side, place, trustsHost, exchanged, waypoint } = at;
  const isOwn = side === "server" && !waypoint;
  const unnamed: TagCommand[] = isOwn
    ? ownPart("service", exchanged)
    : trustsHost && place === "http"
    ? [{ command: "REQUEST_HEADER", param: ":AUTHORITY" }]
    : [];
  const refused = side === "client" && place === "http" ? [REFUSED] : [];
  const namespace = isOwn ? ownPart("namespace", exchanged) : headerPart("namespace", exchanged);
  const unknown = constant("unknown", exchanged);
  return [
    ["destination_service", firstOf(...ofService("host", exchanged), ...unnamed, ...unknown)],
    [
      "destination_service_name",
      firstOf(...ofService("name", exchanged), CLUSTER_NAME, ...refused, ...unnamed, ...unknown),
    ],
    ["destination_service_namespace", firstOf(...ofService("namespace", exchanged), ...namespace, ...unknown)],
  ];
}
