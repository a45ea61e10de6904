/**
 * The clusters that the secrets name: each key of a secret is the name of a cluster, its value the access to its API.
 *
 * @module
 */
import { isSameCluster } from "../../config/spelling/cluster_name.ts";

/** The part of a secret that is read. */
export interface ClusterSecret {
  /** `namespace/name`. */
  readonly name: string;
  /** When it was made, ms since the epoch. */
  readonly created: number;
  /** Text of the access by the name of the cluster; undefined: the value is no text. */
  readonly entries: ReadonlyMap<string, string | undefined>;
}

/** A cluster that one secret names. */
export interface WantedCluster {
  readonly id: string;
  /** `namespace/name` of the secret. */
  readonly secret: string;
  /** Text of the access. */
  readonly access: string;
}

/** An entry of a secret that does not count, with the reason. */
export interface LeftOutCluster {
  readonly id: string;
  readonly secret: string;
  readonly why: string;
}

/** See {@linkcode wantedClusters}. */
export interface WantedClusters {
  readonly wanted: ReadonlyMap<string, WantedCluster>;
  readonly leftOut: readonly LeftOutCluster[];
}

/**
 * The clusters of some secrets. Of several secrets that name one cluster the oldest counts, so that all servers read the
 * same one, and the next one when it goes.
 *
 * @param own Name of the server's own cluster, which no secret describes.
 */
export function wantedClusters(secrets: Iterable<ClusterSecret>, own: string): WantedClusters {
  const wanted = new Map<string, WantedCluster>();
  const leftOut: LeftOutCluster[] = [];
  for (const { name: secret, entries } of [...secrets].sort(byAge)) {
    for (const [id, access] of entries) {
      const first = wanted.get(id);
      const why = isSameCluster(id, own)
        ? "it is the server's own cluster"
        : first !== undefined
        ? `secret ${first.secret}, which is older, names it too`
        : access === undefined
        ? "got a value that is no text, expected an orchestrator config file"
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
