/**
 * Flags of the command `manifests`.
 *
 * The lists are written here, because help and completion load no module of the objects. A test compares the lists.
 *
 * @module
 */
import { stringArrayFlag, stringFlag, stringListFlag } from "../../lib/cli/flag.ts";

export const manifestsFlags = {
  revision: stringFlag("default", "name of the revision; another one than `default` stands beside the default one"),
  tag: stringArrayFlag([], "a further name for the revision, for labels of namespaces; may be repeated"),
  namespace: stringFlag("mesh-system", "namespace of the control plane"),
  hub: stringFlag("docker.io/mesh", "registry and folder of the images"),
  "image-tag": stringFlag("", "tag of the images; default: the version of this program"),
  values: stringFlag("", "file of values, as YAML; flags replace its values", { complete: "file" }),
  only: stringListFlag([], "parts to print; without it all that the revision needs", {
    allowed: ["base", "rights", "server", "plugin", "tunnel", "validation", "injection", "tags", "gateways"],
  }),
};
