/**
 * The clusters in secrets: a key of a secret is the name of a cluster, the value is the access to the cluster's API.
 *
 * @module
 */
import { isSameCluster } from "../../config/spelling/cluster_name.ts";

/** The fields of a secret that the server reads. */
export interface ClusterSecret {
  /** `namespace/name`. */
  readonly name: string;
  /** Time of creation, ms since the epoch. */
  readonly created: number;
  /** Text of the access by the name of the cluster; undefined: the value is not text. */
  readonly entries: ReadonlyMap<string, string | undefined>;
}

/** A cluster and the secret that names the cluster. */
export interface WantedCluster {
  readonly id: string;
  /** `namespace/name` of the secret. */
  readonly secret: string;
  /** Text of the access. */
  readonly access: string;
}

/** An entry of a secret without effect, and the reason. */
export interface LeftOutCluster {
  readonly id: string;
  readonly secret: string;
  readonly why: string;
}

export interface WantedClusters {
  readonly wanted: ReadonlyMap<string, WantedCluster>;
  readonly leftOut: readonly LeftOutCluster[];
}

/**
 * The clusters of some secrets. When several secrets name one cluster, the oldest secret counts: all servers choose the
 * same secret, and the next secret takes over when the oldest is removed.
 *
 * @param own Name of the server's own cluster. Secrets do not describe the own cluster.
 */
export function wantedClusters(secrets: Iterable<ClusterSecret>, own: string): WantedClusters {
  const wanted = new Map<string, WantedCluster>();
  const leftOut: LeftOutCluster[] = [];
  for (const { name: secret, entries } of [...secrets].sort(byAge)) {
    for (const [id, access] of entries) {
      const first = wanted.get(id);
      const why = isSameCluster(id, own)
        ? "the cluster is the server's own"
        : first !== undefined
        ? `secret ${first.secret}, which is older, names the cluster too`
        : access === undefined
        ? "got a value that is not text, expected an orchestrator config file"
        : undefined;
      if (why !== undefined) leftOut.push({ id, secret, why });
      else wanted.set(id, { id, secret, access: access! });
    }
  }
  return { wanted, leftOut };
}

function byAge(a: ClusterSecret, b: ClusterSecret): number {
  return a.created - b.created || (a.name < b.name ? -1 : 1);
}
