/**
 * Credentials in a running server: what a proxy asks for and does not get is counted, and said, because an operator must
 * learn why a port takes no connections.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ResourceTable } from "../../resource/set.ts";
import { Credentials } from "./credentials.ts";

/** Credentials of these facts, until the kernel stops. */
export function startCredentials(table: ResourceTable, facts: FactStore, kernel: Kernel): Credentials {
  const log = kernel.log.scope("ads");
  const errors = kernel.metrics.counter("pilot_sds_certificate_errors_total");
  const credentials = new Credentials({
    facts,
    table,
    refused: ({ name }, resource, why) => {
      errors.inc();
      log.warn(`${name} does not get ${resource}: ${why}`);
    },
  });
  kernel.stopper.add("credentials", () => credentials.stop());
  return credentials;
}
