/**
 * The certificate authority of a server, from its settings: brought along in a folder or a secret, or made by the
 * server.
 *
 * Permissions: read (`ROOT_CA_DIR`), read and write (`MESH_SELF_SIGNED_CA_DIR`); ffi (OpenSSL, when granted).
 *
 * @module
 */
import type { Authentication } from "../../authenticators/authentication.ts";
import { failureText, mayBeAccepted } from "../../authenticators/caller.ts";
import { SigningAuthority } from "../../authority/authority.ts";
import { measureExpiry } from "../../authority/authority_metrics.ts";
import { type CallerResult, certificateService } from "../../authority/certificate_service.ts";
import { FolderRootStore } from "../../authority/folder_store.ts";
import type { WorkloadAuthority } from "../../authority/issuing.ts";
import { KeyInForce } from "../../authority/key_in_force.ts";
import type { SigningMaterial } from "../../authority/material.ts";
import { hasPluggedIn, PluggedIn, type PluggedInOptions } from "../../authority/plugged_in.ts";
import { MemoryRootStore } from "../../authority/root_store.ts";
import { SelfSigned, type SelfSignedOptions } from "../../authority/self_signed.ts";
import { serverNames } from "../../authority/server_names.ts";
import { Succession } from "../../authority/succession.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { Call } from "../../grpc/call.ts";
import type { GrpcService } from "../../grpc/service.ts";
import { factsOf } from "../../kernel/files/regular.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { type Current, CurrentValue } from "../../pki/current.ts";
import { openOpenssl, type OpensslLibrary } from "../../pki/openssl/library.ts";
import { opensslSigner } from "../../pki/openssl/signer.ts";
import { opensslVerifier } from "../../pki/openssl/verifier.ts";
import { PkiError } from "../../pki/pki_error.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import { StartError } from "../settings/start_error.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import type { ServerAuthentication } from "./authentication.ts";
import { findAuthoritySecret, followSecret, secretFiles, untilAnswered } from "./authority_secret.ts";
import { followBrought } from "./brought_authority.ts";
import { NodeAccountsOfClusters, readNodeAccounts } from "./node_accounts.ts";
import { GENERATED } from "./root_secret.ts";
import { type ServerSigners, signerProblems, type SignerSettings, startSigners } from "./signers.ts";

/** All problems of the authority's settings: variable, value, expectation. */
export function authorityProblems(settings: SignerSettings & Pick<DiscoverySettings, "CA_TRUSTED_NODE_ACCOUNTS">) {
  const problems = signerProblems(settings);
  try {
    readNodeAccounts(settings.CA_TRUSTED_NODE_ACCOUNTS);
  } catch (error) {
    problems.push(...(error as Error).message.split("\n").map((line) => `CA_TRUSTED_NODE_ACCOUNTS: ${line}`));
  }
  return problems;
}

/** The parts of the server that issue certificates. */
export interface ServerAuthority {
  /**
   * Undefined: the authority is switched off, no port lets callers prove their identity, or signers of the orchestrator
   * sign all certificates.
   */
  readonly authority: SigningAuthority | undefined;
  /** Signers of the orchestrator; undefined: settings name none. */
  readonly signers: ServerSigners | undefined;
  /** The certificate service for callers. */
  readonly services: readonly GrpcService[];
  /** Names under which clients dial the server. */
  readonly names: () => readonly string[];
}

/** Options at the start of an authority, as in `DiscoveryServerOptions`. */
export interface ServerAuthorityOptions {
  readonly secureGrpc?: string | undefined;
  readonly tls?: object;
  readonly systemNamespace: string;
  /** Signatures at a time. */
  readonly cores: number;
}

/** The settings in use. */
type AuthorityVariables = Pick<
  DiscoverySettings,
  | "CA_TRUSTED_NODE_ACCOUNTS"
  | "CERT_SIGNER_DOMAIN"
  | "CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR"
  | "CITADEL_SELF_SIGNED_CA_CERT_TTL"
  | "CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE"
  | "CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL"
  | "CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE"
  | "DEFAULT_WORKLOAD_CERT_TTL"
  | "ENABLE_CA_SERVER"
  | "EXTERNAL_CA"
  | "MAX_WORKLOAD_CERT_TTL"
  | "MESHD_CUSTOM_HOST"
  | "MESH_MULTIROOT_MESH"
  | "MESH_SELF_SIGNED_CA_DIR"
  | "ORCH_SIGNER"
  | "PILOT_CERT_PROVIDER"
  | "REVISION"
  | "ROOT_CA_DIR"
  | "USE_CACERTS_FOR_SELF_SIGNED_CA"
  | "XDS_AUTH_PLAINTEXT"
>;

/**
 * Starts the authority.
 *
 * @throws {StartError} when the authority that was brought along cannot be used
 */
export async function startServerAuthority(
  { secureGrpc, tls, systemNamespace, cores }: ServerAuthorityOptions,
  settings: AuthorityVariables,
  { mesh, facts, authentication, orch }: {
    readonly mesh: Pick<MeshSource, "state" | "onChange">;
    /** The stores with the pods of each cluster, as they are at the moment. */
    readonly facts: () => Iterable<FactStore>;
    /** Keeps the authority in a secret. Default: there is no orchestrator. */
    readonly orch?: ApiClient | undefined;
    readonly authentication: Pick<ServerAuthentication, "forAuthority" | "useRevocations">;
  },
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
): Promise<ServerAuthority> {
  const names = () =>
    serverNames({
      ...{ namespace: systemNamespace, revision: settings.REVISION, customHosts: settings.MESHD_CUSTOM_HOST },
      discoveryAddress: mesh.state.mesh.defaultConfig.discoveryAddress,
    });
  const signers = await startSigners(orch, mesh, settings, kernel);
  const reachable = (secureGrpc !== undefined && tls !== undefined) || settings.XDS_AUTH_PLAINTEXT;
  if (!settings.ENABLE_CA_SERVER || !reachable) {
    measureExpiry(kernel.metrics, new CurrentValue(undefined), kernel.clock);
    return { authority: undefined, signers, services: [], names };
  }
  const openssl = findOpenssl(kernel);
  const isElsewhere = signers?.workloads !== undefined && signers.own !== undefined;
  if (isElsewhere) measureExpiry(kernel.metrics, new CurrentValue(undefined), kernel.clock);
  const authority = isElsewhere
    ? undefined
    : await startOwnAuthority({ systemNamespace, cores }, settings, { mesh, authentication, orch, openssl }, kernel);
  const accounts = readNodeAccounts(settings.CA_TRUSTED_NODE_ACCOUNTS);
  const ownDomain = () => mesh.state.mesh.trustDomain;
  const parts = { accounts, trustDomain: ownDomain };
  const nodes = accounts.size === 0 ? undefined : new NodeAccountsOfClusters(parts, facts);
  const callers = { authentication: await authentication.forAuthority(), nodes };
  const service = serviceOf(signers?.workloads ?? authority!, callers, openssl, kernel);
  return { authority, signers, services: [service], names };
}

/** The authority with a key of this server. */
async function startOwnAuthority(
  { systemNamespace, cores }: Pick<ServerAuthorityOptions, "systemNamespace" | "cores">,
  settings: AuthorityVariables,
  { mesh, authentication, orch, openssl }: {
    readonly mesh: Pick<MeshSource, "state">;
    readonly authentication: Pick<ServerAuthentication, "useRevocations">;
    readonly orch?: ApiClient | undefined;
    readonly openssl: OpensslLibrary | undefined;
  },
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
): Promise<SigningAuthority> {
  const { trustDomain } = mesh.state.mesh;
  const source = await isBroughtAlong(settings.ROOT_CA_DIR, orch)
    ? await startPluggedIn(settings, kernel)
    : await startOfSecret(orch, systemNamespace, trustDomain, settings, kernel) ??
      await startSelfSigned(trustDomain, settings, kernel);
  kernel.stopper.add("authority", () => source.stop());
  measureExpiry(kernel.metrics, source.material, kernel.clock);
  authentication.useRevocations(() => source.material.current()?.revocations ?? []);
  const lifetimes = { usual: settings.DEFAULT_WORKLOAD_CERT_TTL, most: settings.MAX_WORKLOAD_CERT_TTL };
  if (openssl === undefined) return new SigningAuthority(source.material, lifetimes, kernel.clock, { cores });
  // A signature waits for the event loop. With one signature per core, cores would be idle.
  const signing = { cores: 2 * cores, keyInForce: startSigner(openssl, kernel) };
  return new SigningAuthority(source.material, lifetimes, kernel.clock, signing);
}

/**
 * Whether the folder has an authority of the operator. The folder may also be the mounted secret of an authority that
 * servers made; such a secret does not count.
 */
async function isBroughtAlong(folder: string, orch: ApiClient | undefined): Promise<boolean> {
  for (const file of orch === undefined ? [] : GENERATED) {
    if (await factsOf(`${folder}/${file}`).then(() => true, () => false)) return false;
  }
  return await hasPluggedIn(folder);
}

async function startPluggedIn(
  settings: Pick<DiscoverySettings, "MESH_MULTIROOT_MESH" | "ROOT_CA_DIR">,
  kernel: Pick<Kernel, "log" | "clock">,
  place: Pick<PluggedInOptions, "folder" | "watch"> = { folder: settings.ROOT_CA_DIR },
): Promise<PluggedIn> {
  const { folder } = place;
  const log = kernel.log.scope("pkica");
  try {
    const multiRoot = settings.MESH_MULTIROOT_MESH;
    const source = await PluggedIn.start({ ...place, multiRoot, clock: kernel.clock, log });
    log.info("the authority was brought along", { folder, ...shown(source.material) });
    return source;
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    throw new StartError([{ option: "ROOT_CA_DIR", text: `${folder}: ${error.message}` }], error);
  }
}

/**
 * The authority in a secret of the orchestrator. Undefined: there is no orchestrator, the server's namespace does not
 * exist, or a folder already has an authority of this server.
 */
async function startOfSecret(
  orch: ApiClient | undefined,
  namespace: string,
  organization: string,
  settings: AuthorityVariables,
  kernel: Pick<Kernel, "log" | "clock" | "stopper">,
): Promise<PluggedIn | Succession | undefined> {
  if (orch === undefined || await new FolderRootStore(settings.MESH_SELF_SIGNED_CA_DIR).read() !== undefined) return;
  const asBrought = settings.USE_CACERTS_FOR_SELF_SIGNED_CA;
  const start = async () => {
    const { name, store } = await findAuthoritySecret(orch, namespace, asBrought);
    const folder = `secret ${namespace}/${name}`;
    if (store === undefined) {
      return await startPluggedIn(settings, kernel, { folder, watch: secretFiles(orch, namespace, name, kernel) });
    }
    const source = await SelfSigned.start({ ...selfSignedOptions(organization, settings, kernel), store });
    kernel.stopper.add(folder, followSecret(orch, namespace, name, kernel, () => void source.check()));
    kernel.log.scope("pkica").info("the authority is self-signed", { place: store.place, ...shown(source.material) });
    const succession = new Succession(source);
    const brought = { client: orch, namespace, succession, multiRoot: settings.MESH_MULTIROOT_MESH };
    kernel.stopper.add("secret of an operator", followBrought(brought, kernel));
    return succession;
  };
  try {
    return await untilAnswered(start, kernel);
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    throw new StartError([{ option: "ROOT_CA_DIR", text: error.message }], error);
  }
}

/** How the root of a self-signed authority is made and renewed. */
export function selfSignedTimes(settings: AuthorityVariables) {
  return {
    lifetime: settings.CITADEL_SELF_SIGNED_CA_CERT_TTL,
    keyBits: settings.CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE,
    graceRatio: settings.CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE / 100,
    checkInterval: settings.CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL,
    jitter: settings.CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR,
  } satisfies Partial<SelfSignedOptions>;
}

function selfSignedOptions(
  organization: string,
  settings: AuthorityVariables,
  { clock, log }: Pick<Kernel, "log" | "clock">,
): Omit<SelfSignedOptions, "store"> {
  const scope = log.scope("rootcertrotator");
  return { ...{ organization, clock, log: scope, random: Math.random }, ...selfSignedTimes(settings) };
}

async function startSelfSigned(
  organization: string,
  settings: AuthorityVariables,
  kernel: Pick<Kernel, "log" | "clock">,
): Promise<SelfSigned> {
  const options = selfSignedOptions(organization, settings, kernel);
  const { log } = options;
  const store = new FolderRootStore(settings.MESH_SELF_SIGNED_CA_DIR);
  const start = async (kept: SelfSignedOptions["store"]) => {
    const source = await SelfSigned.start({ ...options, store: kept });
    log.info("the authority is self-signed", { place: kept.place, ...shown(source.material) });
    return source;
  };
  try {
    return await start(store);
  } catch (error) {
    if (error instanceof PkiError) {
      throw new StartError([{ option: "MESH_SELF_SIGNED_CA_DIR", text: error.message }], error);
    }
    log.warn("the root certificate cannot be stored: the next start makes a root certificate that no proxy knows", {
      place: store.place,
      error,
    });
    return await start(new MemoryRootStore());
  }
}

/** The fields of an authority in the log. */
function shown(material: Current<SigningMaterial | undefined>) {
  const now = material.current();
  if (now === undefined) return {};
  return { subject: now.certificate.subject, roots: now.roots.length, until: new Date(now.notAfter).toISOString() };
}

function serviceOf(
  authority: WorkloadAuthority,
  { authentication, nodes }: {
    readonly authentication: Pick<Authentication, "authenticate">;
    readonly nodes: NodeAccountsOfClusters | undefined;
  },
  openssl: OpensslLibrary | undefined,
  kernel: Pick<Kernel, "log" | "metrics" | "clock">,
): GrpcService {
  const authenticate = async ({ peer, headers }: Call): Promise<CallerResult> => {
    const result = await authentication.authenticate({ peer, headers });
    if ("caller" in result) return result.caller;
    return { refusal: failureText(result.failures), isTemporary: mayBeAccepted(result.failures) };
  };
  const { metrics, clock } = kernel;
  return certificateService({
    ...{ authority, authenticate, metrics, clock, log: kernel.log.scope("serverca") },
    ...(openssl && { verify: opensslVerifier(openssl.functions) }),
    ...(nodes && { mayImpersonate: (caller, wanted) => nodes.mayImpersonate(caller, wanted) }),
  });
}

/**
 * OpenSSL as the signer of the server's authority; undefined: the machine lacks OpenSSL, or the program may not use it.
 * The log has the reason.
 */
function findOpenssl(kernel: Pick<Kernel, "log">): OpensslLibrary | undefined {
  const log = kernel.log.scope("pkica");
  const found = openOpenssl();
  if ("reason" in found) {
    log.info("the runtime signs certificates", { openssl: found.reason });
    return undefined;
  }
  log.info("OpenSSL signs certificates", { path: found.path, version: found.version });
  return found;
}

/** Gives OpenSSL the key of the authority for as long as the key is in force. */
function startSigner({ functions }: OpensslLibrary, kernel: Pick<Kernel, "log" | "stopper">): KeyInForce {
  const keyInForce = new KeyInForce((key) => opensslSigner(functions, key), kernel.log.scope("pkica"));
  kernel.stopper.add("key of the authority", () => keyInForce.take(undefined));
  return keyInForce;
}
