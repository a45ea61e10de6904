/**
 * Mutual TLS on the ports of a workload, from the merged PeerAuthentication and the proxy's certificate.
 *
 * @module
 */
import { type PeerTlsMode, peerTlsModeOf, type PeerTlsPolicy } from "../../../mesh/peer_authentication.ts";
import type { FileSecret } from "../../message/file_secret.ts";
import type { Reader } from "../../reader/reader.ts";
import { INNER_ALPN, meshServerSocket } from "../../tls/mesh_server.ts";
import { secretsOf, serverIdentity } from "../../tls/secret_source.ts";
import type { MeshTls } from "./chain.ts";

/** The TLS mode of a port. */
export interface PortTls {
  /** Absent: any connection is accepted. */
  readonly mesh?: MeshTls;
  /** The policy requires TLS that the proxy cannot provide, so no connection may be accepted. */
  readonly closed?: true;
}

/** The TLS modes of a workload. */
export interface PeerTls {
  readonly policy: PeerTlsPolicy;
  /** Secrets for the listeners. */
  readonly secrets: readonly FileSecret[];
  of(port: number): PortTls;
}

/** Why a port is closed, as a clause after the port's name. */
export const WITHOUT_IDENTITY = "is closed: mutual TLS is STRICT there, and the proxy has neither an agent nor " +
  "certificate files in its metadata (TLS_SERVER_CERT_CHAIN, TLS_SERVER_KEY, TLS_SERVER_ROOT_CERT)";

/** Mutual TLS of the proxy's workload. */
export function peerTls(read: Reader): PeerTls {
  const policy = read.peerTls();
  const modes = new Set([policy.mode, ...policy.ports.values()]);
  const identity = modes.size === 1 && modes.has("DISABLE") ? undefined : serverIdentity(read);
  const sockets = identity && {
    http: meshServerSocket(read, identity, { alpn: INNER_ALPN }),
    bytes: meshServerSocket(read, identity, { alpn: [] }),
  };
  const ofMode = (mode: PeerTlsMode): PortTls => {
    if (mode === "DISABLE") return {};
    if (sockets) return { mesh: { mode, sockets } };
    return mode === "STRICT" ? { closed: true } : {};
  };
  return {
    policy,
    secrets: identity ? secretsOf([identity.certificate, identity.authorities]) : [],
    of: (port) => ofMode(peerTlsModeOf(policy, port)),
  };
}
