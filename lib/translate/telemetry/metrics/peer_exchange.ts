/**
 * Filters for the exchange of statements about workloads between proxies:
 *
 *     client ── x-mesh-peer: its own ──> server          only to clusters of the mesh
 *            <── x-mesh-peer: its own ──                 only to one that asked, over mutual TLS
 *
 * Each side removes the received header, so applications never see the header.
 *
 * @module
 */
import { HeaderValueOption_HeaderAppendAction as AppendAction } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { PEER_HEADER } from "../../../config/mesh/peer_metadata.ts";
import type { TelemetrySide } from "../../../mesh/telemetry/access_logging.ts";
import { any } from "../../../pb/codec.ts";
import { PEER_CLUSTER_FIELD } from "../../message/peer_cluster.ts";
import { hasExtension } from "../../filters/extension.ts";
import { aspect } from "../../reader/aspect.ts";
import type { Reader } from "../../reader/reader.ts";
import {
  GATHER_ENDPOINT,
  GATHER_SELF,
  GATHER_SERVICE,
  GATHER_TLS,
  gatherCertified,
  type Gathering,
  type HeaderMutation,
  OWN_STATEMENT,
  PEER_NAMESPACE,
  REQUEST_RULES,
  statementAt,
} from "./gathered.ts";
import { ASKED_KEY, PEER_KEY } from "./peer.ts";
import { cel, commandText } from "./tag_value.ts";

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type HeaderRules = envoy.extensions.filters.http.header_to_metadata.v3.Config;
type HeaderMutations = envoy.extensions.filters.http.header_mutation.v3.Mutations;

const READS = "envoy.filters.http.header_to_metadata";
const WRITES = "envoy.filters.http.header_mutation";

/**
 * The filters of one side, in the order for requests. Empty when nothing is exchanged.
 *
 * @param hbone Requests arrived by HBONE, so all requests are from the mesh.
 */
export function peerExchange(read: Reader, side: TelemetrySide, hbone = false): readonly HttpFilter[] {
  if (!gathersFacts(read)) return [];
  if (side === "client") return knownFilters("client", clientFilters);
  const believesAll = hbone || read.proxyHeaders()?.metadataExchangeHeaders?.mode === "UNDEFINED";
  return knownFilters(`server ${believesAll} ${hbone}`, () => serverFilters(believesAll, hbone));
}

/** Whether a proxy's HTTP listeners have the filters. The clients and servers of a waypoint have no proxies of their own. */
export function gathersFacts(read: Reader): boolean {
  return !aspect(read, "waypoint") && read.exchangesPeers() && hasExtension(read, READS) && hasExtension(read, WRITES);
}

/** Filters by kind. The filters contain no facts about a proxy, so all listeners share them. */
const known = new Map<string, readonly HttpFilter[]>();

function knownFilters(kind: string, make: () => HttpFilter[]): readonly HttpFilter[] {
  let filters = known.get(kind);
  if (filters === undefined) known.set(kind, filters = make());
  return filters;
}

/** Whether the request's cluster is in the mesh. Without a cluster the evaluation fails, which means no. */
const TO_MESH = `xds.cluster_metadata.filter_metadata['istio']['${PEER_CLUSTER_FIELD}']`;

/**
 * An answer passes the filters in reverse order: a statement from outside the mesh is overwritten before being read.
 */
function clientFilters(): HttpFilter[] {
  const ofMesh = `'istio' in xds.cluster_metadata.filter_metadata && '${PEER_CLUSTER_FIELD}' in ` +
    `xds.cluster_metadata.filter_metadata['istio']`;
  const ofRequest = [GATHER_SELF, GATHER_SERVICE];
  const ofAnswer = [GATHER_ENDPOINT, gatherCertified("UPSTREAM")];
  return [
    writes({ request_mutations: mutationsOf(ofRequest) }),
    reads({
      request_rules: [...REQUEST_RULES, ...ofRequest.flatMap(({ rules }) => rules)],
      response_rules: [peerRule(), ...ofAnswer.flatMap(({ rules }) => rules)],
    }),
    writes({
      request_mutations: [
        { remove: PEER_HEADER },
        written(`${TO_MESH} ? ${OWN_STATEMENT} : ''`, "OVERWRITE_IF_EXISTS_OR_ADD"),
      ],
      response_mutations: [written(`${ofMesh} ? '' : '${NOBODY}'`, "OVERWRITE_IF_EXISTS"), ...mutationsOf(ofAnswer)],
    }),
  ];
}

/** Statements over plain connections are not trusted, unless the user trusts all. */
function serverFilters(believesAll: boolean, hbone: boolean): HttpFilter[] {
  const asked = `metadata.filter_metadata['${PEER_NAMESPACE}']['${ASKED_KEY}'] == 'y'`;
  const isKnown = believesAll ? asked : `connection.mtls && ${asked}`;
  const gathered = [GATHER_SELF, GATHER_SERVICE, ...(hbone ? [] : [gatherCertified("DOWNSTREAM"), GATHER_TLS])];
  const disbelieved = believesAll ? [] : [written(`connection.mtls ? '' : '${NOBODY}'`, "OVERWRITE_IF_EXISTS")];
  return [
    writes({ request_mutations: [...disbelieved, ...mutationsOf(gathered)] }),
    reads({
      request_rules: [
        ...REQUEST_RULES,
        ...gathered.flatMap(({ rules }) => rules),
        { header: PEER_HEADER, on_header_present: { metadata_namespace: PEER_NAMESPACE, key: ASKED_KEY, value: "y" } },
        peerRule(),
      ],
    }),
    writes({
      response_mutations: [
        { remove: PEER_HEADER },
        written(`${isKnown} ? ${OWN_STATEMENT} : ''`, "OVERWRITE_IF_EXISTS_OR_ADD"),
      ],
    }),
  ];
}

function mutationsOf(gathered: readonly Gathering[]): HeaderMutation[] {
  return gathered.flatMap(({ mutations }) => mutations);
}

/** An unreadable message, so nothing is known. */
const NOBODY = "-";

function peerRule(): NonNullable<HeaderRules["request_rules"]>[number] {
  return {
    header: PEER_HEADER,
    on_header_present: { metadata_namespace: PEER_NAMESPACE, ...statementAt(PEER_KEY) },
    remove: true,
  };
}

/** Writes the value of an expression, unless empty. */
function written(expression: string, action: keyof typeof AppendAction): HeaderMutation {
  const header = { key: PEER_HEADER, value: commandText(cel(expression)) };
  return { append: { header, append_action: AppendAction[action] } };
}

function reads(config: HeaderRules): HttpFilter {
  return { name: READS, typed_config: any("envoy.extensions.filters.http.header_to_metadata.v3.Config", config) };
}

function writes(mutations: HeaderMutations): HttpFilter {
  const config = { mutations };
  return {
    name: WRITES,
    typed_config: any("envoy.extensions.filters.http.header_mutation.v3.HeaderMutation", config),
  };
}
