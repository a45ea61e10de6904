/**
 * The secret of the orchestrator with the authority of a server. An operator brings `cacerts` along, or the servers
 * made the secret themselves.
 *
 * Permissions: the permissions of the client. Rights at the API: `get`, `list` and `watch` of secrets in the namespace,
 * and the rights in `./root_secret.ts`.
 *
 * @module
 */
import type { Kernel } from "../../kernel/kernel.ts";
import type { WatchedFile } from "../../kernel/files/watch_file.ts";
import type { WatchFilesOptions } from "../../kernel/files/watch_files.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { BackOff } from "../../orch/informer/back_off.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { getObject } from "../../orch/resources/objects.ts";
import { isGenerated, SecretRootStore, SECRETS, secretTexts } from "./root_secret.ts";

/** Name of the secret made by this project's servers. */
const OWN = "mesh-ca-secret";
/** Name of the secret that Istio's servers make. */
const ISTIOS = "istio-ca-secret";
/** Name of the secret that operators bring along. */
export const BROUGHT = "cacerts";

/** The secret of the authority. */
export interface AuthoritySecret {
  readonly name: string;
  /** The store of the servers' own authority; undefined: an operator brought the authority along. */
  readonly store: SecretRootStore | undefined;
}

/**
 * Finds the secret: `cacerts`, else `mesh-ca-secret`, else Istio's secret, because existing workloads trust only
 * Istio's root. When no secret exists, returns the place of a new secret.
 *
 * @param asBrought Calls a new secret `cacerts` (`USE_CACERTS_FOR_SELF_SIGNED_CA`).
 * @throws {ApiError} when the API does not answer
 */
export async function findAuthoritySecret(
  client: ApiClient,
  namespace: string,
  asBrought: boolean,
): Promise<AuthoritySecret> {
  const there = (name: string) => getObject(client, { resource: SECRETS, namespace, name });
  const own = (name: string) => ({
    name,
    store: new SecretRootStore(client, { namespace, name, generated: name === BROUGHT }),
  });
  const brought = await there(BROUGHT);
  if (brought !== undefined) {
    return isGenerated(Object.keys(secretTexts(brought, BROUGHT))) ? own(BROUGHT) : { name: BROUGHT, store: undefined };
  }
  for (const name of [OWN, ISTIOS]) if (await there(name) !== undefined) return own(name);
  return own(asBrought ? BROUGHT : OWN);
}

/** Reads a secret's keys as if the secret were mounted as a folder of files. */
export function secretFiles(client: ApiClient, namespace: string, name: string, kernel: Pick<Kernel, "log">) {
  return async ({ paths, onTexts }: WatchFilesOptions<string>): Promise<WatchedFile> => {
    const informer = secretInformer(client, namespace, name, kernel);
    const report = () => {
      const texts = informer.get(namespace, name)?.value ?? {};
      // Tools write empty texts for keys without content. A folder would have no file.
      const textAt = (path: string) => texts[path.slice(path.lastIndexOf("/") + 1)] || undefined;
      onTexts(Object.fromEntries(paths.map((path) => [path, textAt(path)])));
    };
    informer.start();
    await informer.whenSynced;
    report();
    informer.subscribe(report);
    return { stop: () => informer.stop() };
  };
}

/** Calls `changed` whenever the secret changes. @returns a function that ends the calls */
export function followSecret(
  client: ApiClient,
  namespace: string,
  name: string,
  kernel: Pick<Kernel, "log">,
  changed: () => void,
): () => Promise<void> {
  const informer = secretInformer(client, namespace, name, kernel);
  informer.subscribe(changed);
  informer.start();
  return () => informer.stop();
}

/** An informer of one secret with texts as data. */
export function secretInformer(client: ApiClient, namespace: string, name: string, kernel: Pick<Kernel, "log">) {
  return new Informer(client, {
    ...{ resource: SECRETS, namespace, fieldSelector: `metadata.name=${name}`, log: kernel.log.scope("pkica") },
    project: (object) => secretTexts(object, `secret ${namespace}/${name}`),
  });
}

/**
 * Tries until the API has answered, however long the API is away. A server without an authority does less harm than
 * servers with different authorities.
 *
 * @returns the result of the work; undefined: the server's namespace does not exist, so no other server runs there
 * @throws errors from other causes than the API
 */
export async function untilAnswered<T>(
  work: () => Promise<T>,
  kernel: Pick<Kernel, "log" | "clock">,
): Promise<T | undefined> {
  const backOff = new BackOff();
  let said = "";
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404) return undefined;
      if (said !== error.message) {
        kernel.log.scope("pkica").error("the authority's secret cannot be used; the server waits for a usable secret", {
          error,
        });
      }
      said = error.message;
      await kernel.clock.sleep(backOff.next());
    }
  }
}
