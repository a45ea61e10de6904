/**
 * How an agent reaches the control plane: discovery, and the certificate authority.
 *
 * Permissions: net (both), read (tokens, certificates), write (the folder of certificates).
 *
 * @module
 */
import type { Log } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { KeySpec } from "../../pki/public_key.ts";
import { workloadUri } from "../../pki/spiffe.ts";
import type { ServerCall } from "../../grpc/client/server_stream.ts";
import { authoritySigner } from "../secrets/authority_client.ts";
import { orderCertificate } from "../secrets/issued_certificate.ts";
import { writeCertificateFiles } from "../secrets/output_files.ts";
import { usableRoots } from "../secrets/usable_roots.ts";
import { WorkloadCertificate } from "../secrets/workload_certificate.ts";
import type { GoogleIdentity } from "../tokens/google_identity.ts";
import type { AgentInput } from "./agent_input.ts";
import { type ControlPlaneServer, headersOf, missingCredential, serverCalls } from "./server_calls.ts";

/** Port without TLS on servers of the field. */
const PLAINTEXT_PORT = ":15010";

/**
 * How discovery is called.
 *
 * @param machine token of the machine; undefined: tokens are in files
 */
export function discoveryServer(input: AgentInput, machine: GoogleIdentity | undefined): () => Promise<ServerCall> {
  const { settings, proxy, variables } = input;
  return serverCalls({
    address: proxy.discoveryAddress,
    plaintext: proxy.controlPlaneAuthPolicy === "NONE" || proxy.discoveryAddress.endsWith(PLAINTEXT_PORT),
    ...credentials(input, settings.XDS_ROOT_CA, machine),
    headers: headersOf(variables, "XDS_HEADER_", settings.MESH_META_CLUSTER_ID),
  });
}

/** The workload's certificate from the authority, not asked for yet. */
export function workloadCertificate(
  input: AgentInput,
  { clock, log, metrics }: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
  machine: GoogleIdentity | undefined,
): WorkloadCertificate {
  const { settings, workload, proxy, variables } = input;
  const address = settings.CA_ADDR || proxy.discoveryAddress;
  const authority = {
    address,
    plaintext: address.endsWith(PLAINTEXT_PORT) ||
      (settings.CA_ADDR === "" && proxy.controlPlaneAuthPolicy === "NONE"),
    ...credentials(input, settings.CA_ROOT_CA, machine),
    headers: headersOf(variables, "CA_HEADER_", settings.MESH_META_CLUSTER_ID),
  };
  const order = {
    uri: workloadUri({
      trustDomain: settings.TRUST_DOMAIN,
      namespace: workload.namespace,
      serviceAccount: workload.serviceAccount,
    }),
    key: keySpec(input),
    ttl: settings.SECRET_TTL,
    pkcs8: settings.PKCS8_KEY,
    now: () => clock.now(),
  };
  const signer = authoritySigner(serverCalls(authority), settings.MESH_META_CERT_SIGNER);
  const folder = settings.OUTPUT_CERTS;
  const made = new WorkloadCertificate({
    order: () => orderCertificate(order, signer).catch((error: Error) => withMissing(error, authority)),
    renewal: {
      graceRatio: settings.SECRET_GRACE_PERIOD_RATIO,
      jitter: settings.SECRET_GRACE_PERIOD_RATIO_JITTER,
    },
    moreRoots: usableRoots(proxy.caCertificatesPem ?? [], "caCertificatesPem", log.scope("citadelclient")),
    ...(folder === "" ? {} : { store: (certificate) => writeCertificateFiles(folder, certificate) }),
    ...{ clock, metrics, log: log.scope("citadelclient") },
  });
  metrics.onScrape(() => {
    if (made.current === undefined) return;
    const { notBefore, notAfter } = made.current;
    const now = clock.now();
    metrics.gauge("mesh_certificate_valid").set(notBefore <= now && now <= notAfter ? 1 : 0);
    const left = (notAfter - now) / 1000;
    metrics.gauge("cert_expiry_seconds").set({ resource_name: "default" }, left);
  });
  return made;
}

/** If an authority refuses a call without a token, the reason for the missing token is added here. */
async function withMissing(error: Error, authority: ControlPlaneServer): Promise<never> {
  const missing = await missingCredential(authority);
  throw missing === undefined ? error : new Error(`${error.message} (there is ${missing})`, { cause: error });
}

function keySpec({ settings }: AgentInput): KeySpec {
  return settings.ECC_SIGNATURE_ALGORITHM === "ECDSA"
    ? { type: "EC", curve: settings.ECC_CURVE === "P384" ? "P-384" : "P-256" }
    : { type: "RSA", bits: settings.WORKLOAD_RSA_KEY_SIZE };
}

/**
 * A machine with a certificate shows this certificate, or the certificate issued in its place. A pod shows its token.
 */
function credentials({ settings, paths }: AgentInput, roots: string, machine: GoogleIdentity | undefined) {
  const provisioned = settings.PROV_CERT === "" ? [] : [settings.PROV_CERT];
  const renewed = settings.OUTPUT_CERTS === "" ? [] : [settings.OUTPUT_CERTS];
  return {
    serverName: settings.MESHD_SAN,
    fips: settings.COMPLIANCE_POLICY === "fips-140-2",
    roots: roots === "" ? [...provisioned.map((folder) => `${folder}/root-cert.pem`), ...paths.roots] : [roots],
    tokens: provisioned.length === 0 ? paths.tokens : [],
    ...(machine === undefined ? {} : { machineToken: () => machine.token() }),
    identities: provisioned.length === 0 ? [] : [...renewed, ...provisioned],
  };
}
