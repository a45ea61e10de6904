/**
 * Proof by a client certificate: a verified one with exactly one SPIFFE ID, which names a workload of this mesh.
 *
 * @module
 */
import { spiffeId } from "../sockets/transport/spiffe_id.ts";
import { type Authenticator, type CallerCredentials, NotAuthenticated } from "./caller.ts";
import { type TrustDomains, workloadIdentity } from "./trust.ts";

/** @param domains asked at each call, since the mesh configuration may change */
export function clientCertificateAuthenticator(domains: () => TrustDomains): Authenticator {
  return {
    name: "client certificate",
    authenticate({ peer }: CallerCredentials) {
      if (peer.tls === undefined) throw new NotAuthenticated("none, the connection is in plain text");
      if (!peer.tls.verified) throw new NotAuthenticated(peer.tls.unverifiedReason ?? "not verified");
      const id = spiffeId(peer);
      if (id === undefined) throw new NotAuthenticated("expected exactly one URI in it, a SPIFFE ID");
      return workloadIdentity(id, domains());
    },
  };
}
