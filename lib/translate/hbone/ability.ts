/**
 * Whether a proxy accepts connections by HBONE, and whether a proxy makes connections by HBONE.
 *
 * @module
 */
import { hasExtension } from "../filters/extension.ts";
import { HTTP_RBAC } from "../filters/http/rbac/filter.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import type { Endpoint, Service } from "../../registry/types.ts";
import { isHboneEndpoint } from "../../registry/labels.ts";
import { type Identity, offersPeerTls, serverIdentity } from "../tls/secret_source.ts";
import { INTERNAL_UPSTREAM } from "./internal_upstream.ts";

/**
 * Extensions that a build needs to accept HBONE. Without one of these extensions, Envoy would refuse the listeners, or
 * admit clients that must be refused.
 */
const LISTENING = [
  "envoy.bootstrap.internal_listener",
  "envoy.built_in_formatters.cel",
  "envoy.filters.http.set_filter_state",
  "envoy.filters.listener.original_dst",
  HTTP_RBAC,
  INTERNAL_UPSTREAM,
] as const;

/** Whether the proxy is asked to accept HBONE connections, and with which identity. */
export type HboneListening = { readonly asked: false } | { readonly asked: true } & HboneAbility;

/** The identity of a proxy that can accept HBONE. */
export type HboneAbility =
  | { readonly identity: Identity }
  /** The reason for which the proxy cannot accept HBONE, as a clause about the proxy. */
  | { readonly why: string };

/** Whether the workload's proxy accepts HBONE. With the setting off, no property of the proxy is read. */
export function hboneListening(read: Reader): HboneListening {
  if (!read.settings.listensHbone || !read.property("enableHbone") || aspect(read, "library")) return { asked: false };
  return { asked: true, ...waypointListening(read) };
}

/** Whether a waypoint can accept HBONE. Nothing asks a waypoint: it has no other purpose. */
export function waypointListening(read: Reader): HboneAbility {
  const missing = LISTENING.filter((name) => !hasExtension(read, name));
  if (missing.length > 0) return { why: `its build lacks ${missing.join(", ")}` };
  const identity = serverIdentity(read);
  if (identity !== undefined) return { identity };
  return {
    why: "it has neither an agent nor certificate files in its metadata (TLS_SERVER_CERT_CHAIN, TLS_SERVER_KEY, " +
      "TLS_SERVER_ROOT_CERT)",
  };
}

/** Extensions that a build needs to make connections by HBONE. */
const SENDING = [
  "envoy.bootstrap.internal_listener",
  "envoy.filters.listener.original_dst",
  "envoy.filters.network.set_filter_state",
  INTERNAL_UPSTREAM,
] as const;

/**
 * Whether the proxy makes connections by HBONE: the proxy has an identity, and its bootstrap enables internal
 * listeners. Every agent writes such a bootstrap. A proxy without an agent declares the ability by ENABLE_HBONE.
 */
export function sendsHbone(read: Reader): boolean {
  if (!read.settings.sendsHbone || aspect(read, "library") || !offersPeerTls(read)) return false;
  const mayHave = read.derived("sendsHbone", (t) => !t.disableHboneSend && (t.agent || t.enableHbone));
  return mayHave && SENDING.every((name) => hasExtension(read, name));
}

/** Whether some endpoint of a port may be reached by HBONE, so that the cluster needs a socket for HBONE. */
export function reachesByHbone(read: Reader, { hostname }: Service, portName: string): boolean {
  if (!read.settings.sendsHbone) return false;
  const takesHbone = read.identities(hostname)?.hbonePorts.has(portName) === true || isServedByWaypoint(read, hostname);
  return takesHbone && sendsHbone(read);
}

/** Whether clients in other networks reach the waypoint of a service, whatever connections the workloads take. */
export function isServedByWaypoint(read: Reader, hostname: string): boolean {
  return read.settings.multiNetwork && read.isGlobal(hostname) && read.waypointOf(hostname) !== undefined;
}

/**
 * Whether an endpoint is reached by HBONE. An endpoint that also accepts mutual TLS is reached by HBONE only if HBONE
 * is preferred. The endpoint's properties come first: without an HBONE endpoint, no property of the proxy is read.
 */
export function isReachedByHbone(read: Reader, endpoint: Endpoint): boolean {
  const { tlsMode, address } = endpoint;
  const { sendsHbone: sends, prefersHbone: prefers } = read.settings;
  if (!sends || !isHboneEndpoint(endpoint) || address.startsWith("unix://")) return false;
  return (prefers || tlsMode !== "mesh") && sendsHbone(read);
}
