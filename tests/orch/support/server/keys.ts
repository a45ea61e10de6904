/**
 * Keys and certificates of an API server for tests, in its folder.
 *
 * Permissions: read and write (temp folder), run (openssl).
 *
 * @module
 */
import { generateKeyPairSync } from "node:crypto";
import { Authority, type Certificate } from "../../../certificates.ts";

/** The files in the folder, named by the server's flags. */
export const KEY_FILES = {
  ca: "ca.crt",
  caKey: "ca.key",
  serving: "server.crt",
  servingKey: "server.key",
  accounts: "accounts.key",
} as const;

export class ServerKeys implements AsyncDisposable {
  readonly #authority: Authority;

  private constructor(authority: Authority) {
    this.#authority = authority;
  }

  /**
   * Makes keys and certificates, and writes the files.
   *
   * @param addresses Further addresses of the server.
   */
  static async make(folder: string, addresses: readonly string[] = []): Promise<ServerKeys> {
    const authority = await Authority.make("test-ca");
    const names = ["localhost", "kubernetes.default.svc"].map((name) => ["DNS", name] as const);
    const ips = ["127.0.0.1", ...addresses].map((address) => ["IP", address] as const);
    const serving = await authority.sign("kube-apiserver", 1, [...ips, ...names]);
    const accounts = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const files: Readonly<Record<keyof typeof KEY_FILES, string>> = {
      ca: authority.certificate,
      caKey: await authority.key(),
      serving: serving.certificate,
      servingKey: serving.key,
      accounts: accounts.export({ type: "pkcs8", format: "pem" }) as string,
    };
    for (const [file, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${KEY_FILES[file as keyof typeof KEY_FILES]}`, text);
    }
    return new ServerKeys(authority);
  }

  /** PEM of the authority that clients trust. */
  get ca(): string {
    return this.#authority.certificate;
  }

  /** A client certificate: the server takes the common name as user and the organisations as groups. */
  async user(name: string, groups: readonly string[]): Promise<Certificate> {
    const subject = [name, ...groups.map((group) => `O=${group}`)].join("/");
    return await this.#authority.sign(subject, 1, [["DNS", "client"]]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#authority.remove();
  }
}
