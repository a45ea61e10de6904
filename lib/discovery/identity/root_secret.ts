/**
 * Keeps the self-signed authority in a secret of the orchestrator, for all servers of a namespace. The first server to
 * create the secret wins. A later replacement names the replaced version.
 *
 * Permissions: the permissions of the client. Rights at the API: `get`, `create` and `update` of secrets in the
 * namespace.
 *
 * @module
 */
import type { RootStore } from "../../authority/root_store.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ApiResource } from "../../orch/informer/resource.ts";
import { createObject, getObject, type ObjectPlace, replaceObject } from "../../orch/resources/objects.ts";
import { joinPem } from "../../pki/pem.ts";
import { PkiError } from "../../pki/pki_error.ts";

export const SECRETS: ApiResource = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

/** Type of a secret that a server made. */
const TYPE = "mesh.io/ca-root";

/** Keys that mark a secret `cacerts` as made by a server: this project's key, and Istio's. */
export const GENERATED = ["mesh-generated", "istio-generated"] as const;

/** Whether a server made a secret with these keys. */
export function isGenerated(keys: readonly string[]): boolean {
  return GENERATED.some((key) => keys.includes(key));
}

/** How a certificate begins and ends in PEM. */
const BEGIN = "-----BEGIN CERTIFICATE-----", END = "-----END CERTIFICATE-----\n";

/** Data of a secret as texts. @throws {PkiError} for text that is not base64 */
export function secretTexts({ data }: ApiJson, place: string): Readonly<Record<string, string>> {
  const entries = isApiJson(data) ? Object.entries(data) : [];
  return Object.fromEntries(entries.map(([key, value]) => {
    try {
      return [key, atob(String(value))];
    } catch {
      throw new PkiError(`${place}: ${key}: expected base64`);
    }
  }));
}

export class SecretRootStore implements RootStore {
  readonly place: string;
  readonly #client: ApiClient;
  readonly #object: ObjectPlace;
  readonly #generated: boolean;

  /**
   * @param generated The secret has the name of an operator's secret, and needs a key that marks it as made by a
   * server.
   */
  constructor(client: ApiClient, { namespace, name, generated }: {
    readonly namespace: string;
    readonly name: string;
    readonly generated: boolean;
  }) {
    this.#client = client;
    this.#object = { resource: SECRETS, namespace, name };
    this.#generated = generated;
    this.place = `secret ${namespace}/${name}`;
  }

  async read(): Promise<string | undefined> {
    const object = await getObject(this.#client, this.#object);
    return object === undefined ? undefined : this.#textOf(object);
  }

  async create(text: string): Promise<boolean> {
    return await isFirst(createObject(this.#client, this.#object, { type: TYPE, data: this.#dataOf(text) }));
  }

  async replace(text: string, old: string): Promise<boolean> {
    const object = await getObject(this.#client, this.#object);
    if (object === undefined || this.#textOf(object) !== old) return false;
    const metadata = object["metadata"] as ApiJson;
    const data = { ...object["data"] as ApiJson, ...this.#dataOf(text) };
    const version = String(metadata["resourceVersion"]);
    return await isFirst(replaceObject(this.#client, this.#object, version, { ...object, metadata, data }));
  }

  /** The key, then the roots. The root in force comes first. */
  #textOf(object: ApiJson): string {
    const texts = secretTexts(object, this.place);
    const key = texts["ca-key.pem"] ?? "", first = texts["ca-cert.pem"] ?? "", roots = texts["root-cert.pem"] || first;
    if (key === "" || roots === "") {
      throw new PkiError(`${this.place}: expected keys ca-key.pem, ca-cert.pem and root-cert.pem`);
    }
    // Istio replaces the certificate, and leaves roots that another writer added.
    return joinPem([key, ...(roots.startsWith(first) ? [] : [first]), roots]);
  }

  #dataOf(text: string): Readonly<Record<string, string>> {
    const begin = text.indexOf(BEGIN), end = text.indexOf(END) + END.length;
    const roots = text.slice(begin);
    const texts = { "ca-key.pem": text.slice(0, begin), "ca-cert.pem": text.slice(begin, end), "root-cert.pem": roots };
    const all = { ...texts, ...this.#generated ? { [GENERATED[0]]: "" } : {} };
    return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, btoa(value)]));
  }
}

/** Whether a write met no conflict. */
async function isFirst(written: Promise<unknown>): Promise<boolean> {
  try {
    await written;
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.conflict) return false;
    throw error;
  }
}
