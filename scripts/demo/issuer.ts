/**
 * An issuer of tokens, like a platform's: signs tokens, and serves the key for their verification.
 *
 * Permissions: net (a loopback port).
 *
 * @module
 */
import { type CryptoKey as SigningKey, exportJWK, generateKeyPair, SignJWT } from "jose";

const ALGORITHM = "ES256";

/** Name of the key in the key set. */
const KEY = "one";

/** The issuer. Its key is served until disposal. */
export class TokenIssuer implements AsyncDisposable {
  readonly #key: SigningKey;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  private constructor(key: SigningKey, keys: string) {
    this.#key = key;
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response(keys));
  }

  static async start(): Promise<TokenIssuer> {
    const { publicKey, privateKey } = await generateKeyPair(ALGORITHM);
    const key = { ...await exportJWK(publicKey), kid: KEY, use: "sig" };
    return new TokenIssuer(privateKey, JSON.stringify({ keys: [key] }));
  }

  /** The issuer's name, which is also the address of its keys. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** A token for the control plane, valid for an hour. */
  async token(subject: string): Promise<string> {
    const claims = new SignJWT({}).setProtectedHeader({ alg: ALGORITHM, kid: KEY });
    return await claims.setIssuer(this.url).setSubject(subject).setAudience("mesh-ca").setIssuedAt()
      .setExpirationTime("1h").sign(this.#key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
