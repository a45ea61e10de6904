/**
 * Questions about callers that a server asks the APIs of clusters: reviews of tokens, and rights to read secrets. The
 * caller names a cluster, and the server asks the API of this cluster.
 *
 * @module
 */
import type { TokenReviewer } from "../../authenticators/orchestrator_token.ts";
import { TokenReviews } from "../../authenticators/token_reviews.ts";
import { isSameCluster } from "../../config/spelling/cluster_name.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ClusterCredentials } from "../credentials/credentials.ts";
import { SecretRights } from "../credentials/secret_rights.ts";
import type { RemoteCluster } from "./cluster.ts";

export interface ClusterNames {
  /** Name of the server's own cluster. */
  readonly clusterId: string;
  /** The server's name of a cluster by a caller's name of the cluster. */
  readonly clusterAliases: Readonly<Record<string, string>>;
}

export interface FoundClusters {
  get(id: string): RemoteCluster | undefined;
}

/**
 * Asks the API of the named cluster about a caller's token. Without a name the API of the server's own cluster is
 * asked.
 */
export function tokenReviewer(own: ApiClient, names: ClusterNames, clusters: FoundClusters | undefined): TokenReviewer {
  const { clusterId, clusterAliases } = names;
  const idOf = (name: string) => {
    if (Object.hasOwn(clusterAliases, name)) return clusterAliases[name]!;
    return isSameCluster(name, clusterId) ? clusterId : name;
  };
  const here = new TokenReviews(own, (name) => idOf(name) === clusterId);
  const reviews = new WeakMap<RemoteCluster, TokenReviews>();
  return (token, audiences, named, address) => {
    const cluster = named === undefined || idOf(named) === clusterId ? undefined : clusters?.get(idOf(named));
    if (cluster === undefined) return here.review(token, audiences, named, address);
    let there = reviews.get(cluster);
    if (there === undefined) reviews.set(cluster, there = new TokenReviews(cluster.api, () => true));
    return there.review(token, audiences, named, address);
  };
}

/** Credentials of remote clusters. The API of each cluster decides who may read its credentials. */
export class RemoteCredentials {
  readonly #own: string;
  readonly #clusters: FoundClusters;
  readonly #log: Logger;
  readonly #rights = new WeakMap<RemoteCluster, SecretRights>();

  /** @param own Name of the server's own cluster. */
  constructor(own: string, clusters: FoundClusters, log: Logger) {
    this.#own = own;
    this.#clusters = clusters;
    this.#log = log;
  }

  /**
   * The implementation of {@linkcode CredentialsOptions.clusters}.
   *
   * @param name The server's name of a cluster, not an alias.
   */
  of(name: string): ClusterCredentials | "own" | "unknown" {
    if (name === this.#own) return "own";
    const cluster = this.#clusters.get(name);
    if (cluster === undefined) return "unknown";
    let rights = this.#rights.get(cluster);
    if (rights === undefined) {
      this.#rights.set(cluster, rights = new SecretRights(cluster.api, this.#log, cluster.ended));
    }
    return { facts: cluster.facts, rights };
  }
}
