/**
 * A signer of certificates like a controller in a cluster: follows signing requests for its name, and signs approved
 * requests.
 *
 * Permissions: net (the API server).
 * @module
 */
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { type ApiJson, isApiJson } from "../../../lib/orch/client/answer.ts";
import type { ApiClient } from "../../../lib/orch/client/client.ts";
import { Informer } from "../../../lib/orch/informer/informer.ts";
import { patchObject } from "../../../lib/orch/resources/objects.ts";
import { writeCertificates } from "../../../lib/pki/certificate.ts";
import { issueLeaf } from "../../../lib/pki/issue.ts";
import { certificatePem } from "../../../lib/pki/pem.ts";
import { type CertificateRequest, readCertificateRequest } from "../../../lib/pki/request.ts";
import { DAY, type MadeAuthority, makeIntermediate, makeRoot, P256 } from "../../pki/support/make.ts";

const REQUESTS = {
  ...{ group: "certificates.k8s.io", version: "v1", plural: "certificatesigningrequests", namespaced: false },
  kind: "CertificateSigningRequest",
};

/** A request as the signer sees it. */
export interface SeenRequest {
  readonly name: string;
  readonly usages: readonly string[];
  readonly seconds: number;
  readonly username: string;
}

/** The signer's answer to an approved request: a certificate, a condition, or nothing. */
export type SignerAnswer =
  | { readonly pem: string }
  | { readonly condition: { readonly type: string; readonly reason: string; readonly message: string } }
  | undefined;

export class TestSigner implements AsyncDisposable {
  readonly root: MadeAuthority;
  readonly between: MadeAuthority;
  /** Approved requests, in the order of their arrival. */
  readonly seen: SeenRequest[] = [];
  /** Makes the answer. Default: the requested certificate, below the signer's intermediate authority. */
  answer: (request: CertificateRequest) => Promise<SignerAnswer>;
  readonly #client: ApiClient;
  readonly #requests: Informer<ApiJson>;
  readonly #known = new Set<string>();
  readonly #work = new Set<Promise<void>>();

  private constructor(client: ApiClient, name: string, root: MadeAuthority, between: MadeAuthority) {
    this.#client = client;
    this.root = root;
    this.between = between;
    this.answer = async (request) => ({ pem: await this.sign(request) });
    this.#requests = new Informer<ApiJson>(client, {
      ...{ resource: REQUESTS, fieldSelector: `spec.signerName=${name}`, log: silentLog().scope("orch") },
      project: (object) => object,
    });
    this.#requests.subscribe(({ upserted }) => {
      for (const { value } of upserted) this.#take(value);
    });
  }

  /** @param name Whole name of the signer. */
  static async start(client: ApiClient, name: string): Promise<TestSigner> {
    const validity = { notAfter: Date.now() + 30 * DAY };
    const root = await makeRoot(P256, { ...validity, name });
    const signer = new TestSigner(client, name, root, await makeIntermediate(root, P256, validity));
    signer.#requests.start();
    await signer.#requests.whenSynced;
    return signer;
  }

  /** The root in PEM. */
  get rootPem(): string {
    return writeCertificates([this.root.certificate]);
  }

  /** A certificate with the names and the key of a request, and the authority above the certificate. */
  async sign({ spki, names }: Pick<CertificateRequest, "spki" | "names">, hours = 1): Promise<string> {
    const now = Date.now();
    const times = { notBefore: now - 60_000, notAfter: now + hours * 3_600_000 };
    return certificatePem(await issueLeaf(this.between, { spki, names, ...times })) +
      writeCertificates([this.between.certificate]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#requests.stop();
    await Promise.all(this.#work);
  }

  #take({ metadata, spec, status }: ApiJson): void {
    if (!isApiJson(metadata) || !isApiJson(spec)) return;
    const conditions = isApiJson(status) ? status["conditions"] as readonly ApiJson[] | undefined : undefined;
    const name = String(metadata["name"]);
    if (!conditions?.some(({ type }) => type === "Approved") || this.#known.has(name)) return;
    this.#known.add(name);
    this.seen.push({
      ...{ name, usages: spec["usages"] as readonly string[], username: String(spec["username"]) },
      seconds: Number(spec["expirationSeconds"]),
    });
    const work = this.#reply(name, atob(String(spec["request"])), conditions).catch(() => {});
    this.#work.add(work.finally(() => this.#work.delete(work)));
  }

  async #reply(name: string, request: string, conditions: readonly ApiJson[]): Promise<void> {
    const answer = await this.answer(await readCertificateRequest(request));
    if (answer === undefined) return;
    const status = "pem" in answer
      ? { certificate: btoa(answer.pem) }
      : { conditions: [...conditions, { ...answer.condition, status: "True" }] };
    const place = { resource: REQUESTS, namespace: "", name };
    await patchObject(this.#client, place, { status }, { subresource: "status" });
  }
}
