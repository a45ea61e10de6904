/**
 * How workloads are read: the relevant fields of a pod, at any depth of the object.
 *
 * @module
 */
import * as z from "zod";
import { ownKey, ownLabelValue } from "../spelling/spelling.ts";
import { defined, fields, integer, listOf, mapOf, optional, text, textOr } from "./foreign_schema.ts";
import { sharedLabels } from "./shared_labels.ts";
import type { ContainerData, WorkloadData, WorkloadKind } from "./workload_data.ts";

const containerPort = fields({ name: textOr(""), containerPort: integer, protocol: textOr("TCP") }, "a port")
  .transform(({ name, containerPort: port, protocol }) => ({ name, port, protocol }));

const security = optional(fields({ runAsUser: optional(integer) }));

const container = fields({
  name: text,
  image: textOr(""),
  ports: listOf(containerPort, "a list of ports"),
  securityContext: security,
  restartPolicy: optional(text),
}, "a container");

const containers = listOf(container, "a list of containers");

const podSpec = fields({
  serviceAccountName: textOr(""),
  serviceAccount: textOr(""),
  hostNetwork: optional(z.boolean({ error: "true or false" })),
  securityContext: security,
  containers,
  initContainers: containers,
});

const podMeta = optional(fields({ labels: mapOf(text), annotations: mapOf(text) }));

const template = fields({ metadata: podMeta, spec: podSpec }, "a template of pods");

const owner = fields({
  ownerReferences: listOf(
    fields({ kind: textOr(""), name: textOr(""), controller: optional(z.boolean()) }),
    "a list of owners",
  ),
});

function withOwner(metadata: z.output<typeof owner>): Pick<WorkloadData, "owner"> {
  const found = metadata.ownerReferences.find(({ controller }) => controller === true);
  return found === undefined ? {} : { owner: `${found.kind}/${found.name}` };
}

function podsOf(meta: z.output<typeof podMeta>, spec: z.output<typeof podSpec>): WorkloadData {
  const { labels = {}, annotations = {} } = meta ?? {};
  const ownLabels = Object.entries(labels).map(([key, value]) => [ownKey(key), ownLabelValue(ownKey(key), value)]);
  const ownAnnotations = Object.entries(annotations).map(([key, value]) => [ownKey(key), value]);
  return {
    labels: sharedLabels(Object.fromEntries(ownLabels.sort(byKey))),
    annotations: sharedLabels(
      Object.fromEntries(ownAnnotations.filter(([key]) => key!.includes("mesh.io/")).sort(byKey)),
    ),
    serviceAccount: spec.serviceAccountName || spec.serviceAccount || "default",
    hostNetwork: spec.hostNetwork ?? false,
    containers: allContainers(spec),
    ...defined({ runAsUser: spec.securityContext?.runAsUser }),
  };
}

const NO_CONTAINERS: readonly ContainerData[] = Object.freeze([]);

function allContainers(spec: z.output<typeof podSpec>): readonly ContainerData[] {
  if (spec.containers.length + spec.initContainers.length === 0) return NO_CONTAINERS;
  return [...containersOf(spec.containers, false), ...containersOf(spec.initContainers, true)];
}

function byKey([a = ""]: readonly string[], [b = ""]: readonly string[]): number {
  return a < b ? -1 : 1;
}

function containersOf(written: z.output<typeof containers>, init: boolean): ContainerData[] {
  return written.map(({ name, image, ports, securityContext, restartPolicy }) => ({
    name,
    image,
    init,
    ports,
    ...(init && restartPolicy === "Always" ? { sidecar: true } as const : {}),
    ...defined({ runAsUser: securityContext?.runAsUser }),
  }));
}

const condition = fields({ type: textOr(""), status: textOr("") }, "a condition");

const pod = fields({
  metadata: owner.extend({
    labels: mapOf(text),
    annotations: mapOf(text),
    generateName: textOr(""),
    deletionTimestamp: optional(text),
  }),
  spec: podSpec.extend({ nodeName: optional(text), hostname: optional(text), subdomain: optional(text) }),
  status: optional(fields({
    phase: optional(text),
    podIP: textOr(""),
    podIPs: listOf(fields({ ip: text }), "a list of addresses"),
    conditions: listOf(condition, "a list of conditions"),
  })),
}).transform(({ metadata, spec, status }): WorkloadData => {
  const { nodeName, hostname, subdomain } = spec;
  const { podIP = "", podIPs = [], conditions = [], phase } = status ?? {};
  const addresses = podIPs.length > 0 || podIP === "" ? podIPs.map(({ ip }) => ip) : [podIP];
  const ready = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  const running = { ...defined({ nodeName }), ready, deleting: metadata.deletionTimestamp !== undefined };
  return {
    ...podsOf(metadata, spec),
    ...withOwner(metadata),
    ...(addresses.length > 0 ? { addresses } : {}),
    ...defined({ hostname: hostname || undefined, subdomain: subdomain || undefined, phase }),
    ...(metadata.generateName === "" ? {} : { generated: true } as const),
    ...(nodeName === undefined && status === undefined ? {} : { running }),
  };
});

/** A kind that keeps a number of pods running. */
const counted = fields({ metadata: owner, spec: fields({ replicas: optional(integer), template }) })
  .transform(({ metadata, spec: { replicas, template } }): WorkloadData => ({
    ...podsOf(template.metadata, template.spec),
    ...withOwner(metadata),
    replicas: replicas ?? 1,
  }));

/** A kind whose number of pods depends on other objects. */
const uncounted = fields({ metadata: owner, spec: fields({ template }) })
  .transform(({ metadata, spec: { template } }): WorkloadData => ({
    ...podsOf(template.metadata, template.spec),
    ...withOwner(metadata),
  }));

const cronJob = fields({ spec: fields({ jobTemplate: fields({ spec: fields({ template }) }) }) })
  .transform(({ spec: { jobTemplate: { spec: { template } } } }): WorkloadData =>
    podsOf(template.metadata, template.spec)
  );

/** Each kind of workloads. */
export const WORKLOAD_SCHEMAS: Readonly<Record<WorkloadKind, z.ZodType<WorkloadData>>> = {
  Pod: pod,
  Deployment: counted,
  StatefulSet: counted,
  DaemonSet: uncounted,
  ReplicaSet: counted,
  Job: uncounted,
  CronJob: cronJob,
};
