/**
 * Proof by a client certificate. The certificate must be verified and not revoked, and its only URI must be the SPIFFE
 * ID of a workload of this mesh.
 *
 * @module
 */
import { PkiError } from "../pki/pki_error.ts";
import { type Certificate, readCertificate } from "../pki/certificate.ts";
import { type RevocationList, revokedIn } from "../pki/revocation.ts";
import { spiffeId } from "../sockets/transport/spiffe_id.ts";
import { type Authenticator, type CallerCredentials, NotAuthenticated } from "./caller.ts";
import { type TrustDomains, workloadIdentity } from "./trust.ts";

/**
 * @param domains asked at each call, since the mesh configuration may change
 * @param revocations the lists of the mesh's authorities, asked at each call; default: none
 */
export function clientCertificateAuthenticator(
  domains: () => TrustDomains,
  revocations: () => readonly RevocationList[] = () => [],
): Authenticator {
  return {
    name: "client certificate",
    authenticate({ peer }: CallerCredentials) {
      if (peer.tls === undefined) throw new NotAuthenticated("none, the connection is in plain text");
      if (!peer.tls.verified) throw new NotAuthenticated(peer.tls.unverifiedReason ?? "not verified");
      checkRevoked(peer.tls.chain, revocations());
      const id = spiffeId(peer);
      if (id === undefined) throw new NotAuthenticated("expected exactly one URI in the certificate, a SPIFFE ID");
      return workloadIdentity(id, domains());
    },
  };
}

function checkRevoked(chain: readonly Uint8Array[], lists: readonly RevocationList[]): void {
  if (lists.length === 0) return;
  let revoked: Certificate | undefined;
  try {
    revoked = revokedIn(chain.map((der) => readCertificate(der)), lists);
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    throw new NotAuthenticated(error.message);
  }
  if (revoked === undefined) return;
  throw new NotAuthenticated(`certificate ${revoked.serial} was revoked by ${JSON.stringify(revoked.issuer)}`);
}
