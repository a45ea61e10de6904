/**
 * Flags of the commands about tags of revisions, and about the secret of another cluster.
 *
 * @module
 */
import { boolFlag, stringFlag } from "../../lib/cli/flag.ts";

const NAMESPACE = stringFlag("mesh-system", "namespace of the control plane", { short: "n" });

export const tagListFlags = {
  output: stringFlag("text", "one of `text` or `json`", { short: "o", allowed: ["text", "json"] }),
};

export const tagSetFlags = {
  revision: stringFlag("", "revision of the tag; required", { short: "r" }),
  namespace: NAMESPACE,
};

export const tagRemoveFlags = {
  "skip-confirmation": boolFlag("do not look whether a namespace still uses the tag", { short: "y" }),
};

export const remoteSecretFlags = {
  name: stringFlag("", "name of the cluster, as its proxies call it (CLUSTER_ID); required"),
  server: stringFlag("", "address of the cluster's API, as the mesh's servers reach it; required"),
  namespace: NAMESPACE,
};
