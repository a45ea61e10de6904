/**
 * Every field read from an orchestrator's objects: who sets the field, and the meaning of its absence.
 *
 * A person writes the manifests of a folder. An API server fills in fields of a stored object, and controllers add
 * others later. A folder has neither kind of fields. So the absence of a platform's field has one meaning in a folder
 * and another in the API, and a reader may not take a missing field for a decision of the user.
 *
 * @module
 */
import type { FactKind } from "./types.ts";

/** Who sets a field: the author; the API server, by default or on its own; or later a controller or a node. */
export type FieldSetter = "author" | "server" | "runtime";

export interface ManifestField {
  readonly by: FieldSetter;
  /** The meaning of absence in a folder. */
  readonly folder: string;
  /** The meaning of absence in the API. Default: the same. */
  readonly api?: string;
}

/** Rows by the path of the field: `spec.ports[].name`. */
export type FieldRows = Readonly<Record<string, ManifestField>>;

/** A field whose absence has the same meaning in a folder and in the API. */
export const none = (by: FieldSetter, folder: string): ManifestField => ({ by, folder });
/** A part of an object, or a required field. */
export const part = none("author", "nothing is written of it");
/** The text for a field that an API server always fills in. */
export const NEVER = "never absent";

/** Rows below a path. */
export function under(path: string, rows: FieldRows): FieldRows {
  return Object.fromEntries(Object.entries(rows).map(([key, row]) => [key === "" ? path : `${path}.${key}`, row]));
}

/** Metadata of all kinds. */
export const METADATA_FIELDS: FieldRows = {
  name: none("author", "the beginning that generateName says, else the object is refused"),
  namespace: none("author", "the default namespace; kinds of the whole cluster have none"),
  labels: none(
    "author",
    "no labels; of a Namespace the server adds kubernetes.io/metadata.name, which is added here too",
  ),
  annotations: none("author", "no annotations"),
  creationTimestamp: { by: "server", folder: "the age is not known: names decide instead", api: NEVER },
  generation: { by: "server", folder: "status is not written back", api: "the kind does not count its versions" },
};

const OWNER: FieldRows = under("metadata.ownerReferences", {
  "": { by: "runtime", folder: "nobody made it: it stands for itself" },
  "[].kind": part,
  "[].name": part,
  "[].controller": none("runtime", "that owner does not count"),
});

function ownerRows(): FieldRows {
  return Object.fromEntries(
    Object.entries({ metadata: part, ...OWNER }).map(([k, row]) => [k.replace(".[]", "[]"), row]),
  );
}

const POD_META: FieldRows = {
  metadata: part,
  "metadata.labels": none("author", "no labels: nothing selects the pods"),
  "metadata.annotations": none("author", "no annotations"),
};

const POD_SPEC: FieldRows = {
  spec: part,
  "spec.containers": none("author", "no container is known"),
  "spec.initContainers": none("author", "there are none"),
  "spec.containers[].name": part,
  "spec.containers[].image": none("author", "not known"),
  "spec.containers[].ports": none("author", "no port is named"),
  "spec.containers[].ports[].containerPort": part,
  "spec.containers[].ports[].name": none("author", "the port has no name"),
  "spec.containers[].ports[].protocol": { by: "server", folder: "TCP, the server's default", api: NEVER },
  "spec.containers[].restartPolicy": none("author", "an init container ends before the others start"),
  "spec.containers[].securityContext": { by: "author", folder: "as the pod says" },
  "spec.containers[].securityContext.runAsUser": none("author", "as the pod, then the image says"),
  "spec.securityContext": { by: "server", folder: "nothing is written of it", api: "never absent, but may be empty" },
  "spec.securityContext.runAsUser": none("author", "as the image says"),
  "spec.hostNetwork": none("author", "the pod has a network of its own"),
  "spec.serviceAccountName": { by: "server", folder: "account `default`, which admission writes", api: NEVER },
  "spec.serviceAccount": { by: "server", folder: "the older name of serviceAccountName: as that says", api: NEVER },
};

const TEMPLATE: FieldRows = { ...POD_META, ...POD_SPEC };

function workload(path: string): FieldRows {
  return { [path]: part, ...under(path, TEMPLATE) };
}

const COUNTED: FieldRows = {
  ...ownerRows(),
  spec: part,
  "spec.replicas": {
    by: "server",
    folder: "one pod, the server's default, or as many as an autoscaler says",
    api: NEVER,
  },
  ...workload("spec.template"),
};

const UNCOUNTED: FieldRows = { ...ownerRows(), spec: part, ...workload("spec.template") };

const PORTS_OF_ENDPOINTS: FieldRows = {
  name: { by: "server", folder: "the only port, which has no name", api: "the same" },
  port: none("author", "not one port is meant, but all"),
  protocol: { by: "server", folder: "TCP, the server's default", api: NEVER },
  appProtocol: none("author", "as the service's port says"),
};

function listed(path: string, rows: FieldRows): FieldRows {
  return Object.fromEntries(Object.entries(rows).map(([key, row]) => [`${path}[].${key}`, row]));
}

const INGRESS_BACKEND: FieldRows = {
  service: none("author", "the backend is another resource, which is not served"),
  "service.name": part,
  "service.port": part,
  "service.port.number": none("author", "the name says it"),
  "service.port.name": none("author", "the number says it"),
};

const ADDRESSES_GIVEN: FieldRows = {
  status: { by: "runtime", folder: "no address is given yet" },
  "status.loadBalancer": { by: "runtime", folder: "no address is given yet" },
  "status.loadBalancer.ingress": { by: "runtime", folder: "no address is given yet" },
  "status.loadBalancer.ingress[].ip": { by: "runtime", folder: "the name says it" },
  "status.loadBalancer.ingress[].hostname": { by: "runtime", folder: "the address says it" },
};

/** The rows of each kind, without the metadata of all kinds. A test compares the rows with the fields that are read. */
export const MANIFEST_FIELDS: Readonly<Record<FactKind, FieldRows>> = {
  Service: {
    spec: part,
    "spec.type": { by: "server", folder: "ClusterIP, the server's default", api: NEVER },
    "spec.clusterIP": {
      by: "server",
      folder:
        "not known: an address stands in where connections are told apart by it (see `registry/allocation/stand_ins.ts`)",
      api: "the service has an external name",
    },
    "spec.clusterIPs": { by: "server", folder: "as clusterIP says", api: "the service has an external name" },
    "spec.ipFamilies": {
      by: "server",
      folder: "the cluster's family, which is not known: an address that stands in is of the family of each proxy",
      api: "the service has an external name",
    },
    "spec.ipFamilyPolicy": {
      by: "server",
      folder: "RequireDualStack where two families are written, else SingleStack, as a server decides",
      api: "the service has an external name",
    },
    "spec.externalIPs": none("author", "there are none"),
    "spec.externalName": none("author", "there is none"),
    "spec.selector": none("author", "its endpoints are written by others"),
    "spec.ports": none("author", "a headless service may have none"),
    "spec.ports[].name": none("author", "it is the only port, and its name says no protocol"),
    "spec.ports[].port": part,
    "spec.ports[].protocol": { by: "server", folder: "TCP, the server's default", api: NEVER },
    "spec.ports[].appProtocol": none("author", "the name says the protocol"),
    "spec.ports[].targetPort": { by: "server", folder: "the service's own port, the server's default", api: NEVER },
    "spec.ports[].nodePort": { by: "server", folder: "not known", api: "no node listens for it" },
    "spec.publishNotReadyAddresses": none("author", "endpoints that are not ready do not count"),
    "spec.trafficDistribution": none("author", "as the annotation, then the namespace says"),
    "spec.internalTrafficPolicy": {
      by: "server",
      folder: "Cluster, the server's default",
      api: "it is headless or has an external name",
    },
    ...ADDRESSES_GIVEN,
  },
  Endpoints: {
    subsets: none("author", "there are no endpoints"),
    "subsets[].addresses": none("author", "none is ready"),
    "subsets[].notReadyAddresses": none("author", "all are ready"),
    "subsets[].addresses[].ip": part,
    "subsets[].addresses[].nodeName": none("runtime", "the node is not known, so neither is the locality"),
    "subsets[].addresses[].targetRef": none("runtime", "no pod: labels and account are not known"),
    "subsets[].addresses[].targetRef.kind": part,
    "subsets[].addresses[].targetRef.name": part,
    "subsets[].ports": none("author", "no port is served"),
    ...listed("subsets[].ports", PORTS_OF_ENDPOINTS),
  },
  EndpointSlice: {
    metadata: part,
    "metadata.labels": part,
    "metadata.labels.kubernetes.io/service-name": none("runtime", "the slice is of no service"),
    addressType: none("author", "IPv4; an API server demands it"),
    endpoints: none("author", "there are none"),
    "endpoints[].addresses": part,
    "endpoints[].conditions": none("runtime", "the endpoint is ready"),
    "endpoints[].conditions.ready": none("runtime", "the endpoint is ready"),
    "endpoints[].conditions.serving": none("runtime", "as ready says"),
    "endpoints[].conditions.terminating": none("runtime", "the endpoint is not ending"),
    "endpoints[].nodeName": none("runtime", "the node is not known"),
    "endpoints[].zone": none("runtime", "the locality is that of the node"),
    "endpoints[].targetRef": none("runtime", "no pod: labels and account are not known"),
    "endpoints[].targetRef.kind": part,
    "endpoints[].targetRef.name": part,
    ports: none("author", "no port is served"),
    ...listed("ports", PORTS_OF_ENDPOINTS),
  },
  Node: {
    status: { by: "runtime", folder: "no address is known" },
    "status.addresses": { by: "runtime", folder: "no address is known" },
    "status.addresses[].type": part,
    "status.addresses[].address": part,
  },
  ServiceImport: {
    spec: part,
    "spec.type": none("author", "ClusterSetIP"),
    "spec.ips": { by: "runtime", folder: "the import has no address yet" },
  },
  ServiceExport: {},
  Namespace: {},
  ServiceAccount: {},
  Secret: {
    type: { by: "server", folder: "Opaque, the server's default", api: NEVER },
    data: none("author", "there is none"),
    stringData: { by: "author", folder: "there is none", api: "always absent: the server turns it into data" },
    sops: none("author", "the data is not encrypted"),
  },
  ConfigMap: { data: none("author", "there is none"), binaryData: none("author", "there is none") },
  Ingress: {
    spec: part,
    "spec.ingressClassName": {
      by: "server",
      folder: "as the annotation says, then the class that is marked as the default, as a server chooses",
      api: "as the annotation says; no class was the default when the object was made",
    },
    "spec.defaultBackend": none("author", "there is none"),
    ...under("spec.defaultBackend", INGRESS_BACKEND),
    "spec.rules": none("author", "there are none"),
    "spec.rules[].host": none("author", "all hosts"),
    "spec.rules[].http": none("author", "all paths, to the default backend"),
    "spec.rules[].http.paths": none("author", "there are none"),
    "spec.rules[].http.paths[].path": none("author", "all paths"),
    "spec.rules[].http.paths[].pathType": none("author", "ImplementationSpecific; an API server demands it"),
    "spec.rules[].http.paths[].backend": part,
    ...under("spec.rules[].http.paths[].backend", INGRESS_BACKEND),
    "spec.tls": none("author", "there is none"),
    "spec.tls[].hosts": none("author", "all hosts of the rules"),
    "spec.tls[].secretName": none("author", "no certificate"),
    ...ADDRESSES_GIVEN,
  },
  IngressClass: { spec: part, "spec.controller": none("author", "the class is nobody's") },
  Pod: {
    ...ownerRows(),
    ...POD_META,
    "metadata.generateName": none("author", "its name is its own"),
    "metadata.deletionTimestamp": none("server", "it is not being deleted"),
    ...POD_SPEC,
    "spec.nodeName": {
      by: "runtime",
      folder: "it is a manifest, and stands for a pod that will run",
      api: "it waits for a node",
    },
    "spec.hostname": none("author", "its name"),
    "spec.subdomain": none("author", "it has no name of its own in DNS"),
    status: {
      by: "runtime",
      folder: "it is a manifest, and stands for a pod that will run",
      api: "it does not run yet",
    },
    "status.phase": { by: "runtime", folder: "as status", api: "it does not run yet" },
    "status.podIP": { by: "runtime", folder: "no address is known" },
    "status.podIPs": { by: "runtime", folder: "as podIP says" },
    "status.podIPs[].ip": part,
    "status.conditions": { by: "runtime", folder: "as status", api: "it is not ready" },
    "status.conditions[].type": part,
    "status.conditions[].status": part,
  },
  Deployment: COUNTED,
  StatefulSet: COUNTED,
  ReplicaSet: COUNTED,
  DaemonSet: UNCOUNTED,
  Job: UNCOUNTED,
  CronJob: {
    spec: part,
    "spec.jobTemplate": part,
    "spec.jobTemplate.spec": part,
    ...workload("spec.jobTemplate.spec.template"),
  },
};
