/**
 * The service for workload certificates, `istio.v1.auth.IstioCertificateService`. A caller sends a request with its
 * key, and gets a certificate for the key with the caller's proven identity.
 *
 * @module
 */
import type { Call } from "../grpc/call.ts";
import { Code } from "../grpc/codes.ts";
import { type GrpcService, unaryMethod } from "../grpc/service.ts";
import { RpcError } from "../grpc/status.ts";
import type { Logger } from "../kernel/log/log.ts";
import { RefusalLog } from "../kernel/log/refusal_log.ts";
import type { Metrics } from "../kernel/metrics/registry.ts";
import type { Clock } from "../kernel/time/clock.ts";
import { encode } from "../pb/codec.ts";
import { decode } from "../pb/reflect.ts";
import { PkiError } from "../pki/pki_error.ts";
import { type CertificateRequest, readCertificateRequest } from "../pki/request.ts";
import type { Verify } from "../pki/signed.ts";
import { type WorkloadIdentity, workloadUri } from "../pki/spiffe.ts";
import {
  type IssuedChain,
  IssueError,
  type IssueRefusal,
  type WorkloadAuthority,
  type WorkloadOrder,
} from "./issuing.ts";
import { QueueFull } from "../kernel/time/work_queue.ts";

/**
 * Most bytes of a message, and most characters of its signing request. A request with an RSA key of 8192 bits has 3,500
 * characters.
 */
const MOST = { message: 32 * 1024, request: 16 * 1024 } as const;

/** Status and label of the metric for each refusal. */
const REFUSALS: Readonly<Record<IssueRefusal, readonly [Code, string]>> = {
  request: [Code.INVALID_ARGUMENT, "CSR_ERROR"],
  ttl: [Code.INVALID_ARGUMENT, "TTL_ERROR"],
  "not ready": [Code.UNAVAILABLE, "CA_NOT_READY"],
  denied: [Code.PERMISSION_DENIED, "CERT_GEN_ERROR"],
  late: [Code.DEADLINE_EXCEEDED, "CERT_GEN_ERROR"],
  unusable: [Code.FAILED_PRECONDITION, "CERT_GEN_ERROR"],
};

const PACKAGE = "istio.v1.auth";
/** Name of the service, for health and reflection. */
export const CERTIFICATE_SERVICE = `${PACKAGE}.IstioCertificateService`;
const CREATE = {
  name: "CreateCertificate",
  input: `${PACKAGE}.IstioCertificateRequest`,
  output: `${PACKAGE}.IstioCertificateResponse`,
};

/** A caller of the service. */
export interface CertificateCaller {
  readonly identity: WorkloadIdentity;
  /** The pod in the caller's proof, in the namespace of the identity; absent: the proof names no pod. */
  readonly pod?: { readonly name: string; readonly uid: string };
}

/** The proven identity of a caller, or the reason why there is none. */
export type CallerResult =
  | CertificateCaller
  /** `isTemporary`: the same caller may be accepted later. */
  | { readonly refusal: string; readonly isTemporary?: boolean };

/** Inputs of the service. */
export interface CertificateServiceOptions {
  readonly authority: WorkloadAuthority;
  /** Proves the identity of the caller. */
  readonly authenticate: (call: Call) => Promise<CallerResult>;
  /**
   * Whether a caller may have a certificate for another identity, or why not. Default: nobody may.
   *
   * @param wanted The requested SPIFFE ID.
   */
  readonly mayImpersonate?: (caller: CertificateCaller, wanted: string) => CallerResult;
  /** Verifies signatures of requests. Default: WebCrypto does. */
  readonly verify?: Verify;
  readonly metrics: Pick<Metrics, "counter">;
  readonly log: Pick<Logger, "warn">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** `IstioCertificateRequest`, decoded. */
interface CertificateRequestMessage {
  readonly csr?: string;
  readonly validity_duration?: number;
  readonly metadata?: { readonly fields?: Readonly<Record<string, { readonly stringValue?: string }>> };
}

/** The service for a server's list. */
export function certificateService(options: CertificateServiceOptions): GrpcService {
  const refusals = new RefusalLog("refused a certificate", options.log, options.clock);
  return {
    name: CERTIFICATE_SERVICE,
    methods: [
      unaryMethod(CREATE, (request, call, left) => new Creation(options, call, refusals).answer(request, left)),
    ],
  };
}

/** A call of the service. */
class Creation {
  readonly #options: CertificateServiceOptions;
  readonly #call: Call;
  readonly #refusals: RefusalLog;

  constructor(options: CertificateServiceOptions, call: Call, refusals: RefusalLog) {
    this.#options = options;
    this.#call = call;
    this.#refusals = refusals;
  }

  async answer(bytes: Uint8Array, left: AbortSignal): Promise<Uint8Array> {
    const { metrics } = this.#options;
    metrics.counter("citadel_server_csr_count").inc();
    try {
      const message = readMessage(bytes);
      const identity = await this.#identity(message);
      const request = await this.#read(message.csr ?? "");
      const lifetime = (message.validity_duration ?? 0) * 1000;
      const signer = metadataText(message, "CertSigner");
      const { chain, rootsPem } = await this.#issue({ uri: identity, request, lifetime, signer, signal: left });
      metrics.counter("citadel_server_success_cert_issuance_count").inc();
      return encode(CREATE.output, { cert_chain: [...chain, rootsPem] });
    } catch (error) {
      if (error instanceof RpcError) this.#refusals.add(this.#call.peer.address, error.message);
      throw error;
    }
  }

  async #identity(message: CertificateRequestMessage): Promise<string> {
    const { authenticate, mayImpersonate, metrics } = this.#options;
    const caller = await authenticate(this.#call);
    if ("refusal" in caller) {
      metrics.counter("citadel_server_authentication_failure_count").inc();
      const code = caller.isTemporary ? Code.UNAVAILABLE : Code.UNAUTHENTICATED;
      throw new RpcError(code, `the caller proved no identity: ${caller.refusal}`);
    }
    const wanted = metadataText(message, "ImpersonatedIdentity");
    if (wanted === "") return this.#uri(caller.identity);
    const found = mayImpersonate?.(caller, wanted) ?? { refusal: "no account may ask for certificates of others" };
    if ("identity" in found) return this.#uri(found.identity);
    metrics.counter("citadel_server_authentication_failure_count").inc();
    const code = found.isTemporary ? Code.UNAVAILABLE : Code.PERMISSION_DENIED;
    throw new RpcError(code, `ImpersonatedIdentity: ${found.refusal}`);
  }

  #uri(identity: WorkloadIdentity): string {
    try {
      return workloadUri(identity);
    } catch (error) {
      if (!(error instanceof PkiError)) throw error;
      this.#options.metrics.counter("citadel_server_id_extraction_err_count").inc();
      throw new RpcError(Code.UNAUTHENTICATED, `the caller's identity: ${error.message}`);
    }
  }

  async #read(csr: string): Promise<CertificateRequest> {
    try {
      if (csr.length > MOST.request) {
        throw new PkiError(`expected at most ${MOST.request} characters, got ${csr.length}`);
      }
      return await readCertificateRequest(csr, this.#options.verify);
    } catch (error) {
      if (!(error instanceof PkiError)) throw error;
      this.#options.metrics.counter("citadel_server_csr_parsing_err_count").inc();
      this.#failed("CSR_ERROR");
      throw new RpcError(Code.INVALID_ARGUMENT, `csr: ${error.message}`);
    }
  }

  async #issue(order: WorkloadOrder): Promise<IssuedChain> {
    try {
      return await this.#options.authority.issueWorkload(order);
    } catch (error) {
      if (error instanceof QueueFull) {
        throw new RpcError(Code.RESOURCE_EXHAUSTED, "too many certificates are being signed, try again later");
      }
      if (error instanceof IssueError) {
        const [code, label] = REFUSALS[error.reason];
        this.#failed(label);
        throw new RpcError(code, error.message);
      }
      this.#failed("CERT_GEN_ERROR");
      throw error;
    }
  }

  #failed(error: string): void {
    this.#options.metrics.counter("citadel_server_csr_sign_err_count").inc({ error });
  }
}

/**
 * A text in the request's metadata; empty: the text is absent.
 *
 * @throws {RpcError} for a value that is not a text: without the value, the caller would get another certificate than
 * requested
 */
function metadataText({ metadata }: CertificateRequestMessage, name: "CertSigner" | "ImpersonatedIdentity"): string {
  const fields = metadata?.fields ?? {};
  const value = Object.hasOwn(fields, name) ? fields[name]?.stringValue : "";
  if (value !== undefined) return value;
  throw new RpcError(Code.INVALID_ARGUMENT, `metadata ${name}: expected a text`);
}

function readMessage(bytes: Uint8Array): CertificateRequestMessage {
  if (bytes.length > MOST.message) {
    throw new RpcError(
      Code.INVALID_ARGUMENT,
      `expected a message of at most ${MOST.message} bytes, got ${bytes.length}`,
    );
  }
  try {
    return decode<CertificateRequestMessage>(CREATE.input, bytes);
  } catch (error) {
    throw new RpcError(Code.INVALID_ARGUMENT, `expected an ${CREATE.input}: ${(error as Error).message}`);
  }
}
