/**
 * A registry of images by the OCI distribution specification: manifests, blobs, and an optional challenge for a token
 * or a password.
 *
 * Permissions: net (loopback).
 * @module
 */
import { sha256 } from "./wasm_files.ts";
import { TestWebServer } from "./web_server.ts";

const OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** A layer of an image. */
export interface TestLayer {
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The registry. */
export class TestRegistry implements AsyncDisposable {
  /** Required `Authorization` of requests for manifests and blobs; undefined: none. */
  wanted: string | undefined;
  /** Challenge for requests without authorization. */
  challenge = "";
  /** Answers for tokens. */
  token: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 404 });
  /** Answers before all else. */
  before: (request: Request) => Response | undefined = () => undefined;
  readonly #manifests = new Map<string, { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }>();
  readonly blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly server: TestWebServer;

  constructor(tls?: { cert: string; key: string }) {
    this.server = new TestWebServer((request) => this.#answer(request), tls);
  }

  get host(): string {
    return this.server.host;
  }

  get asked(): readonly string[] {
    return this.server.asked;
  }

  /** Stores an image under `repository:tag`. @returns its digest */
  async push(name: string, blobs: readonly TestLayer[], type = OCI_MANIFEST): Promise<string> {
    const described = await Promise.all(blobs.map(async ({ mediaType, bytes }) => {
      const digest = `sha256:${await sha256(bytes)}`;
      this.blobs.set(digest, bytes);
      return { mediaType, digest, size: bytes.length };
    }));
    const config = {
      mediaType: "application/vnd.oci.image.config.v1+json",
      digest: `sha256:${"0".repeat(64)}`,
      size: 2,
    };
    return await this.pushManifest(name, { schemaVersion: 2, mediaType: type, config, ["layers"]: described }, type);
  }

  /** Stores any manifest. @returns its digest, hex */
  async pushManifest(name: string, manifest: unknown, type: string): Promise<string> {
    const bytes = new TextEncoder().encode(JSON.stringify(manifest));
    const digest = await sha256(bytes);
    const [repository] = name.split(":");
    for (const key of [name, `${repository}:sha256:${digest}`]) this.#manifests.set(key, { type, bytes });
    return digest;
  }

  #answer(request: Request): Response | Promise<Response> {
    const early = this.before(request);
    if (early !== undefined) return early;
    const { pathname } = new URL(request.url);
    if (pathname === "/token") return this.token(request);
    if (this.wanted !== undefined && request.headers.get("authorization") !== this.wanted) {
      return new Response(null, { status: 401, headers: { "www-authenticate": this.challenge } });
    }
    const [, repository, kind, reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/(.+)$/.exec(pathname) ?? [];
    const manifest = this.#manifests.get(`${repository}:${reference}`);
    if (kind === "manifests" && manifest !== undefined) {
      return new Response(manifest.bytes, { headers: { "content-type": manifest.type } });
    }
    const blob = kind === "blobs" ? this.blobs.get(reference) : undefined;
    return blob === undefined ? new Response(null, { status: 404 }) : new Response(blob);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}
