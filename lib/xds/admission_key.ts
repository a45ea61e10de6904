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

/**
 * The group among which a client without an identity is served: its address; of IPv6 the network of 64 bits, because each
 * host may take any address in it.
 *
 * @param address `address:port`, or the path of a Unix socket
 */
export function addressGroup(address: string): string {
  const at = address.startsWith("/") ? -1 : address.lastIndexOf(":");
  const host = at < 0 ? address : address.slice(0, at);
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(host);
  if (v4 !== null) return `address ${v4[1]}`;
  if (at < 0 || !host.includes(":")) return `address ${host}`;
  const [head = "", tail] = host.split("::");
  const groups = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const all = [...groups, ...Array<string>(Math.max(0, 8 - groups.length - last.length)).fill("0"), ...last];
  return `address ${all.slice(0, 4).join(":")}::/64`;
}

/** Subject and alternative names as one text; undefined when the certificate has neither. */
function namesOf(der: Uint8Array): string | undefined {
  const { subject, subjectAltName } = new X509Certificate(der);
  return subject || subjectAltName ? JSON.stringify([subject ?? "", subjectAltName ?? ""]) : undefined;
}
