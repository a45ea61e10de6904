/**
 * Where proxies say to each other which workload they are, and where a proxy finds that of itself.
 *
 * @module
 */
import { PEER_METADATA } from "../../../config/mesh/peer_metadata.ts";
import { PEER_NAMESPACE_STATE } from "../../hbone/names.ts";
import { cel, firstOf, type FixedText, metadata, type TagCommand, UNKNOWN } from "./tag_value.ts";

/** Namespace of the metadata that the header is read into. */
export const PEER_NAMESPACE = "mesh.peer";
/** Key of the peer's statement. */
export const PEER_KEY = "peer";
/** Key of the mark that the peer has said something, so that it is answered. */
export const ASKED_KEY = "asked";

/** The facts about a workload, by the names of its parts in the header. */
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

/** The parts in an endpoint's metadata, in order: `workload;namespace;canonical name;canonical revision;cluster`. */
const OF_ENDPOINT: readonly PeerPart[] = ["workload", "namespace", "service", "revision", "cluster"];

/** The proxy's own part. */
export function ownPart(part: PeerPart): TagCommand {
  return cel(`xds.node.metadata['${PEER_METADATA}']['${part}']`);
}

/**
 * The part of the one that asked. Its certificate knows the namespace better than its header.
 *
 * @param exchanged There are headers.
 * @param hbone The certificate is not that of the connection; its namespace is in filter state.
 */
export function askingPart(part: PeerPart, exchanged: boolean, hbone: boolean): string {
  return firstOf(...(part === "namespace" ? [certified(hbone)] : []), ...saidOf(part, exchanged), nothingOf(part));
}

/** The namespace in the name of the client's certificate, as an expression. */
export const CERTIFIED_NAMESPACE =
  `re.extract(connection.uri_san_peer_certificate, '^spiffe://[^/]*/ns/([^/]+)/sa/.*$', '\\\\1')`;

function certified(hbone: boolean): TagCommand {
  return hbone ? { command: "FILTER_STATE", param: `${PEER_NAMESPACE_STATE}:PLAIN` } : cel(CERTIFIED_NAMESPACE);
}

/** The namespace in the name of the server's certificate, at a client. */
const ASKED_CERTIFIED_NAMESPACE = CERTIFIED_NAMESPACE.replace("connection.", "upstream.");

/**
 * The part of the one that was asked: as it says, else as its endpoint's metadata says. Here, too, the certificate knows
 * the namespace better.
 *
 * @param exchanged There are headers.
 */
export function askedPart(part: PeerPart, exchanged: boolean): string {
  const at = OF_ENDPOINT.indexOf(part);
  const text = "xds.upstream_host_metadata.filter_metadata['istio']['workload']";
  const ofEndpoint = at < 0 ? [] : [cel(`re.extract(${text}, '^(?:[^;]*;){${at}}([^;]+)(?:;.*)?$', '\\\\1')`)];
  const certified = part === "namespace" ? [cel(ASKED_CERTIFIED_NAMESPACE)] : [];
  return firstOf(...certified, ...saidOf(part, exchanged), ...ofEndpoint, nothingOf(part));
}

/** Tags from the header of the other side. */
export function saidOf(part: PeerPart, exchanged: boolean): TagCommand[] {
  return exchanged ? [metadata(PEER_NAMESPACE, PEER_KEY, part)] : [];
}

function nothingOf(part: PeerPart): FixedText {
  return part === "revision" ? { text: "latest" } : UNKNOWN;
}
