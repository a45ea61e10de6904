/**
 * Where proxies exchange statements about their workloads, and where a proxy finds its own statement.
 *
 * @module
 */
import { PEER_METADATA } from "../../../config/mesh/peer_metadata.ts";
import { PEER_NAMESPACE_STATE } from "../../hbone/names.ts";
import { ENDPOINT_PARTS, GATHERED, PEER_NAMESPACE } from "./gathered.ts";
import { cel, firstOf, type FixedText, metadata, type TagCommand } from "./tag_value.ts";

/** Key of the peer's statement. */
export const PEER_KEY = "peer";
/** Key of the mark that the peer sent a statement and expects an answer. */
export const ASKED_KEY = "asked";

/** The parts of a statement: facts about a workload, by their names in the header. */
const PARTS = ["workload", "namespace", "app", "version", "service", "revision", "cluster"] as const;
type PeerPart = typeof PARTS[number];

/** Tags of a workload, without `source_` or `destination_`. */
export const PEER_TAGS: Readonly<Record<string, PeerPart>> = {
  workload: "workload",
  workload_namespace: "namespace",
  app: "app",
  version: "version",
  canonical_service: "service",
  canonical_revision: "revision",
  cluster: "cluster",
};

/** A part of the proxy's own statement. The expression serves connections, and requests that bypass the filters. */
export function ownPart(part: PeerPart, exchanged: boolean): TagCommand[] {
  const asked = cel(`xds.node.metadata['${PEER_METADATA}']['${part}']`);
  return exchanged ? [GATHERED.own(part), asked] : [asked];
}

/**
 * A part of the client's statement. For the namespace the client's certificate is more reliable than the header.
 *
 * @param exchanged Headers are exchanged.
 * @param hbone The connection's certificate is not the client's: the client's namespace is in filter state.
 */
export function clientPart(part: PeerPart, exchanged: boolean, hbone: boolean): string {
  const certified = part === "namespace" ? [certifiedNamespace(exchanged, hbone)] : [];
  return firstOf(...certified, ...headerPart(part, exchanged), ...fallbackPart(part, exchanged));
}

/** The namespace in the name of the client's certificate, as an expression. */
export const CERTIFIED_NAMESPACE =
  `re.extract(connection.uri_san_peer_certificate, '^spiffe://[^/]*/ns/([^/]+)/sa/.*$', '\\\\1')`;

function certifiedNamespace(exchanged: boolean, hbone: boolean): TagCommand {
  if (hbone) return { command: "FILTER_STATE", param: `${PEER_NAMESPACE_STATE}:PLAIN` };
  return exchanged ? GATHERED.certified : cel(CERTIFIED_NAMESPACE);
}

/** The namespace in the name of the server's certificate, evaluated at the client. */
const ASKED_CERTIFIED_NAMESPACE = CERTIFIED_NAMESPACE.replace("connection.", "upstream.");

/**
 * A part of the server's statement, else of the endpoint's metadata. For the namespace the server's certificate is more
 * reliable than both.
 *
 * @param exchanged Headers are exchanged.
 */
export function serverPart(part: PeerPart, exchanged: boolean): string {
  const certified = exchanged ? GATHERED.certified : cel(ASKED_CERTIFIED_NAMESPACE);
  return firstOf(
    ...(part === "namespace" ? [certified] : []),
    ...headerPart(part, exchanged),
    ...ofEndpoint(part, exchanged),
    ...fallbackPart(part, exchanged),
  );
}

function ofEndpoint(part: PeerPart, exchanged: boolean): TagCommand[] {
  const known = ENDPOINT_PARTS.find((one) => one === part);
  if (known === undefined) return [];
  if (exchanged) return [GATHERED.endpoint(known)];
  const text = "xds.upstream_host_metadata.filter_metadata['istio']['workload']";
  const before = `^(?:[^;]*;){${ENDPOINT_PARTS.indexOf(known)}}`;
  return [cel(`re.extract(${text}, '${before}([^;]+)(?:;.*)?$', '\\\\1')`)];
}

/** A part from the header of the other side; empty if headers are not exchanged. */
export function headerPart(part: PeerPart, exchanged: boolean): TagCommand[] {
  return exchanged ? [metadata(PEER_NAMESPACE, PEER_KEY, part)] : [];
}

function fallbackPart(part: PeerPart, exchanged: boolean): (TagCommand | FixedText)[] {
  return constant(part === "revision" ? "latest" : "unknown", exchanged);
}

/**
 * A fixed text. For requests that passed the filters, the text comes from metadata, which is cheaper than an
 * expression.
 */
export function constant(text: "unknown" | "latest" | "http", exchanged: boolean): (TagCommand | FixedText)[] {
  return exchanged ? [GATHERED.constant(text), { text }] : [{ text }];
}
