/**
 * The fields of a pod that injection reads. Other fields stay unchanged.
 *
 * Fields: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import { sizeProblems } from "./pod_size.ts";
import { withoutNullFields } from "../kernel/json/absent.ts";

const text = z.string({ error: "a text" });
const number = z.int({ error: "a whole number" });
const truth = z.boolean({ error: "true or false" });
const texts = z.record(z.string(), text, { error: "an object of texts" });
const portName = z.union([number, text], { error: "a port's number or name" });

const object = <T extends z.ZodRawShape>(shape: T) => z.looseObject(shape, { error: "an object" });
const list = <T extends z.ZodType>(item: T) => z.array(item, { error: "a list" });

const ownerReference = object({ apiVersion: text, kind: text, name: text, controller: truth.optional() });

const httpGet = object({
  path: text.optional(),
  port: portName,
  host: text.optional(),
  scheme: text.optional(),
});

const handler = object({
  httpGet: httpGet.optional(),
  tcpSocket: object({ port: portName, host: text.optional() }).optional(),
  grpc: object({ port: number, service: text.nullish() }).optional(),
  exec: object({}).optional(),
});

const probe = handler.extend({ timeoutSeconds: number.optional() });

const securityContext = object({ runAsUser: number.optional(), runAsGroup: number.optional() });

const container = object({
  name: text,
  image: text.optional(),
  command: list(text).optional(),
  args: list(text).optional(),
  ports: list(object({ containerPort: number, name: text.optional(), protocol: text.optional() })).optional(),
  env: list(object({ name: text, value: text.optional() })).optional(),
  volumeMounts: list(object({ name: text, mountPath: text })).optional(),
  resources: object({
    limits: z.record(z.string(), z.union([text, z.number()])).optional(),
    requests: z.record(z.string(), z.union([text, z.number()])).optional(),
  }).optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  startupProbe: probe.optional(),
  lifecycle: object({ postStart: handler.optional(), preStop: handler.optional() }).optional(),
  securityContext: securityContext.optional(),
  restartPolicy: text.optional(),
});

/** A container in pods and templates. */
export const podContainer = container;

const podSchema = object({
  metadata: object({
    name: text.optional(),
    generateName: text.optional(),
    namespace: text.optional(),
    labels: texts.optional(),
    annotations: texts.optional(),
    ownerReferences: list(ownerReference).optional(),
  }),
  spec: object({
    containers: list(container),
    initContainers: list(container).optional(),
    volumes: list(object({ name: text })).optional(),
    hostNetwork: truth.optional(),
    serviceAccountName: text.optional(),
    imagePullSecrets: list(object({ name: text.optional() })).optional(),
    securityContext: securityContext.optional(),
  }),
});

export type InjectedPod = z.infer<typeof podSchema>;

/** A container of a pod. */
export type PodContainer = InjectedPod["spec"]["containers"][number];

/** A probe of a container. */
export type PodProbe = NonNullable<PodContainer["readinessProbe"]>;

/** The handler of a probe or a hook. */
export type PodHandler = z.infer<typeof handler>;

/** Reads a pod. Problems of its form are all reported at once, one per line. */
export function readPod(tree: unknown): { readonly pod: InjectedPod } | { readonly problems: readonly string[] } {
  const tooMuch = sizeProblems(tree);
  if (tooMuch.length > 0) return { problems: tooMuch };
  const read = podSchema.safeParse(withoutNullFields(tree), { reportInput: true });
  if (!read.success) return { problems: issueLines(read.error.issues, "the pod") };
  return { pod: read.data };
}

/** The first existing value of the keys. */
export function firstOf(
  values: Readonly<Record<string, string>> | undefined,
  keys: readonly string[],
): string | undefined {
  const key = keys.find((name) => values !== undefined && Object.hasOwn(values, name));
  return key === undefined ? undefined : values?.[key];
}
