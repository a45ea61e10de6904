/**
 * Chains of three certificates, with a test's extensions, made and judged by openssl.
 *
 * Permissions: read and write (temp folders), run (openssl).
 * @module
 */
import assert from "node:assert/strict";
import type { Purpose } from "../../../lib/pki/chain_rules.ts";

/** The extensions of each certificate, in the form of openssl's files; `version 1`: no extensions. */
export interface MadeChain {
  readonly root: string;
  readonly between: string;
  readonly leaf: string;
  /** Default `/CN=leaf`. */
  readonly leafSubject?: string;
  /** Days until the end of each certificate, default 10; below zero: ended. */
  readonly daysRoot?: number;
  readonly daysBetween?: number;
  readonly daysLeaf?: number;
}

/** The certificates as PEM texts. */
export type ChainTexts = Readonly<Record<"root" | "between" | "leaf", string>>;

/** A certificate to be signed. */
interface CertificateOrder {
  readonly key: "root" | "between" | "leaf";
  readonly subject: string;
  readonly extensions: string;
  readonly days?: number | undefined;
  /** Name of the issuer's file. Default: self-signed. */
  readonly issuer?: string;
}

export class ChainMaker implements AsyncDisposable {
  readonly #folder: string;
  readonly #requests = new Map<string, Promise<string>>();
  readonly #names = new Map<string, Promise<string>>();
  #made = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes the keys. */
  static async open(): Promise<ChainMaker> {
    const maker = new ChainMaker(await Deno.makeTempDir());
    const key = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out"];
    await Promise.all(["root", "between", "leaf"].map((name) => maker.#openssl(...key, `${name}.key`)));
    return maker;
  }

  /** Makes a chain. */
  async make(chain: MadeChain): Promise<ChainTexts> {
    const root = await this.#signed({ key: "root", subject: "/CN=root", extensions: chain.root, days: chain.daysRoot });
    const between = await this.#signed({
      ...{ key: "between", subject: "/CN=between", extensions: chain.between, days: chain.daysBetween },
      issuer: root,
    });
    const leaf = await this.#signed({
      ...{ key: "leaf", subject: chain.leafSubject ?? "/CN=leaf", extensions: chain.leaf, days: chain.daysLeaf },
      issuer: between,
    });
    const text = (name: string) => Deno.readTextFile(`${this.#folder}/${name}.pem`);
    return { root: await text(root), between: await text(between), leaf: await text(leaf) };
  }

  /** The name of a certificate's file; each is made once. */
  #signed(order: CertificateOrder): Promise<string> {
    return this.#names.getOrInsertComputed(
      JSON.stringify(order),
      () => this.#sign(`${this.#made++}-${order.key}`, order),
    );
  }

  async #sign(name: string, { key, subject, extensions, days = 10, issuer }: CertificateOrder): Promise<string> {
    const request = await this.#request(key, subject);
    const signer = issuer === undefined
      ? ["-signkey", `${key}.key`]
      : ["-CA", `${issuer}.pem`, "-CAkey", `${issuer.split("-")[1]}.key`, "-set_serial", "0x1234"];
    const isFirstVersion = extensions === "version 1";
    if (!isFirstVersion) await Deno.writeTextFile(`${this.#folder}/${name}.ext`, extensions);
    const more = isFirstVersion ? [] : ["-extfile", `${name}.ext`];
    await this.#openssl(
      ...["x509", "-req", "-in", request, "-days", String(days), "-out", `${name}.pem`, ...signer, ...more],
    );
    return name;
  }

  /** The name of the file of a request; each is made once. */
  #request(key: string, subject: string): Promise<string> {
    return this.#requests.getOrInsertComputed(`${key} ${subject}`, async () => {
      const file = `${this.#made++}-${key}.csr`;
      await this.#openssl("req", "-new", "-key", `${key}.key`, "-subj", subject, "-out", file);
      return file;
    });
  }

  /** A self-signed certificate with a name and key of the chain, and with the right to sign. */
  async selfSigned(key: "root" | "between" | "leaf"): Promise<string> {
    const extensions = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n";
    const name = await this.#signed({ key, subject: `/CN=${key}`, extensions });
    return await Deno.readTextFile(`${this.#folder}/${name}.pem`);
  }

  /**
   * An empty list of revoked certificates by an authority made before, as PEM.
   *
   * @param extension Of the list, in the form of openssl's files. Default: none.
   */
  async revocationList(name: "root" | "between", extension = ""): Promise<string> {
    const [settings, database] = [`${name}.cnf`, `${this.#folder}/${name}.txt`];
    const extensions = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n";
    const certificate = await this.#signed({ key: name, subject: `/CN=${name}`, extensions });
    const own = `[own]\ndatabase=${database}\ndefault_md=sha256\ndefault_crl_days=1\n`;
    const more = extension === "" ? "" : `crl_extensions=more\n[more]\n${extension}\n`;
    await Deno.writeTextFile(`${this.#folder}/${settings}`, `[ca]\ndefault_ca=own\n${own}${more}`);
    await Deno.writeTextFile(database, "");
    const signer = ["-cert", `${certificate}.pem`, "-keyfile", `${name}.key`];
    await this.#openssl("ca", "-config", settings, ...signer, "-gencrl", "-out", `${name}.crl`);
    return await Deno.readTextFile(`${this.#folder}/${name}.crl`);
  }

  /** A key, as PEM. @param encrypted In the style of older tools, with a header in the block, or of newer tools */
  async key(name: keyof ChainTexts, encrypted?: "older" | "newer"): Promise<string> {
    if (encrypted === undefined) return await Deno.readTextFile(`${this.#folder}/${name}.key`);
    const password = ["-passout", "pass:secret"];
    const { text } = await this.#run(
      ...(encrypted === "older"
        ? ["ec", "-in", `${name}.key`, "-aes128", ...password]
        : ["pkcs8", "-topk8", "-in", `${name}.key`, ...password]),
    );
    return text.slice(text.indexOf("-----BEGIN"));
  }

  /** The verdict of openssl without further options. */
  async opensslTakes({ root, between, leaf }: ChainTexts, purpose: Purpose) {
    const name = `verify-${this.#made++}`;
    for (const [part, text] of Object.entries({ root, between, leaf })) {
      await Deno.writeTextFile(`${this.#folder}/${name}-${part}.pem`, text);
    }
    const trust = ["-no-CApath", "-CAfile", `${name}-root.pem`, "-untrusted", `${name}-between.pem`];
    const { success, text } = await this.#run(
      ...["verify", "-purpose", `ssl${purpose}`, ...trust, `${name}-leaf.pem`],
    );
    return { takes: success, text };
  }

  async #openssl(...args: string[]): Promise<void> {
    const { success, text } = await this.#run(...args);
    assert.ok(success, `openssl ${args.join(" ")}: ${text}`);
  }

  async #run(...args: string[]) {
    const command = new Deno.Command("openssl", { args, cwd: this.#folder, stdout: "piped", stderr: "piped" });
    const { success, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    return { success, text: decoder.decode(stdout) + decoder.decode(stderr) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }
}
