/**
 * The names of all kinds.
 *
 * @module
 */

/** Every kind, in the order of tables and pages. */
export const KINDS = [
  "VirtualService",
  "DestinationRule",
  "Gateway",
  "ServiceEntry",
  "WorkloadEntry",
  "WorkloadGroup",
  "Sidecar",
  "ProxyConfig",
  "ProxyFilter",
  "AuthorizationPolicy",
  "RequestAuthentication",
  "PeerAuthentication",
  "Telemetry",
  "WasmPlugin",
] as const;

/** Name of a kind. */
export type Kind = (typeof KINDS)[number];
