/**
 * Every field of a pod that injection reads: who sets the field, and the meaning of its absence.
 *
 * The API server sends a pod to injection after adding defaults and before naming the pod. So a field with a default is
 * always present, and its value need not be a decision of the pod's author.
 *
 * @module
 */
import { type FieldRows, NEVER, none, part, under } from "../config/facts/manifest_fields.ts";

/** The handlers of a container's probe or hook. */
const HANDLER: FieldRows = {
  httpGet: none("author", "it is asked in another way"),
  "httpGet.path": { by: "server", folder: "/, the server's default", api: NEVER },
  "httpGet.port": part,
  "httpGet.scheme": { by: "server", folder: "HTTP, the server's default", api: NEVER },
  "httpGet.httpHeaders": none("author", "no headers but the usual ones"),
  tcpSocket: none("author", "it is asked in another way"),
  "tcpSocket.port": part,
  grpc: none("author", "it is asked in another way"),
  "grpc.port": part,
  "grpc.service": { by: "server", folder: "the whole program, the server's default", api: NEVER },
  exec: none("author", "it is asked in another way"),
};

const HOOK: FieldRows = {
  "": none("author", "nothing happens then"),
  ...HANDLER,
  timeoutSeconds: none("author", "hooks do not have it: as long as the hook takes"),
};

const PROBE: FieldRows = {
  "": none("author", "nobody asks"),
  ...HANDLER,
  timeoutSeconds: { by: "server", folder: "one second, the server's default, which the agent has too", api: NEVER },
};

const SECURITY: FieldRows = {
  "": none("author", "as the pod says, then the image"),
  runAsUser: { by: "runtime", folder: "as the image says", api: "no policy of the platform chose a user" },
  runAsGroup: { by: "runtime", folder: "as the image says", api: "no policy of the platform chose a group" },
};

const CONTAINER: FieldRows = {
  name: part,
  image: none("author", "the proxy's own image; an API server demands it of other containers"),
  imagePullPolicy: {
    by: "server",
    folder: "as the image's tag says: Always for latest",
    api: "never absent: what a server writes for a container without a tag is no decision",
  },
  command: none("author", "as the image says"),
  args: none("author", "as the image says"),
  ports: none("author", "no port is named"),
  "ports[].containerPort": part,
  "ports[].name": none("author", "the port has no name"),
  "ports[].protocol": { by: "server", folder: "TCP, the server's default", api: NEVER },
  env: none("author", "no variables"),
  "env[].name": part,
  "env[].value": none("author", "the variable is empty, or of another source"),
  volumeMounts: { by: "server", folder: "there are none", api: "the pod takes no token of its account" },
  "volumeMounts[].name": part,
  "volumeMounts[].mountPath": part,
  resources: { by: "server", folder: "no limits", api: "never absent, but may be empty" },
  "resources.limits": none("author", "no limits, unless a LimitRange gives some"),
  "resources.requests": { by: "server", folder: "as limits say", api: "there are no limits" },
  ...under("readinessProbe", PROBE),
  ...under("livenessProbe", PROBE),
  ...under("startupProbe", PROBE),
  lifecycle: none("author", "nothing happens before its end, or after its start"),
  ...under("lifecycle.postStart", HOOK),
  "lifecycle.postStart.exec.command": part,
  ...under("lifecycle.preStop", HOOK),
  ...under("securityContext", SECURITY),
  restartPolicy: none("author", "an init container ends before the others start"),
};

/**
 * The rows. Init containers have the same fields as containers. A test compares the rows with the fields that injection
 * reads.
 */
export const INJECTED_POD_FIELDS: FieldRows = {
  metadata: part,
  "metadata.name": {
    by: "server",
    folder: "the beginning that generateName says",
    api: "the pod is of a controller: the server has not made the name yet",
  },
  "metadata.generateName": none("author", "its name is its own"),
  "metadata.namespace": { by: "server", folder: "the default namespace", api: "that of the request" },
  "metadata.labels": none("author", "no labels"),
  "metadata.annotations": none("author", "no annotations"),
  "metadata.ownerReferences": { by: "runtime", folder: "nobody made it: it stands for itself" },
  "metadata.ownerReferences[].apiVersion": part,
  "metadata.ownerReferences[].kind": part,
  "metadata.ownerReferences[].name": part,
  "metadata.ownerReferences[].controller": none("runtime", "that owner does not count"),
  spec: part,
  "spec.containers": part,
  "spec.initContainers": none("author", "there are none"),
  ...under("spec.containers[]", CONTAINER),
  "spec.ephemeralContainers": none("runtime", "nobody debugs it; their number is bounded with the others'"),
  "spec.volumes": { by: "server", folder: "there are none", api: "the pod takes no token of its account" },
  "spec.volumes[].name": part,
  "spec.hostNetwork": none("author", "the pod has a network of its own, and may get a proxy"),
  "spec.serviceAccountName": { by: "server", folder: "account `default`, which admission writes", api: NEVER },
  "spec.imagePullSecrets": { by: "server", folder: "there are none", api: "its account has none" },
  "spec.imagePullSecrets[].name": part,
  ...under("spec.securityContext", {
    ...SECURITY,
    "": { by: "server", folder: "nothing is written of it", api: "never absent, but may be empty" },
    sysctls: none("author", "a gateway's pod may listen on ports below 1024 without rights"),
  }),
};
