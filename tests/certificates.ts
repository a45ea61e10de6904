/**
 * Authorities and their certificates, made by openssl, for tests of all groups.
 *
 * Permissions: read and write (temp folder), run (openssl).
 * @module
 */
import assert from "node:assert/strict";

/** Whether openssl is there. */
export const openssl: boolean = await (async () => {
  try {
    return (await new Deno.Command("openssl", { args: ["version"], stdout: "null" }).output()).success;
  } catch {
    return false;
  }
})();

/** A certificate and its key as PEM texts. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

async function run(...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("openssl", { args, stdout: "null", stderr: "piped" }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** An authority with a temporary folder. */
export class Authority {
  /** File with the authority's certificate. */
  readonly file: string;
  readonly #folder: string;
  readonly certificate: string;
  #signed = 0;

  private constructor(folder: string, certificate: string) {
    this.#folder = folder;
    this.file = `${folder}/ca.pem`;
    this.certificate = certificate;
  }

  /** Makes a root authority. */
  static async make(name: string): Promise<Authority> {
    const folder = await Deno.makeTempDir();
    const files = ["-keyout", `${folder}/ca.key`, "-out", `${folder}/ca.pem`];
    await run("req", "-x509", ...NEW_KEY, "-days", "2", "-subj", `/CN=${name}`, ...files);
    return new Authority(folder, await Deno.readTextFile(`${folder}/ca.pem`));
  }

  /**
   * Signs a certificate for a name; `days` below zero: an expired certificate. `names` are the alternative names, each
   * with its kind.
   */
  async sign(name: string, days = 1, names: readonly (readonly [string, string])[] = [["DNS", name]]) {
    const at = `${this.#folder}/${this.#signed++}`;
    await run("req", ...NEW_KEY, "-subj", `/CN=${name}`, "-keyout", `${at}.key`, "-out", `${at}.csr`);
    const lines = names.map(([kind, value], i) => `${kind}.${i}=${value.replaceAll(",", "\\,")}\n`).join("");
    const usage = "subjectAltName=@names\nextendedKeyUsage=serverAuth,clientAuth\n";
    await Deno.writeTextFile(`${at}.ext`, `${usage}[names]\n${lines}`);
    // A file with the last serial number would be written by two signatures at once.
    const serial = `0x${crypto.randomUUID().replaceAll("-", "")}`;
    const authority = ["-CA", this.file, "-CAkey", `${this.#folder}/ca.key`, "-set_serial", serial];
    const files = ["-in", `${at}.csr`, "-extfile", `${at}.ext`, "-out", `${at}.pem`];
    await run("x509", "-req", ...authority, ...files, "-days", String(days));
    const [certificate, key] = await Promise.all([`${at}.pem`, `${at}.key`].map((file) => Deno.readTextFile(file)));
    return { certificate: certificate!, key: key! } satisfies Certificate;
  }

  /** Revokes certificates. @returns the list of all revoked certificates, as PEM */
  async revoke(...certificates: readonly string[]): Promise<string> {
    const settings = `${this.#folder}/ca.cnf`;
    const [database, list] = [`${this.#folder}/index.txt`, `${this.#folder}/crl.pem`];
    const lines = `database=${database}\ndefault_md=sha256\ndefault_crl_days=1\n`;
    await Deno.writeTextFile(settings, `[ca]\ndefault_ca=own\n[own]\n${lines}`);
    await Deno.writeTextFile(database, "", { append: true });
    const authority = ["ca", "-config", settings, "-cert", this.file, "-keyfile", `${this.#folder}/ca.key`];
    for (const certificate of certificates) {
      await Deno.writeTextFile(`${this.#folder}/revoked.pem`, certificate);
      await run(...authority, "-revoke", `${this.#folder}/revoked.pem`);
    }
    await run(...authority, "-gencrl", "-out", list);
    return await Deno.readTextFile(list);
  }

  /** An OCSP responder's statement "good" about a certificate, DER. */
  async ocspResponse(certificate: string): Promise<Uint8Array> {
    const [leaf, database] = [`${this.#folder}/asked.pem`, `${this.#folder}/good.txt`];
    await Deno.writeTextFile(leaf, certificate);
    const text = async (...args: string[]) => {
      const { stdout } = await new Deno.Command("openssl", { args: ["x509", "-noout", "-in", leaf, ...args] }).output();
      return new TextDecoder().decode(stdout).trim();
    };
    const [serial, subject] = [(await text("-serial")).slice("serial=".length), await text("-subject")];
    await Deno.writeTextFile(
      database,
      `V\t491231235959Z\t\t${serial}\tunknown\t/${subject.slice("subject=".length)}\n`,
    );
    const own = ["-CA", this.file, "-rsigner", this.file, "-rkey", `${this.#folder}/ca.key`];
    const asked = ["-issuer", this.file, "-cert", leaf, "-ndays", "1", "-respout", `${this.#folder}/ocsp.der`];
    await run("ocsp", "-index", database, ...own, ...asked);
    return await Deno.readFile(`${this.#folder}/ocsp.der`);
  }

  /** The authority's key, as PEM. */
  async key(): Promise<string> {
    return await Deno.readTextFile(`${this.#folder}/ca.key`);
  }

  /** Removes the authority's files. */
  async remove(): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }
}
