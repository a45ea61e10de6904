/**
 * Files of access for programs.
 *
 * @module
 */
import type { ApiAccess } from "../../../../lib/orch/client/access.ts";

/** The text of a kubeconfig with one user at one cluster. JSON is YAML too; PEM is ASCII. */
export function kubeconfigOf({ server, ca = "", identity, authorization }: ApiAccess): string {
  const user = {
    ...identity === undefined ? {} : {
      "client-certificate-data": btoa(identity.cert),
      "client-key-data": btoa(identity.key),
    },
    ...authorization === undefined ? {} : { token: authorization.replace(/^Bearer /, "") },
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server, "certificate-authority-data": btoa(ca) } }],
    users: [{ name: "test", user }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  });
}
