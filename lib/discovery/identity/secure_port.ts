/**
 * The port that serves discovery over TLS. Its certificate and the roots of its clients may change.
 *
 * Permissions: net (the listen address).
 *
 * @module
 */
import {
  DEFAULT_TLS_POLICY,
  FIPS_TLS_POLICY,
  policyOfSuites,
  suitesNotThere,
  type TlsPolicy,
} from "../../sockets/listen/tls_policy.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ServerIdentity, TrustBundle } from "../../pki/current.ts";
import type { TlsCertificates } from "../../sockets/listen/certificates.ts";
import type { Listener } from "../../sockets/listen/tcp.ts";
import type { TlsListener, TlsListenOptions } from "../../sockets/listen/tls.ts";
import type { XdsServer } from "../../xds/server.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import { OwnIdentity } from "../../authority/own_identity.ts";
import type { ServerAuthority } from "./authority.ts";
import { joinedRoots } from "./joined_roots.ts";
import type { MeshRoots } from "./mesh_roots.ts";
import { startSignedIdentity } from "./signers.ts";
import { startProviderRoot } from "./provider_root.ts";
import { mountedTlsFiles, startTlsFiles, type TlsFiles } from "./tls_files.ts";

/**
 * The policy of the server's own TLS. `COMPLIANCE_POLICY` has precedence over the named suites. The log names the
 * suites that the runtime lacks, and the limits that the runtime cannot enforce.
 *
 * @throws TypeError when the runtime has none of the suites
 */
function serverTlsPolicy(
  compliance: DiscoverySettings["COMPLIANCE_POLICY"],
  cipherSuites: readonly string[],
  kernel: Pick<Kernel, "log">,
): TlsPolicy {
  const log = kernel.log.scope("tls");
  if (compliance === "fips-140-2") {
    log.warn("COMPLIANCE_POLICY holds to TLS 1.2 and its suites; the runtime chooses the curves of the key exchange", {
      curves: "X25519, P-256, P-384",
    });
    return FIPS_TLS_POLICY;
  }
  if (cipherSuites.length === 0) return DEFAULT_TLS_POLICY;
  const absent = suitesNotThere(cipherSuites);
  if (absent.length > 0) log.warn("the runtime does not have some cipher suites", { suites: absent });
  return policyOfSuites(cipherSuites);
}

/** Inputs of the secure port. */
export interface SecurePortOptions {
  /** The server's certificate. */
  readonly identity: ServerIdentity;
  /** The roots that verify the server's certificate. */
  readonly serverRoots: TrustBundle;
  /** Roots of client certificates. During an exchange of roots, the old and the new roots. */
  readonly clientRoots: TrustBundle;
  readonly policy: TlsPolicy;
}

/** The source of the server's certificate, and the accepted cipher suites. */
export interface ServerTlsOptions {
  /** Absent: the certificate comes from a mounted secret, or from the server's own authority. */
  readonly files?: TlsFiles;
  /** `--tls-cipher-suites`; empty: the runtime's suites. */
  readonly cipherSuites: readonly string[];
}

/**
 * Finds the inputs of the server's own TLS: the certificate in the files of the flags, in the files of a mounted
 * secret, from a signer of the orchestrator, or from the server's own authority. Undefined: there is no certificate.
 *
 * @throws {StartError} when a file is missing or cannot be used
 */
export async function startServerTls(
  options: ServerTlsOptions | undefined,
  settings: Pick<DiscoverySettings, "COMPLIANCE_POLICY" | "PILOT_CERT_PROVIDER">,
  own: ServerAuthority & { readonly meshRoots: Pick<MeshRoots, "add" | "serve" | "ofOwnDomain"> },
  kernel: Pick<Kernel, "log" | "clock" | "stopper">,
): Promise<SecurePortOptions | undefined> {
  if (options === undefined) return undefined;
  const policy = serverTlsPolicy(settings.COMPLIANCE_POLICY, options.cipherSuites, kernel);
  const files = options.files ?? await mountedTlsFiles();
  const { authority, signers, names, meshRoots } = own;
  const ofWorkloads = [authority?.roots, signers?.roots].filter((roots) => roots !== undefined);
  for (const roots of ofWorkloads) meshRoots.add(roots);
  if (files !== undefined) {
    const { identity, clientRoots } = await startTlsFiles(files, kernel);
    const allowed = joinedRoots([clientRoots, ...ofWorkloads, meshRoots.ofOwnDomain]);
    return { identity, serverRoots: clientRoots, clientRoots: allowed, policy };
  }
  const clientRoots = joinedRoots([...ofWorkloads, meshRoots.ofOwnDomain]);
  if (signers?.own !== undefined) {
    const identity = await startSignedIdentity(signers.own, names(), kernel);
    kernel.stopper.add("the server's certificate", () => identity.stop());
    return { identity, serverRoots: signers.own.roots, clientRoots, policy };
  }
  const provider = settings.PILOT_CERT_PROVIDER;
  if (authority === undefined || provider !== "meshd") {
    if (provider !== "meshd" && provider !== "none") {
      meshRoots.add(await startProviderRoot(provider, kernel));
      meshRoots.serve();
    }
    kernel.log.scope("tls").info("no certificate for the server: nothing is served over TLS", {
      provider,
      authority: authority !== undefined,
    });
    return undefined;
  }
  const { clock, log } = kernel;
  const identity = await OwnIdentity.start({ authority, names: names(), clock, log: log.scope("tls") });
  kernel.stopper.add("the server's certificate", () => identity.stop());
  return { identity, serverRoots: authority.roots, clientRoots, policy };
}

/**
 * Listens for discovery over TLS; see {@linkcode listenWithIdentity}.
 *
 * @throws TypeError when the certificates cannot be used, Error when the address cannot
 */
export function openSecurePort(
  address: string,
  options: Omit<SecurePortOptions, "serverRoots">,
  xds: Pick<XdsServer, "listenTls">,
  kernel: Pick<Kernel, "log" | "stopper">,
): Promise<Listener> {
  return listenWithIdentity(
    "secure port",
    options,
    kernel,
    (certificates, listening) => xds.listenTls(address, certificates, listening),
  );
}

/**
 * Listens for TLS. Changed certificates and roots are used for new connections; open connections stay. Unusable
 * material is reported, and the last usable material stays in force.
 *
 * @param name of the port, for messages
 * @throws TypeError when the certificates cannot be used, Error when the address cannot
 */
export async function listenWithIdentity(
  name: string,
  { identity, clientRoots, policy }: Omit<SecurePortOptions, "serverRoots">,
  kernel: Pick<Kernel, "log" | "stopper">,
  listen: (certificates: TlsCertificates, options: TlsListenOptions) => Promise<TlsListener>,
): Promise<Listener> {
  const log = kernel.log.scope("tls");
  const certificates = (): TlsCertificates => {
    const { certificatePem, keyPem } = identity.current();
    const roots = clientRoots.current();
    return { certificate: certificatePem, privateKey: keyPem, ...(roots === "" ? {} : { clientAuthorities: roots }) };
  };
  const listener = await listen(certificates(), {
    policy,
    // Any client can cause these errors, so they are logged at a level that is off by default.
    onHandshakeError: (error, client) => log.debug("a TLS handshake failed", { client, error: error.message }),
    onRefused: (client) => log.debug("no place for a TLS handshake", { client }),
  });
  const replace = (what: string) => {
    try {
      listener.replace(certificates());
      log.info("new connections use it", { port: name, changed: what });
    } catch (error) {
      log.error("the changed part cannot be used; the last one stays in force", { port: name, changed: what, error });
    }
  };
  const ends = [
    identity.onChange(() => replace("the server's certificate")),
    clientRoots.onChange(() => replace("the roots of clients")),
  ];
  kernel.stopper.add(name, () => ends.forEach((end) => end()));
  return listener;
}
