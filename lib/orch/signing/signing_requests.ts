/**
 * Certificates by signers of the orchestrator. Each request is an object of the API. The object is created, approved if
 * the account may approve, followed until the signer has answered, and removed.
 *
 * Fields: https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/certificate-signing-request-v1/
 *
 * Permissions: the permissions of the client. Rights at the API: `create`, `list`, `watch` and `delete` of
 * certificatesigningrequests; to approve, `patch` of certificatesigningrequests/approval, and `approve` of the signer.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import { type ApiJson, isApiJson } from "../client/answer.ts";
import type { ApiClient } from "../client/client.ts";
import { Informer } from "../informer/informer.ts";
import type { ApiResource } from "../informer/resource.ts";
import { createObject, deleteObject, type ObjectPlace, patchObject } from "../resources/objects.ts";

/** An order to a signer. */
export interface SigningOrder {
  /** The signer's whole name: `issuers.example.com/mesh`. */
  readonly signer: string;
  /** The request in PEM. */
  readonly request: string;
  /** The uses of the key, in the API's words: `client auth`. */
  readonly usages: readonly string[];
  /** Requested lifetime, at least 600. The signer decides. */
  readonly seconds: number;
}

/** A signer or an approver refused, nobody answered in time, or the API could not be heard. */
export class SigningRefused extends Error {
  override readonly name = "SigningRefused";
  constructor(readonly reason: "denied" | "failed" | "late" | "unheard", message: string) {
    super(message);
  }
}

const REQUESTS: ApiResource = {
  ...{ group: "certificates.k8s.io", version: "v1", plural: "certificatesigningrequests", namespaced: false },
  kind: "CertificateSigningRequest",
};

/** Label with the server of a request. Each server watches its own requests. */
const LABEL = "internal.mesh.io/signing-server";

/** Longest time to remove a request, milliseconds. The API removes requests by itself, too: after an hour or a day. */
const REMOVAL_MS = 5000;

/** Most characters of an object's reason and message in an error. */
const SHOWN = 300;

/** The fields of a request's status that the server reads. */
interface RequestState {
  /** In base64, as in the API; empty: not signed. */
  readonly certificate: string;
  readonly isApproved: boolean;
  /** Why the request is refused for good; undefined: the request is not refused. */
  readonly refusal: SigningRefused | undefined;
}

/** A request that is under way. */
interface WaitingRequest {
  readonly signed: (pem: string) => void;
  readonly failed: (error: Error) => void;
  isApproved: boolean;
  /** Why this server could not approve the request. */
  notApproved?: string;
}

export class SigningRequests {
  readonly #client: ApiClient;
  readonly #log: Logger;
  readonly #server = crypto.randomUUID();
  readonly #waiting = new Map<string, WaitingRequest>();
  readonly #running = new Set<Promise<string>>();
  readonly #removals = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #objects: Informer<RequestState> | undefined;
  #saidNotApproved = false;

  constructor(client: ApiClient, log: Logger) {
    this.#client = client;
    this.#log = log;
  }

  /**
   * Has a request signed.
   *
   * @param signal Ends the wait.
   * @returns the certificates that the signer wrote, in PEM, unchecked
   * @throws {SigningRefused} when the request is denied, when the signer failed, or when the signal aborted first;
   * {ApiError} when the request cannot be made
   */
  async sign(order: SigningOrder, signal: AbortSignal): Promise<string> {
    const work = this.#sign(order, AbortSignal.any([signal, this.#stop.signal]));
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  async #sign(order: SigningOrder, signal: AbortSignal): Promise<string> {
    this.#follow();
    const place: ObjectPlace = { resource: REQUESTS, namespace: "", name: `meshd-${crypto.randomUUID()}` };
    const answer = Promise.withResolvers<string>();
    answer.promise.catch(() => {});
    const waiting: WaitingRequest = { signed: answer.resolve, failed: answer.reject, isApproved: false };
    const ended = () => answer.reject(signal.reason);
    signal.addEventListener("abort", ended, { once: true });
    try {
      signal.throwIfAborted();
      this.#waiting.set(place.name, waiting);
      await createObject(this.#client, place, this.#bodyOf(order), { signal });
      void this.#approve(place, waiting, signal);
      return await answer.promise;
    } catch (error) {
      throw signal.aborted ? this.#late(order, waiting, signal) : error;
    } finally {
      signal.removeEventListener("abort", ended);
      // The request may exist even if its creation got no answer.
      if (this.#waiting.delete(place.name)) this.#remove(place);
    }
  }

  /** Ends the watch after all requests have been removed. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("the server stops"));
    await Promise.allSettled(this.#running);
    await Promise.all(this.#removals);
    await this.#objects?.stop();
  }

  #bodyOf({ signer, request, usages, seconds }: SigningOrder) {
    const spec = { request: btoa(request), signerName: signer, usages, expirationSeconds: seconds };
    return { metadata: { labels: { [LABEL]: this.#server } }, spec };
  }

  /** One watch for all requests, begun with the first request. */
  #follow(): void {
    if (this.#objects !== undefined) return;
    this.#objects = new Informer(this.#client, {
      ...{ resource: REQUESTS, labelSelector: `${LABEL}=${this.#server}`, log: this.#log },
      project: stateOf,
    });
    this.#objects.subscribe(({ upserted, removed }) => {
      for (const { name, value } of upserted) this.#heard(name, value);
      for (const { name } of removed) {
        this.#waiting.get(name)?.failed(
          new SigningRefused("failed", `request ${name} was taken away by somebody else`),
        );
      }
    });
    this.#objects.start();
  }

  #heard(name: string, { certificate, isApproved, refusal }: RequestState): void {
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) return;
    waiting.isApproved = isApproved;
    if (refusal !== undefined) return waiting.failed(refusal);
    if (certificate === "") return;
    try {
      waiting.signed(atob(certificate));
    } catch {
      waiting.failed(new SigningRefused("failed", `request ${name}: status.certificate: expected base64`));
    }
  }

  /** Somebody else may approve in this server's place, so a failure to approve does not end the request. */
  async #approve(place: ObjectPlace, waiting: WaitingRequest, signal: AbortSignal): Promise<void> {
    const condition = { type: "Approved", status: "True", reason: "Mesh", message: "The caller proved its identity." };
    try {
      await patchObject(this.#client, place, { status: { conditions: [condition] } }, {
        signal,
        subresource: "approval",
      });
    } catch (error) {
      if (signal.aborted) return;
      const reason = (error as Error).message;
      waiting.notApproved = reason;
      // Logged once. The texts of the reasons differ, because each contains the name of a request.
      if (!this.#saidNotApproved) {
        this.#log.warn("this server cannot approve requests; somebody else must approve them", { reason });
      }
      this.#saidNotApproved = true;
    }
  }

  #late(
    { signer }: SigningOrder,
    { isApproved, notApproved }: WaitingRequest,
    { reason }: AbortSignal,
  ): SigningRefused {
    const trouble = this.#objects?.trouble;
    const why = trouble ??
      (isApproved
        ? "the request is approved, but not signed"
        : notApproved === undefined
        ? "nothing was heard of the request"
        : `nobody approved the request, and this server may not approve: ${notApproved}`);
    const message = `signer ${signer}: no certificate: ${(reason as Error).message}: ${why}`;
    return new SigningRefused(trouble === undefined ? "late" : "unheard", message);
  }

  #remove(place: ObjectPlace): void {
    const removal = deleteObject(this.#client, place, {}, { within: REMOVAL_MS }).then(() => {}, (error) => {
      this.#log.warn("a signing request stays until the API takes it away", { name: place.name, error });
    }).finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }
}

function stateOf({ status }: ApiJson): RequestState {
  const { certificate, conditions } = isApiJson(status) ? status : {};
  const all = (Array.isArray(conditions) ? conditions : []).filter(isApiJson);
  const refused = all.find(({ type }) => type === "Denied") ?? all.find(({ type }) => type === "Failed");
  const said = refused && [refused["reason"], refused["message"]].filter((part) => typeof part === "string").join(": ");
  return {
    certificate: typeof certificate === "string" ? certificate : "",
    isApproved: all.some(({ type }) => type === "Approved"),
    refusal: refused === undefined
      ? undefined
      : refused["type"] === "Denied"
      ? new SigningRefused("denied", `the request was denied: ${said!.slice(0, SHOWN)}`)
      : new SigningRefused("failed", `the signer failed: ${said!.slice(0, SHOWN)}`),
  };
}
