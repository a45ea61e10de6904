/**
 * The standard tags of metrics, under the names that dashboards made for Istio know.
 *
 * @module
 */
import type { TelemetrySide } from "../../../mesh/telemetry/access_logging.ts";
import type { LoggingPlace } from "../access_logs.ts";
import { LOCAL_PRINCIPAL, PEER_PRINCIPAL } from "../../hbone/names.ts";
import { BLOCK_ALL } from "../../message/unknown_hosts.ts";
import { askedPart, askingPart, ownPart, PEER_TAGS, saidOf } from "./peer.ts";
import { cel, commandText, firstOf, type TagCommand, UNKNOWN } from "./tag_value.ts";

/** Where metrics are measured. */
export interface MetricsPlace {
  readonly side: TelemetrySide;
  readonly place: LoggingPlace;
  /** Clients name the host, and are known: where nothing else names the destination, the host does. */
  readonly trustsHost: boolean;
  /** Inside of HBONE: identities are in filter state. */
  readonly hbone?: true;
}

/** As the proxy measures there. */
export interface MeasuredPlace extends MetricsPlace {
  /** Proxies say in headers which workload they are. */
  readonly exchanged: boolean;
}

/** Tags with their values, in their order. */
export function standardTags(at: MeasuredPlace): Map<string, string> {
  const http = at.place === "http";
  return new Map([
    ["reporter", at.side === "client" ? "source" : "destination"],
    ...workloadTags(at),
    ...principals(at),
    ...serviceTags(at),
    ["request_protocol", http ? REQUEST_PROTOCOL : "tcp"],
    ...(http ? [["response_code", "%RESPONSE_CODE%"], ["grpc_response_status", "%GRPC_STATUS_NUMBER%"]] as const : []),
    ["response_flags", "%RESPONSE_FLAGS%"],
    ["connection_security_policy", at.side === "client" ? "unknown" : at.hbone ? "mutual_tls" : MUTUAL_OR_NOT],
  ]);
}

/** The server knows how a connection came to it; the client leaves that to the server. */
const MUTUAL_OR_NOT = commandText(cel("connection.mtls ? 'mutual_tls' : 'none'"));

const REQUEST_PROTOCOL = firstOf(
  cel("request.headers['content-type'].matches('^application/grpc($|[+])') ? 'grpc' : 'http'"),
  cel("'http'"),
);

function workloadTags({ side, exchanged, hbone }: MeasuredPlace): (readonly [string, string])[] {
  return Object.entries(PEER_TAGS).flatMap(([tag, part]) => {
    const own = commandText(ownPart(part));
    return side === "client"
      ? [[`source_${tag}`, own], [`destination_${tag}`, askedPart(part, exchanged)]] as const
      : [[`source_${tag}`, askingPart(part, exchanged, hbone === true)], [`destination_${tag}`, own]] as const;
  });
}

function principals(at: MeasuredPlace): (readonly [string, string])[] {
  const [source, destination] = identities(at);
  return [["source_principal", firstOf(source, UNKNOWN)], ["destination_principal", firstOf(destination, UNKNOWN)]];
}

/** Of the client and of the server. */
function identities({ side, hbone }: MeasuredPlace): readonly [TagCommand, TagCommand] {
  if (side === "client") return [{ command: "UPSTREAM_LOCAL_URI_SAN" }, { command: "UPSTREAM_PEER_URI_SAN" }];
  if (!hbone) return [{ command: "DOWNSTREAM_PEER_URI_SAN" }, { command: "DOWNSTREAM_LOCAL_URI_SAN" }];
  const state = (key: string) => ({ command: "FILTER_STATE", param: `${key}:PLAIN` });
  return [state(PEER_PRINCIPAL), state(LOCAL_PRINCIPAL)];
}

/** Clusters that stand for no service, which dashboards know by name. */
const CLUSTER_NAME = cel(
  "re.extract(xds.cluster_name, '^(PassthroughCluster|BlackHoleCluster|InboundPassthroughCluster.*)$', '\\\\1')",
);

/** A request to a host that nobody knows, where such are refused: no cluster was chosen. */
const REFUSED = cel(`{'${BLOCK_ALL}': 'BlackHoleCluster'}[xds.route_name]`);

function ofService(field: string): TagCommand {
  return cel(`xds.cluster_metadata.filter_metadata['istio']['services'][0]['${field}']`);
}

function serviceTags({ side, place, trustsHost, exchanged }: MeasuredPlace): (readonly [string, string])[] {
  const unnamed: TagCommand[] = side === "server"
    ? [ownPart("service")]
    : trustsHost && place === "http"
    ? [{ command: "REQUEST_HEADER", param: ":AUTHORITY" }]
    : [];
  const refused = side === "client" && place === "http" ? [REFUSED] : [];
  const namespace = side === "server" ? [ownPart("namespace")] : saidOf("namespace", exchanged);
  return [
    ["destination_service", firstOf(ofService("host"), ...unnamed, UNKNOWN)],
    ["destination_service_name", firstOf(ofService("name"), CLUSTER_NAME, ...refused, ...unnamed, UNKNOWN)],
    ["destination_service_namespace", firstOf(ofService("namespace"), ...namespace, UNKNOWN)],
  ];
}
