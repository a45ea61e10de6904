/**
 * An issuer of tokens for tests: keys, tokens signed with them, and its key set over HTTP.
 *
 * Permissions: net (a loopback port).
 *
 * @module
 */
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from "jose";

/** Time of the tests' clock, seconds since 1970. */
export const NOW = 1_800_000_000;

/** A service account in the form of the claim `sub`. */
export const CART = "system:serviceaccount:shop:cart";

/** A key, with its name in the set. */
interface NamedKey {
  readonly kid: string;
  readonly pair: Awaited<ReturnType<typeof generateKeyPair>>;
}

/** An issuer. Its key set is served until disposal. */
export class TestIssuer {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  /** Requests by path. */
  readonly asked: string[] = [];
  /** The response to the next requests for the key set, in place of the keys. */
  answer: (() => Response | Promise<Response>) | undefined;
  /** An OpenID configuration in place of the right configuration. */
  configuration: object | undefined;
  /** The keys of the set. */
  readonly keys: NamedKey[] = [];

  readonly #ended = new AbortController();
  readonly #scheme: "http" | "https";

  private constructor(tls: { readonly cert: string; readonly key: string } | undefined) {
    this.#scheme = tls ? "https" : "http";
    const { signal } = this.#ended;
    const options = { hostname: "127.0.0.1", port: 0, onListen: () => {}, signal, ...tls };
    this.#server = Deno.serve(options, async (request) => {
      const { pathname } = new URL(request.url);
      this.asked.push(pathname);
      if (pathname === "/.well-known/openid-configuration") {
        return Response.json(this.configuration ?? { issuer: this.url, jwks_uri: `${this.url}/keys` });
      }
      if (pathname !== "/keys") return new Response("", { status: 404 });
      return await this.answer?.() ?? new Response(await this.keySet());
    });
  }

  /**
   * An issuer with one key (ES256), named `one`.
   *
   * @param tls Serves over TLS.
   */
  static async start(tls?: { readonly cert: string; readonly key: string }): Promise<TestIssuer> {
    const issuer = new TestIssuer(tls);
    await issuer.addKey("one");
    return issuer;
  }

  /** Name of the issuer, and address of its OpenID configuration. */
  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Makes a key and adds the key to the set. */
  async addKey(kid: string, alg = "ES256"): Promise<void> {
    this.keys.push({ kid, pair: await generateKeyPair(alg, { extractable: true }) });
  }

  /** The key set as JSON. */
  async keySet(): Promise<string> {
    const keys = this.keys.map(async ({ kid, pair }) => ({ ...await exportJWK(pair.publicKey), kid, use: "sig" }));
    return JSON.stringify({ keys: await Promise.all(keys) });
  }

  /** The public half of the first key as PEM: known to an attacker. */
  async publicPem(): Promise<string> {
    return await exportSPKI(this.keys[0]!.pair.publicKey);
  }

  /** Claims of a good token, changed. */
  claims(changes: JWTPayload = {}): JWTPayload {
    return { iss: this.url, sub: CART, aud: "mesh-ca", iat: NOW - 60, exp: NOW + 3600, ...changes };
  }

  /** A token signed with the first key, or with the given key. */
  async token(changes: JWTPayload = {}, { kid, pair }: NamedKey = this.keys[0]!, alg = "ES256"): Promise<string> {
    return await new SignJWT(this.claims(changes)).setProtectedHeader({ alg, kid }).sign(pair.privateKey);
  }

  /** Ends the issuer, including endless answers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#server.finished;
  }
}
