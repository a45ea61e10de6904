/**
 * The orchestrator config file of the plugin: the API's address, CA and token.
 *
 * It is JSON, which every reader of such files takes, so that the plugin reads it without a YAML parser.
 *
 * @module
 */
import { hostAndPort } from "../../kernel/text/host.ts";
import { isObject } from "../config/network.ts";

/** The content of the file. */
export interface OrchAccess {
  /** `https://host:port`. */
  readonly server: string;
  /** PEM; undefined: certificates are not checked. */
  readonly ca: string | undefined;
  readonly token: string;
}

/** The file's text. */
export function orchConfigText(access: OrchAccess): string {
  const check = access.ca === undefined
    ? { "insecure-skip-tls-verify": true }
    : { "certificate-authority-data": toBase64(access.ca) };
  return JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "local", cluster: { server: access.server, ...check } }],
      users: [{ name: "mesh-cni", user: { token: access.token } }],
      contexts: [{ name: "mesh-cni-context", context: { cluster: "local", user: "mesh-cni" } }],
      "current-context": "mesh-cni-context",
    },
    null,
    2,
  ) + "\n";
}

/**
 * Reads the text of an orchestrator config.
 * @throws {RangeError} With the missing part.
 */
export function readOrchConfig(text: string): OrchAccess {
  const value: unknown = JSON.parse(text);
  const cluster = named(value, "clusters", "cluster");
  const user = named(value, "users", "user");
  const { server } = cluster;
  const { token } = user;
  const ca = cluster["certificate-authority-data"];
  if (typeof server !== "string") throw new RangeError("clusters[0].cluster.server: expected an address");
  if (typeof token !== "string") throw new RangeError("users[0].user.token: expected a token");
  if (cluster["insecure-skip-tls-verify"] === true) return { server, ca: undefined, token };
  if (typeof ca !== "string") throw new RangeError("clusters[0].cluster.certificate-authority-data: expected a CA");
  return { server, ca: fromBase64(ca), token };
}

function named(value: unknown, list: string, part: string): Readonly<Record<string, unknown>> {
  const rows = isObject(value) ? value[list] : undefined;
  const first: unknown = Array.isArray(rows) ? rows[0] : undefined;
  const inner = isObject(first) ? first[part] : undefined;
  return isObject(inner) ? inner : {};
}

/** `https://host:port`, with brackets around an IPv6 address. */
export function serverAddress(protocol: string, host: string, port: string): string {
  return `${protocol}://${hostAndPort(host, port)}`;
}

function toBase64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

function fromBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.fromBase64(text));
}
