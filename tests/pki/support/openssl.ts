/**
 * openssl as a witness: reads output of the library, and writes input for the library.
 *
 * Permissions: read and write (temp folders), run (openssl).
 * @module
 */
import assert from "node:assert/strict";
import { certificatePem } from "../../../lib/pki/pem.ts";

/** Runs openssl with files of the given contents in its folder. @returns the output */
export async function openssl(args: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<string> {
  const { success, text } = await tryOpenssl(args, files);
  assert.ok(success, `openssl ${args.join(" ")}: ${text}`);
  return text;
}

/** Runs openssl like {@linkcode openssl}, and accepts failure. */
export async function tryOpenssl(
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<{ readonly success: boolean; readonly text: string }> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, content] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, content);
    const command = new Deno.Command("openssl", { args: [...args], cwd: folder, stdout: "piped", stderr: "piped" });
    const { success, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    return { success, text: decoder.decode(stdout) + (success ? "" : decoder.decode(stderr)) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Whether openssl finds a chain of certificates in DER, the leaf first, the root last, for servers and clients. */
export async function opensslVerifies(
  chain: readonly Uint8Array[],
  at?: number,
): Promise<{ readonly success: boolean; readonly text: string }> {
  const [leaf = "", ...rest] = chain.map(certificatePem);
  const root = rest.pop() ?? leaf;
  const time = at === undefined ? [] : ["-attime", String(Math.floor(at / 1000))];
  const args = ["verify", "-x509_strict", "-CAfile", "root.pem", "-untrusted", "between.pem", ...time, "leaf.pem"];
  return await tryOpenssl(args, { "root.pem": root, "between.pem": rest.join("") || leaf, "leaf.pem": leaf });
}
