/**
 * Credentials in a running server. A secret that is refused to a proxy is counted and logged, because an operator must
 * learn why a port accepts no connections.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ResourceTable } from "../../resource/set.ts";
import { refusedLookup, type RefusingConfiguration } from "../../config/refused/refused_keys.ts";
import { type ClusterCredentials, Credentials } from "./credentials.ts";
import { GatewaySecrets } from "./gateway_secrets.ts";
import { SecretRights } from "./secret_rights.ts";

/** Remote clusters, as far as credentials are concerned. */
export interface CredentialClusters {
  /** Finds a cluster by the name in the requests of proxies. See `CredentialsOptions`. */
  credentialsOf(name: string): ClusterCredentials | "own" | "unknown";
  /** Has credentials follow the objects of the clusters. */
  followCredentials(credentials: Credentials): void;
}

/** Most refused credentials of one stream in the log: a client can make up any number of names. */
const MAX_LOGGED = 100;

/**
 * Credentials from the facts of a configuration, until the kernel stops.
 *
 * @param client Asked for the rights to read Secrets of the API. Default: there is no API.
 * @param clusters Default: there are no remote clusters.
 */
export function startCredentials(
  table: ResourceTable,
  configuration: RefusingConfiguration & { readonly facts: FactStore; readonly store: ConfigStore },
  kernel: Pick<Kernel, "log" | "metrics" | "stopper">,
  client?: ApiClient,
  clusters?: CredentialClusters,
): Credentials {
  const log = kernel.log.scope("ads");
  const stop = new AbortController();
  const errors = kernel.metrics.counter("pilot_sds_certificate_errors_total");
  const gatewaySecrets = new GatewaySecrets(configuration.store, (keys) => credentials.lookAgain(keys));
  const credentials = new Credentials({
    facts: configuration.facts,
    table,
    gatewaySecrets,
    isRefused: refusedLookup(configuration),
    clusters: clusters && ((name) => clusters.credentialsOf(name)),
    rights: client && new SecretRights(client, kernel.log.scope("authorization"), stop.signal),
    refused: ({ name }, resource, why, count) => {
      errors.inc();
      if (count > MAX_LOGGED) return;
      log.warn(`${name} does not get ${resource}: ${why}`);
      if (count === MAX_LOGGED) log.warn(`${name}: further refused credentials are only counted`);
    },
  });
  clusters?.followCredentials(credentials);
  kernel.stopper.add("credentials", () => {
    stop.abort();
    credentials.stop();
    gatewaySecrets.stop();
  });
  return credentials;
}
