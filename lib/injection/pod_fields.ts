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
  httpGet: none("author", "the handler is of another form"),
  "httpGet.path": { by: "server", folder: "/, the server's default", api: NEVER },
  "httpGet.port": part,
  "httpGet.scheme": { by: "server", folder: "HTTP, the server's default", api: NEVER },
  "httpGet.httpHeaders": none("author", "only the usual headers"),
  tcpSocket: none("author", "the handler is of another form"),
  "tcpSocket.port": part,
  grpc: none("author", "the handler is of another form"),
  "grpc.port": part,
  "grpc.service": { by: "server", folder: "the whole program, the server's default", api: NEVER },
  exec: none("author", "the handler is of another form"),
};

const HOOK: FieldRows = {
  "": none("author", "no hook"),
  ...HANDLER,
  timeoutSeconds: none("author", "hooks have no timeout: the hook takes as long as it needs"),
};

const PROBE: FieldRows = {
  "": none("author", "no probe"),
  ...HANDLER,
  timeoutSeconds: { by: "server", folder: "one second, the server's default and the agent's", api: NEVER },
};

const SECURITY: FieldRows = {
  "": none("author", "the pod's value, then the image's"),
  runAsUser: { by: "runtime", folder: "the image's value", api: "no policy of the platform chose a user" },
  runAsGroup: { by: "runtime", folder: "the image's value", api: "no policy of the platform chose a group" },
  seccompProfile: {
    by: "runtime",
    folder: "the pod's value, then the node's",
    api: "no policy of the platform chose a profile",
  },
};

const CONTAINER: FieldRows = {
  name: part,
  image: none("author", "the proxy's own image; an API server demands an image of other containers"),
  imagePullPolicy: {
    by: "server",
    folder: "by the image's tag: Always for latest",
    api: "never absent: a server's value for an image without a tag is not the author's decision",
  },
  command: none("author", "the image's value"),
  args: none("author", "the image's value"),
  ports: none("author", "no port is named"),
  "ports[].containerPort": part,
  "ports[].name": none("author", "the port has no name"),
  "ports[].protocol": { by: "server", folder: "TCP, the server's default", api: NEVER },
  env: none("author", "no variables"),
  "env[].name": part,
  "env[].value": none("author", "the variable is empty, or has another source"),
  volumeMounts: { by: "server", folder: "none", api: "the pod takes no token of its account" },
  "volumeMounts[].name": part,
  "volumeMounts[].mountPath": part,
  resources: { by: "server", folder: "no limits", api: "never absent, but may be empty" },
  "resources.limits": none("author", "no limits, unless a LimitRange gives some"),
  "resources.requests": { by: "server", folder: "the limits", api: "there are no limits" },
  ...under("readinessProbe", PROBE),
  ...under("livenessProbe", PROBE),
  ...under("startupProbe", PROBE),
  lifecycle: none("author", "no hooks"),
  ...under("lifecycle.postStart", HOOK),
  "lifecycle.postStart.exec.command": part,
  ...under("lifecycle.preStop", HOOK),
  ...under("securityContext", SECURITY),
  "securityContext.seccompProfile.type": part,
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
    folder: "the prefix in generateName",
    api: "a controller made the pod: the server has not made the name yet",
  },
  "metadata.generateName": none("author", "the author chose the whole name"),
  "metadata.namespace": { by: "server", folder: "the default namespace", api: "the namespace of the request" },
  "metadata.labels": none("author", "no labels"),
  "metadata.annotations": none("author", "no annotations"),
  "metadata.ownerReferences": { by: "runtime", folder: "no owner: the pod is the workload" },
  "metadata.ownerReferences[].apiVersion": part,
  "metadata.ownerReferences[].kind": part,
  "metadata.ownerReferences[].name": part,
  "metadata.ownerReferences[].controller": none("runtime", "the owner is not a controller"),
  spec: part,
  "spec.containers": part,
  "spec.initContainers": none("author", "no init containers"),
  ...under("spec.containers[]", CONTAINER),
  "spec.ephemeralContainers": none("runtime", "nobody debugs the pod; the limit of containers holds for them too"),
  "spec.volumes": { by: "server", folder: "none", api: "the pod takes no token of its account" },
  "spec.volumes[].name": part,
  "spec.hostNetwork": none("author", "the pod has a network of its own, and may get a proxy"),
  "spec.serviceAccountName": { by: "server", folder: "account `default`, filled in by admission", api: NEVER },
  "spec.imagePullSecrets": { by: "server", folder: "none", api: "the account has no pull secrets" },
  "spec.imagePullSecrets[].name": part,
  ...under("spec.securityContext", {
    ...SECURITY,
    "": { by: "server", folder: "empty", api: "never absent, but may be empty" },
    sysctls: none("author", "a gateway's pod may listen on ports below 1024 without rights"),
  }),
};
