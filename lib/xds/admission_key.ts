/**
 * The key by which admission counts a call: the verified identity of the client, else its connection.
 *
 * @module
 */
import { X509Certificate } from "node:crypto";
import type { Peer } from "../sockets/transport/peer.ts";
import { spiffeId } from "../sockets/transport/spiffe_id.ts";

/** Finds the keys of clients; reads the certificate of a connection once. */
export class AdmissionKeys {
  readonly #known = new WeakMap<Peer, string | Peer>();

  /**
   * The SPIFFE identity of the client's verified certificate, or the names in it where it holds no such identity, so
   * that all connections of one identity share a turn, also after its certificate is renewed; else the connection itself, by its peer object. An address is no key:
   * clients behind a load balancer share one.
   */
  of(peer: Peer): string | Peer {
    const leaf = peer.tls?.verified === true ? peer.tls.chain[0] : undefined;
    if (leaf === undefined) return peer;
    let key = this.#known.get(peer);
    if (key === undefined) {
      key = spiffeId(peer) ?? namesOf(leaf) ?? peer;
      this.#known.set(peer, key);
    }
    return key;
  }
}

/** Subject and alternative names as one text; undefined when the certificate has neither. */
function namesOf(der: Uint8Array): string | undefined {
  const { subject, subjectAltName } = new X509Certificate(der);
  return subject || subjectAltName ? JSON.stringify([subject ?? "", subjectAltName ?? ""]) : undefined;
}
