/**
 * Credentials in a running server: what a proxy asks for and does not get is counted, and said, because an operator must
 * learn why a port takes no connections.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ResourceTable } from "../../resource/set.ts";
import { Credentials } from "./credentials.ts";
import { SecretRights } from "./secret_rights.ts";

/**
 * Credentials of these facts, until the kernel stops.
 *
 * @param client Asked who may read Secrets of the API. Default: there is none.
 */
export function startCredentials(
  table: ResourceTable,
  facts: FactStore,
  kernel: Kernel,
  client?: ApiClient,
): Credentials {
  const log = kernel.log.scope("ads");
  const stop = new AbortController();
  const errors = kernel.metrics.counter("pilot_sds_certificate_errors_total");
  const credentials = new Credentials({
    facts,
    table,
    rights: client && new SecretRights(client, kernel.log.scope("authorization"), stop.signal),
    refused: ({ name }, resource, why) => {
      errors.inc();
      log.warn(`${name} does not get ${resource}: ${why}`);
    },
  });
  kernel.stopper.add("credentials", () => {
    stop.abort();
    credentials.stop();
  });
  return credentials;
}
