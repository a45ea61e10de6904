/**
 * Credentials for registries, in the form of Docker's configuration (`config.json`, `kubernetes.io/dockerconfigjson`).
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../../../kernel/json/issues.ts";
import { FetchFault } from "./fetch_fault.ts";
import { DOCKER_HUB } from "./image_name.ts";
import { before, withoutEnd } from "../../../kernel/text/edges.ts";

/** How a caller proves its identity to a registry. */
export type RegistryCredentials =
  | { readonly type: "none" }
  | { readonly type: "password"; readonly username: string; readonly password: string }
  /** Buys tokens of the registry. */
  | { readonly type: "identity token"; readonly token: string }
  /** Is a token of the registry. */
  | { readonly type: "registry token"; readonly token: string };

const text = z.string({ error: "a text" }).optional();
const schema = z.object({
  auths: z.record(
    z.string(),
    z.object(
      { auth: text, username: text, password: text, identitytoken: text, registrytoken: text },
      { error: "credentials" },
    ),
    { error: "credentials by registry" },
  ).optional(),
}, { error: "a Docker configuration" });

/** Key of Docker Hub in such a configuration. */
const HUB_KEYS = ["index.docker.io", "docker.io", DOCKER_HUB];

/**
 * The credentials for a registry.
 * @param json The configuration. Errors do not show this secret.
 * @throws {FetchFault} For another text.
 */
export function credentialsFor(registry: string, json: string): RegistryCredentials {
  const { auths = {} } = readConfiguration(json);
  const wanted = registry === DOCKER_HUB ? HUB_KEYS : [registry];
  const [, found] = Object.entries(auths).find(([key]) => wanted.includes(hostOf(key))) ?? [];
  if (found === undefined) return { type: "none" };
  const { auth = "", username = "", password = "", identitytoken = "", registrytoken = "" } = found;
  if (registrytoken !== "") return { type: "registry token", token: registrytoken };
  if (identitytoken !== "") return { type: "identity token", token: identitytoken };
  if (username !== "" || password !== "") return { type: "password", username, password };
  return auth === "" ? { type: "none" } : ofPair(registry, auth);
}

function readConfiguration(json: string): z.infer<typeof schema> {
  if (json === "") {
    throw new FetchFault(
      "the image pull secret is empty: the server has none, or none for this proxy",
      "manifest_failure",
    );
  }
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch {
    throw new FetchFault("the image pull secret is not JSON", "manifest_failure");
  }
  const { success, data: found, error } = schema.safeParse(data);
  if (success) return found;
  // Without the values.
  const lines = issueLines(error.issues.map(({ path, message }) => ({ path, message })));
  throw new FetchFault(`the image pull secret: ${lines.join("; ").replaceAll("got none, ", "")}`, "manifest_failure");
}

/** `https://index.docker.io/v1/` and `host:port/path` are written as well. */
function hostOf(key: string): string {
  return before(key.replace(/^https?:\/\//, ""), "/");
}

/** `user:password` in base64. */
function ofPair(registry: string, auth: string): RegistryCredentials {
  let pair: string;
  try {
    pair = new TextDecoder().decode(Uint8Array.from(atob(auth.trim()), (char) => char.charCodeAt(0)));
  } catch {
    pair = "";
  }
  const colon = pair.indexOf(":");
  if (colon < 0) {
    throw new FetchFault(
      `the image pull secret: auths[${JSON.stringify(registry)}].auth: expected user:password in base64`,
      "manifest_failure",
    );
  }
  return { type: "password", username: pair.slice(0, colon), password: withoutEnd(pair.slice(colon + 1), "\0") };
}
