/**
 * Whom admission counts a call to: the identity that the client has proved, else its connection.
 *
 * @module
 */
import { X509Certificate } from "node:crypto";
import type { Peer } from "../sockets/transport/peer.ts";

/** Finds the keys of clients; reads the certificate of a connection once. */
export class AdmissionKeys {
  readonly #known = new WeakMap<Peer, string | Peer>();

  /**
   * The names in the client's certificate when TLS has verified it, so that all connections of one identity share a
   * turn, also after its certificate is renewed; else the connection itself, by its peer object. An address is no key:
   * clients behind a load balancer share one.
   */
  of(peer: Peer): string | Peer {
    const leaf = peer.tls?.verified === true ? peer.tls.chain[0] : undefined;
    if (leaf === undefined) return peer;
    let key = this.#known.get(peer);
    if (key === undefined) {
      key = namesOf(leaf) ?? peer;
      this.#known.set(peer, key);
    }
    return key;
  }
}

/** Subject and alternative names as one text; undefined when the certificate names nobody. */
function namesOf(der: Uint8Array): string | undefined {
  const { subject, subjectAltName } = new X509Certificate(der);
  return subject || subjectAltName ? JSON.stringify([subject ?? "", subjectAltName ?? ""]) : undefined;
}
