/**
 * One repository of an image registry: manifests and layers.
 *
 * Protocol: OCI distribution specification 1.1; tokens: the Docker registry's token authentication (RFC 6750
 * challenges, RFC 7617 for passwords).
 *
 * Permissions: net (the registry, and the server of its tokens).
 *
 * @module
 */
import * as z from "zod";
import { isWebAddress } from "../../../kernel/fetch/web_address.ts";
import { bounded, type ByteStream, digested, wholeBytes } from "./bounded_bytes.ts";
import { download, type Downloaded, type DownloadRequest, type DownloadRules, isInsecure } from "./download.ts";
import { type FetchFailure, FetchFault } from "./fetch_fault.ts";
import type { ImageName } from "./image_name.ts";
import { MANIFEST_TYPES } from "./manifest.ts";
import type { RegistryCredentials } from "./pull_secret.ts";
import { before } from "../../../kernel/text/edges.ts";

/** Longest manifest: the limit of registries. */
const MAX_MANIFEST = 4 * 1024 * 1024;
const MAX_TOKEN = 256 * 1024;

/** A manifest with its original bytes. */
export interface FetchedManifest {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** SHA-256, hex. */
  readonly digest: string;
  readonly mediaType: string;
}

/** One repository of a registry. */
export class Repository {
  readonly #rules: DownloadRules;
  readonly #name: ImageName;
  readonly #credentials: RegistryCredentials;
  readonly #signal: AbortSignal;
  #scheme: "https" | "http" = "https";
  #authorization: string | undefined;

  constructor(rules: DownloadRules, name: ImageName, credentials: RegistryCredentials, signal: AbortSignal) {
    this.#rules = rules;
    this.#name = name;
    this.#credentials = credentials;
    this.#signal = signal;
    if (credentials.type === "registry token") this.#authorization = `Bearer ${credentials.token}`;
  }

  /** The manifest of a tag or a digest (`sha256:...`). @throws {FetchFault} */
  async manifest(reference: string): Promise<FetchedManifest> {
    const path = `manifests/${reference}`;
    const answer = await this.#get(path, { accept: MANIFEST_TYPES.join(", ") }, "manifest_failure");
    const bytes = await wholeBytes(bounded(answer.body, MAX_MANIFEST, path));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    if (reference.startsWith("sha256:") && reference !== `sha256:${digest}`) {
      throw new FetchFault(`${this.#url(path)} has the digest sha256:${digest}`, "checksum_mismatched");
    }
    return { bytes, digest, mediaType: before(answer.header("content-type"), ";") };
  }

  /**
   * A layer, checked as it arrives.
   * @throws {FetchFault}
   */
  async layer(digest: string): Promise<ByteStream> {
    const path = `blobs/sha256:${digest}`;
    const answer = await this.#get(path, {}, "download_failure");
    return digested(answer.body, digest, this.#url(path));
  }

  #url(path: string): string {
    return `${this.#scheme}://${this.#name.registry}/v2/${this.#name.repository}/${path}`;
  }

  async #get(path: string, headers: Readonly<Record<string, string>>, failure: FetchFailure): Promise<Downloaded> {
    let answer = await this.#ask(path, headers);
    if (answer.status === 401 && this.#credentials.type !== "registry token") {
      answer.close();
      this.#authorization = await this.#authorize(answer.header("www-authenticate"));
      answer = await this.#ask(path, headers);
    }
    if (answer.status === 200) return answer;
    answer.close();
    throw refusal(this.#url(path), answer.status, failure);
  }

  async #ask(path: string, headers: Readonly<Record<string, string>>): Promise<Downloaded> {
    const authorization = this.#authorization === undefined ? {} : { authorization: this.#authorization };
    const request = () => this.#download({ url: this.#url(path), headers: { ...headers, ...authorization } });
    if (this.#scheme === "http" || !isInsecure(this.#rules, new URL(this.#url(path)))) return await request();
    try {
      return await request();
    } catch (error) {
      // A registry that may be asked without a valid certificate may have no certificate at all.
      this.#scheme = "http";
      try {
        return await request();
      } catch {
        this.#scheme = "https";
        throw error;
      }
    }
  }

  #download(request: DownloadRequest): Promise<Downloaded> {
    return download(this.#rules, request, this.#signal);
  }

  /** The header `authorization` for a registry's challenge. */
  async #authorize(challenge: string): Promise<string> {
    const credentials = this.#credentials;
    const bearer = /(?:^|,)\s*Bearer\s/i.exec(challenge);
    if (bearer !== null) {
      return `Bearer ${await this.#token(parameters(challenge.slice(bearer.index + bearer[0].length)))}`;
    }
    if (/^Basic\b/i.test(challenge) && credentials.type === "password") return basic(credentials);
    throw new FetchFault(
      `${this.#name.registry} refuses us: status 401, ${
        credentials.type === "none" ? "and there are no credentials for it" : "and its challenge is not known"
      }`,
      "manifest_failure",
    );
  }

  async #token(
    { realm = "", service = "", scope = `repository:${this.#name.repository}:pull` }: Record<string, string>,
  ): Promise<string> {
    const credentials = this.#credentials;
    if (!isWebAddress(realm)) {
      throw new FetchFault(`${this.#name.registry} names no realm for tokens`, "manifest_failure");
    }
    const url = new URL(realm);
    if (url.protocol !== "https:" && this.#scheme === "https" && !isInsecure(this.#rules, url)) {
      throw new FetchFault(
        `${this.#name.registry} names the realm ${realm}, which is not encrypted`,
        "manifest_failure",
      );
    }
    const namedBy = url.host === this.#name.registry ? "configuration" : "server";
    if (credentials.type === "identity token") {
      const form = new URLSearchParams({
        grant_type: "refresh_token",
        refresh_token: credentials.token,
        service,
        scope,
        client_id: "pilot-agent",
      });
      return await this.#tokenOf({ url: url.href, form: form.toString(), namedBy });
    }
    url.searchParams.set("scope", scope);
    if (service !== "") url.searchParams.set("service", service);
    const headers: Record<string, string> = credentials.type === "password"
      ? { authorization: basic(credentials) }
      : {};
    return await this.#tokenOf({ url: url.href, headers, namedBy });
  }

  async #tokenOf(request: DownloadRequest): Promise<string> {
    const answer = await this.#download(request);
    if (answer.status !== 200) {
      answer.close();
      throw refusal(request.url, answer.status, "manifest_failure");
    }
    const text = new TextDecoder().decode(await wholeBytes(bounded(answer.body, MAX_TOKEN, request.url)));
    const { token, access_token = token } = readToken(text);
    if (!access_token) throw new FetchFault(`${request.url} answers without a token`, "manifest_failure");
    return access_token;
  }
}

const tokenSchema = z.object({ token: z.string().optional(), access_token: z.string().optional() });

function readToken(text: string): z.infer<typeof tokenSchema> {
  try {
    return tokenSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

function refusal(url: string, status: number, failure: FetchFailure): FetchFault {
  return new FetchFault(`${url}: status ${status}, expected 200`, failure, isTemporary(status));
}

/** Whether a server with this status may answer differently soon. */
export function isTemporary(status: number): boolean {
  return status === 429 || (status >= 500 && status !== 501 && status !== 505 && status !== 511);
}

function basic({ username, password }: Extract<RegistryCredentials, { type: "password" }>): string {
  return `Basic ${new TextEncoder().encode(`${username}:${password}`).toBase64()}`;
}

/** `realm="...",service="..."`. */
function parameters(challenge: string): Record<string, string> {
  const found = challenge.matchAll(/(?:^|[\s,])([a-z]+)=(?:"([^"]*)"|([^\s,"]+))/gi);
  return Object.fromEntries(
    [...found].map(([, name = "", quoted, bare]) => [name.toLowerCase(), quoted ?? bare ?? ""]),
  );
}
