/**
 * Secrets made by openssl, and a real Envoy's verdict on their contents.
 *
 * Permissions: write (a folder), run (openssl, Envoy).
 *
 * @module
 */
import assert from "node:assert/strict";
import type { AnyFact } from "../../../lib/config/facts/types.ts";
import { FolderIndex } from "../../../lib/folder/index.ts";
import { envoyPath } from "../../envoy/path.ts";
import { validateBootstrap } from "../../envoy/verdict.ts";

/** Path of Envoy. Undefined when missing on this machine. */
export const envoy = envoyPath();

/** A secret's contents, with the expected treatment. */
export interface Row {
  readonly what: string;
  /**
   * `refuses`: Envoy does not load the contents, so they are not sent. `closed`: Envoy loads them and admits nobody.
   */
  readonly envoy: "loads" | "refuses" | "closed";
  /** The reason of a refusal. */
  readonly why?: RegExp;
  readonly data: Readonly<Record<string, string | Uint8Array>>;
}

/**
 * The output of openssl.
 *
 * @param input Standard input.
 */
export async function run(args: readonly string[], input = ""): Promise<string> {
  const command = new Deno.Command("openssl", { args: [...args], stdin: "piped", stdout: "piped", stderr: "piped" });
  const child = command.spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/**
 * A PEM block.
 *
 * @param content Base64 text, or bytes.
 */
export function block(label: string, content: string | Uint8Array): string {
  const text = typeof content === "string" ? content : content.toBase64().replaceAll(/.{64}/g, "$&\n").trimEnd();
  return `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`;
}

/** The bytes of the first block of a PEM text. */
export function derOf(pem: string): Uint8Array {
  return Uint8Array.fromBase64(pem.split("-----")[2]!.replaceAll(/\s/g, ""));
}

/** A Secret in the form in which the server reads secrets. */
export function factOf(data: Row["data"]): AnyFact {
  const base64 = (value: string | Uint8Array) =>
    (typeof value === "string" ? new TextEncoder().encode(value) : value).toBase64();
  const encoded = Object.fromEntries(Object.entries(data).map(([name, value]) => [name, base64(value)]));
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "cert", namespace: "shop" }, data: encoded };
  const index = new FolderIndex({ defaultNamespace: "default", source: "" });
  const bytes = new TextEncoder().encode(JSON.stringify(object));
  return index.apply([{ path: "a.json", bytes }]).facts.upserted[0]!;
}

/** The error of an Envoy that loads a TLS context. Empty without an error. */
export async function refusalOf(context: object): Promise<string> {
  const socket = {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
      common_tls_context: context,
    },
  };
  const listener = {
    ...{ name: "x", address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
    filter_chains: [{ transport_socket: socket, filters: [] }],
  };
  const { accepted, output } = await validateBootstrap(envoy!, { static_resources: { listeners: [listener] } });
  return accepted ? "" : output;
}

/** A source of data for Envoy. */
export const inline = (value: string | Uint8Array | undefined) => ({
  inline_bytes: (typeof value === "string" ? new TextEncoder().encode(value) : value ?? new Uint8Array()).toBase64(),
});
