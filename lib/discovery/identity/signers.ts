/**
 * Certificates by signers of the orchestrator, from a server's settings: for workloads (`EXTERNAL_CA`), and for the
 * server itself (`PILOT_CERT_PROVIDER=orch.io/...`).
 *
 * Permissions: the permissions of `lib/orch/signing` and `./signer_roots.ts`.
 *
 * @module
 */
import { IssueError, type OwnIssuer } from "../../authority/issuing.ts";
import { isSignerDomain, isSignerName } from "../../authority/signer_name.ts";
import { type SignElsewhere, Signers } from "../../authority/signers.ts";
import { OwnIdentity } from "../../authority/own_identity.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { QueueFull } from "../../kernel/time/work_queue.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { BackOff } from "../../orch/informer/back_off.ts";
import { SigningRefused, SigningRequests } from "../../orch/signing/signing_requests.ts";
import { CurrentValue, type TrustBundle } from "../../pki/current.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import { StartError, type StartFault } from "../settings/start_error.ts";
import { startSignerRoots } from "./signer_roots.ts";

/** The settings that choose the signers. */
export type SignerSettings = Pick<
  DiscoverySettings,
  | "CERT_SIGNER_DOMAIN"
  | "DEFAULT_WORKLOAD_CERT_TTL"
  | "EXTERNAL_CA"
  | "MAX_WORKLOAD_CERT_TTL"
  | "ORCH_SIGNER"
  | "PILOT_CERT_PROVIDER"
>;

/** Prefix of `PILOT_CERT_PROVIDER` for a signer of the orchestrator. */
const PREFIX = "orch.io/";

const EXAMPLE = "such as issuers.example.com/mesh";

/** All problems of the settings: variable, value, expectation. */
export function signerProblems(settings: SignerSettings): string[] {
  const { CERT_SIGNER_DOMAIN: domain, EXTERNAL_CA, ORCH_SIGNER: usual, PILOT_CERT_PROVIDER: provider } = settings;
  const problem = (name: string, value: string, expected: string) =>
    `${name}: got ${JSON.stringify(value)}, expected ${expected}`;
  const problems: string[] = [];
  if (EXTERNAL_CA !== "" && usual === "" && domain === "") {
    problems.push(
      problem("EXTERNAL_CA", EXTERNAL_CA, "a signer, too: set ORCH_SIGNER, or CERT_SIGNER_DOMAIN, or both"),
    );
  }
  if (usual !== "" && !isSignerName(usual)) {
    problems.push(problem("ORCH_SIGNER", usual, `the whole name of a signer, ${EXAMPLE}`));
  }
  if (domain !== "" && !isSignerDomain(domain)) {
    problems.push(problem("CERT_SIGNER_DOMAIN", domain, "the domain of signers, such as issuers.example.com"));
  }
  const signer = ownSigner(settings);
  if (signer !== undefined && !isSignerName(signer)) {
    problems.push(problem("PILOT_CERT_PROVIDER", provider, `${PREFIX} and the whole name of a signer, ${EXAMPLE}`));
  }
  return problems;
}

/** The signer of the server's own certificate; undefined: no signer of the orchestrator signs the certificate. */
export function ownSigner({ PILOT_CERT_PROVIDER: provider }: Pick<SignerSettings, "PILOT_CERT_PROVIDER">) {
  return provider.startsWith(PREFIX) ? provider.slice(PREFIX.length) : undefined;
}

/** Certificates by signers. */
export interface ServerSigners {
  /** Issues certificates to workloads; undefined: the server's own authority issues these certificates. */
  readonly workloads: Signers | undefined;
  /** Roots that verify certificates of workloads; empty without {@linkcode workloads}. */
  readonly roots: TrustBundle;
  /** Issues the server's own certificate; undefined: the certificate comes from elsewhere. */
  readonly own: ReturnType<Signers["server"]> | undefined;
}

/**
 * Starts the signers; undefined: the settings name no signer.
 *
 * @throws {StartError} when the settings name a signer, and there is no orchestrator
 */
export async function startSigners(
  client: ApiClient | undefined,
  mesh: Pick<MeshSource, "state" | "onChange">,
  settings: SignerSettings,
  kernel: Pick<Kernel, "log" | "clock" | "stopper">,
): Promise<ServerSigners | undefined> {
  const signer = ownSigner(settings);
  const forWorkloads = settings.EXTERNAL_CA !== "";
  if (signer === undefined && !forWorkloads) return undefined;
  if (client === undefined) throw new StartError(faultsWithoutApi(settings));
  const roots = await startSignerRoots(mesh, kernel);
  const requests = new SigningRequests(client, kernel.log.scope("pkira"));
  kernel.stopper.add("signing requests", () => requests.stop());
  const signers = new Signers({
    sign: signBy(requests),
    roots: (name) => roots.of(name),
    onRoots: (listener) => roots.all.onChange(listener),
    names: { usual: settings.ORCH_SIGNER, domain: settings.CERT_SIGNER_DOMAIN },
    lifetimes: { usual: settings.DEFAULT_WORKLOAD_CERT_TTL, most: settings.MAX_WORKLOAD_CERT_TTL },
    clock: kernel.clock,
  });
  return {
    workloads: forWorkloads ? signers : undefined,
    roots: forWorkloads ? roots.all : new CurrentValue(""),
    own: signer === undefined ? undefined : signers.server(signer),
  };
}

function faultsWithoutApi(settings: SignerSettings): StartFault[] {
  const names = ["EXTERNAL_CA", "PILOT_CERT_PROVIDER"] as const;
  const asked = { EXTERNAL_CA: settings.EXTERNAL_CA !== "", PILOT_CERT_PROVIDER: ownSigner(settings) !== undefined };
  return names.filter((name) => asked[name]).map((option) => ({
    option,
    text: `got ${JSON.stringify(settings[option])}, expected access to the orchestrator of the signers`,
  }));
}

const ISSUE_REFUSALS = { denied: "denied", failed: "unusable", late: "late", unheard: "not ready" } as const;

/** Failures of requests in the words of the authority. */
function signBy(requests: SigningRequests): SignElsewhere {
  return async (order, signal) => {
    try {
      return await requests.sign(order, signal);
    } catch (error) {
      if (error instanceof SigningRefused) {
        throw new IssueError(ISSUE_REFUSALS[error.reason], error.message);
      }
      if (!(error instanceof ApiError)) throw error;
      throw new IssueError(error.transient ? "not ready" : "unusable", `signer ${order.signer}: ${error.message}`);
    }
  };
}

/**
 * Waits for the server's certificate from a signer, however long the signer takes: agents trust no other certificate.
 */
export async function startSignedIdentity(
  authority: OwnIssuer,
  names: readonly string[],
  kernel: Pick<Kernel, "log" | "clock">,
): Promise<OwnIdentity> {
  const { clock, log } = kernel;
  const backOff = new BackOff();
  let said = "";
  for (;;) {
    try {
      return await OwnIdentity.start({ authority, names, clock, log: log.scope("tls") });
    } catch (error) {
      if (!(error instanceof IssueError || error instanceof QueueFull)) throw error;
      if (said !== error.message) {
        log.scope("tls").error("no certificate for the server yet; the server waits for a certificate", { error });
      }
      said = error.message;
      await clock.sleep(backOff.next());
    }
  }
}
