/**
 * Certificates of one authority, made by openssl.
 *
 * Permissions: run (openssl), write (a folder).
 *
 * @module
 */

/** Whether there is an openssl to make them with. */
export const openssl: boolean = await (async () => {
  try {
    return (await new Deno.Command("openssl", { args: ["version"], stdout: "null" }).output()).success;
  } catch {
    return false;
  }
})();

/** A certificate with its key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** An authority in a folder; its own certificate is `root.pem` there. */
export class Authority {
  private constructor(readonly folder: string) {}

  /** Makes one. */
  static async create(folder: string): Promise<Authority> {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    await run(
      "req",
      "-x509",
      ...key,
      "-keyout",
      `${folder}/root.key`,
      "-out",
      `${folder}/root.pem`,
      "-subj",
      "/CN=root",
    );
    return new Authority(folder);
  }

  /** Signs a certificate that carries one name, such as `URI:spiffe://...` or `DNS:example.com`. */
  async certify(name: string): Promise<Certificate> {
    const at = `${this.folder}/${crypto.randomUUID()}`;
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", `${at}.key`];
    await run("req", ...key, "-out", `${at}.ask`, "-subj", "/CN=server");
    await Deno.writeTextFile(`${at}.names`, `subjectAltName=${name}\n`);
    const by = ["-CA", `${this.folder}/root.pem`, "-CAkey", `${this.folder}/root.key`, "-CAcreateserial"];
    await run("x509", "-req", "-in", `${at}.ask`, "-out", `${at}.pem`, ...by, "-extfile", `${at}.names`);
    return { cert: await Deno.readTextFile(`${at}.pem`), key: await Deno.readTextFile(`${at}.key`) };
  }
}

async function run(...args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("openssl", { args: [...args] }).output();
  if (!success) throw new Error(`openssl ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}
