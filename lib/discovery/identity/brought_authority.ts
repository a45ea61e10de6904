/**
 * Replaces the authority that the servers made with the authority that an operator brings along as a secret. The change
 * happens as soon as the secret appears, without a restart.
 *
 * Permissions: the permissions of the client. Rights at the API: `list` and `watch` of secrets in the namespace.
 *
 * @module
 */
import { PluggedIn } from "../../authority/plugged_in.ts";
import type { Succession } from "../../authority/succession.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { PkiError } from "../../pki/pki_error.ts";
import { BROUGHT, secretFiles, secretInformer } from "./authority_secret.ts";
import { isGenerated } from "./root_secret.ts";

/** Inputs: the API with the secret, and the authority to replace. */
export interface BroughtAuthority {
  readonly client: ApiClient;
  /** Namespace of the server. */
  readonly namespace: string;
  readonly succession: Succession;
  /** Whether the new authority may have other roots (`MESH_MULTIROOT_MESH`). */
  readonly multiRoot: boolean;
}

/**
 * Begins. An unusable authority is reported, and the present authority stays. @returns a function that ends the watch
 */
export function followBrought(
  { client, namespace, succession, multiRoot }: BroughtAuthority,
  kernel: Pick<Kernel, "log" | "clock">,
): () => Promise<void> {
  const log = kernel.log.scope("pkica");
  const folder = `secret ${namespace}/${BROUGHT}`;
  const informer = secretInformer(client, namespace, BROUGHT, kernel);
  let work = Promise.resolve();
  let isTaken = false;
  let said = "";
  const take = async () => {
    if (isTaken) return;
    const watch = secretFiles(client, namespace, BROUGHT, kernel);
    const plugged = await PluggedIn.start({ folder, multiRoot, clock: kernel.clock, log, watch });
    try {
      await succession.take(plugged, multiRoot);
    } catch (error) {
      await plugged.stop();
      throw error;
    }
    isTaken = true;
    log.info("the authority was brought along as a secret", { folder });
  };
  const refused = (error: unknown) => {
    if (!(error instanceof PkiError)) throw error;
    if (error.message !== said) {
      log.error("the secret cannot be the authority; the present authority stays", { folder, error });
    }
    said = error.message;
  };
  const end = informer.subscribe(({ upserted }) => {
    const [secret] = upserted;
    if (secret === undefined || isGenerated(Object.keys(secret.value))) return;
    work = work.then(take).catch(refused);
  });
  informer.start();
  return async () => {
    end();
    await informer.stop();
    await work;
  };
}
