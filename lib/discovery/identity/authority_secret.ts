/**
 * The secret of the orchestrator in which the authority of a server is: one that an operator brings along (`cacerts`), or
 * one that the servers made themselves.
 *
 * Permissions: those of the client. The API's: `get`, `list` and `watch` of secrets in the namespace, and those of
 * `./root_secret.ts`.
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

/** Name of the secret that servers make. */
const OWN = "mesh-ca-secret";
/** Name of the one that Istio's servers make. */
const ISTIOS = "istio-ca-secret";
/** Name of the one that operators bring along. */
export const BROUGHT = "cacerts";

/** The secret of the authority. */
export interface AuthoritySecret {
  readonly name: string;
  /** Where the servers keep their own authority; undefined: it is brought along. */
  readonly store: SecretRootStore | undefined;
}

/**
 * Finds the secret: `cacerts` where there is one, else `mesh-ca-secret`, else that of Istio, whose workloads would trust no
 * other root; where there is none, the one that is to be made.
 *
 * @param asBrought A new one is called `cacerts` (`USE_CACERTS_FOR_SELF_SIGNED_CA`).
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

/** A way to read a secret's keys as the files of a folder, which they would be where it is mounted. */
export function secretFiles(client: ApiClient, namespace: string, name: string, kernel: Pick<Kernel, "log">) {
  return async ({ paths, onTexts }: WatchFilesOptions<string>): Promise<WatchedFile> => {
    const informer = secretInformer(client, namespace, name, kernel);
    const report = () => {
      const texts = informer.get(namespace, name)?.value ?? {};
      // Tools write keys that have nothing to say as empty texts, where files would be left out.
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

/** Calls `changed` whenever a secret is another one. @returns ends it */
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

/** An informer of one secret, with its data as texts. */
export function secretInformer(client: ApiClient, namespace: string, name: string, kernel: Pick<Kernel, "log">) {
  return new Informer(client, {
    ...{ resource: SECRETS, namespace, fieldSelector: `metadata.name=${name}`, log: kernel.log.scope("pkica") },
    project: (object) => secretTexts(object, `secret ${namespace}/${name}`),
  });
}

/**
 * Tries until the API has answered, however long that takes: an authority of its own for each server would be worse than
 * none.
 *
 * @returns the result of the work; undefined: the server's namespace is not there, so no other server can be in it
 * @throws errors that are not the API's
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
        kernel.log.scope("pkica").error("the authority's secret cannot be used; the server waits for it", { error });
      }
      said = error.message;
      await kernel.clock.sleep(backOff.next());
    }
  }
}
