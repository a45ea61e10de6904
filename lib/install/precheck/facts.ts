/**
 * The facts about a cluster that decide whether the mesh can be installed or upgraded, as the API answers.
 *
 * @module
 */
import * as z from "zod";

/** Metadata of any object. */
const META = z.looseObject({
  name: z.string(),
  namespace: z.string().default(""),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
});

const REQUIREMENT = z.object({
  key: z.string(),
  operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]),
  values: z.array(z.string()).default([]),
});

const SELECTOR = z.object({
  matchLabels: z.record(z.string(), z.string()).default({}),
  matchExpressions: z.array(REQUIREMENT).default([]),
});

/** A webhook configuration for changes of objects. */
export const MUTATING_WEBHOOKS = z.looseObject({
  metadata: META,
  webhooks: z.array(z.looseObject({
    name: z.string(),
    clientConfig: z.looseObject({
      url: z.string().default(""),
      service: z.looseObject({ namespace: z.string(), name: z.string(), path: z.string().default("") }).optional(),
    }),
    namespaceSelector: SELECTOR.default({ matchLabels: {}, matchExpressions: [] }),
    objectSelector: SELECTOR.default({ matchLabels: {}, matchExpressions: [] }),
    matchConditions: z.array(z.looseObject({ name: z.string() })).default([]),
    rules: z.array(z.looseObject({
      operations: z.array(z.string()).default([]),
      resources: z.array(z.string()).default([]),
    })).default([]),
  })).default([]),
});

/** A schema in a definition. The fields of an object are its properties. */
const FIELDS = z.looseObject({
  properties: z.record(z.string(), z.looseObject({})).default({}),
  "x-kubernetes-preserve-unknown-fields": z.boolean().default(false),
});

/** A definition of a kind. */
export const DEFINED_KIND = z.looseObject({
  metadata: META,
  spec: z.looseObject({
    versions: z.array(z.looseObject({
      name: z.string(),
      served: z.boolean(),
      schema: z.looseObject({
        openAPIV3Schema: z.looseObject({
          properties: z.looseObject({ spec: FIELDS.optional() }).optional(),
        }).optional(),
      }).optional(),
    })),
  }),
});

/** A namespace. */
export const NAMESPACE_OBJECT = z.looseObject({ metadata: META });

/** A node. */
export const NODE_OBJECT = z.looseObject({
  metadata: META,
  status: z.looseObject({
    nodeInfo: z.looseObject({
      operatingSystem: z.string().default(""),
      architecture: z.string().default(""),
      kernelVersion: z.string().default(""),
      containerRuntimeVersion: z.string().default(""),
    }),
  }),
});

const PORT_OR_NAME = z.union([z.number(), z.string()]);

/** A Service: the fields that are judged, since a cluster may have thousands. */
export const SERVICE_OBJECT = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.object({
    type: z.string().default("ClusterIP"),
    selector: z.record(z.string(), z.string()).default({}),
    ports: z.array(z.object({
      name: z.string().default(""),
      port: z.number(),
      protocol: z.string().default("TCP"),
      appProtocol: z.string().optional(),
      targetPort: PORT_OR_NAME.optional(),
    })).default([]),
  }),
});

const CONTAINERS = z.array(z.object({
  name: z.string(),
  restartPolicy: z.string().default(""),
  ports: z.array(z.object({
    name: z.string().default(""),
    containerPort: z.number(),
    protocol: z.string().default("TCP"),
  })).default([]),
})).default([]);

/** Annotations about a mesh. Others, such as a copy of the applied object, may be large. */
const MESH_ANNOTATIONS = z.record(z.string(), z.string()).default({}).transform((all) =>
  Object.fromEntries(Object.entries(all).filter(([key]) => /\.(?:mesh|istio)\.io\//.test(key)))
);

/** A pod: the fields that are judged. */
export const POD_OBJECT = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    annotations: MESH_ANNOTATIONS,
    ownerReferences: z.array(z.object({
      ...{ apiVersion: z.string(), kind: z.string(), name: z.string() },
      controller: z.boolean().default(false),
    })).default([]),
  }),
  spec: z.object({ hostNetwork: z.boolean().default(false), containers: CONTAINERS, initContainers: CONTAINERS }),
  status: z.object({ phase: z.string().default("") }).default({ phase: "" }),
});

/** The version of the API. */
export const API_VERSION_ANSWER = z.looseObject({ major: z.string(), minor: z.string(), gitVersion: z.string() });

/** Whether the user may do something. */
export interface ReviewedRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty: everywhere. */
  readonly namespace: string;
  readonly allowed: boolean;
}

/** A kind that the new version reads. */
export interface ReadKind {
  /** Names of definitions, each of which is enough: `virtualservices.networking.istio.io`. */
  readonly definitions: readonly string[];
  /** Versions that are read, the newest first. */
  readonly versions: readonly string[];
  /** Fields of the spec. */
  readonly fields: readonly string[];
}

/** A running proxy. */
export interface RunningProxy {
  readonly name: string;
  /** Empty: not reported. */
  readonly version: string;
}

/** Everything that is judged. Absent parts are not judged. */
export interface ClusterFacts {
  readonly version: z.output<typeof API_VERSION_ANSWER>;
  readonly rights: readonly ReviewedRight[];
  readonly definitions: readonly z.output<typeof DEFINED_KIND>[];
  readonly webhooks: readonly z.output<typeof MUTATING_WEBHOOKS>[];
  /** The webhooks of the installation that is planned. */
  readonly planned: readonly z.output<typeof MUTATING_WEBHOOKS>[];
  readonly namespaces: readonly z.output<typeof NAMESPACE_OBJECT>[];
  readonly kinds: readonly ReadKind[];
  /** Absent: this user may not list Services of all namespaces. */
  readonly services?: readonly z.output<typeof SERVICE_OBJECT>[];
  /** Absent: this user may not list pods of all namespaces. */
  readonly pods?: readonly z.output<typeof POD_OBJECT>[];
  readonly nodes?: readonly z.output<typeof NODE_OBJECT>[];
  readonly proxies?: readonly RunningProxy[];
  /** Version of this program. */
  readonly ownVersion: string;
}
