/**
 * The secret by which a server reads another cluster.
 *
 * @module
 */
import type { Resolved } from "../template/resolved.ts";
import { yamlText } from "../template/text.ts";

/** The access to a cluster. */
export interface RemoteAccess {
  /** Name of the cluster: the `CLUSTER_ID` of its proxies. */
  readonly cluster: string;
  /** Address of the cluster's API. */
  readonly address: string;
  /** The roots of the API's certificate, in base64. */
  readonly authority: string;
  readonly token: string;
}

/** The secret, in the namespace where servers look for such secrets. */
export function remoteSecret(access: RemoteAccess, namespace: string): Resolved {
  const { cluster } = access;
  return {
    ...{ apiVersion: "v1", kind: "Secret" },
    metadata: { name: `mesh-remote-secret-${cluster}`, namespace, labels: { "mesh/multiCluster": "true" } },
    stringData: { [cluster]: accessText(access) },
  };
}

function accessText({ cluster: name, address, authority, token }: RemoteAccess): string {
  return yamlText({
    ...{ apiVersion: "v1", kind: "Config", "current-context": name },
    clusters: [{ name, cluster: { server: address, "certificate-authority-data": authority } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}
