/**
 * The values of the injector's configuration, with the names and the nesting of Istio's charts. Unknown values are
 * ignored: the same file of values serves other programs too.
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import { withoutNullFields } from "../kernel/json/absent.ts";

const text = z.string({ error: "a text" });
const truth = z.boolean({ error: "true or false" });
/** Charts write numbers either as numbers or as texts. */
const count = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)], { error: "a whole number" });
const portList = z.union([text, z.int().transform(String)], { error: "a list of ports as a text" });
const quantities = z.record(z.string(), z.union([text, z.number()]), { error: "quantities by resource" });
const resources = z.looseObject({ limits: quantities.optional(), requests: quantities.optional() }, {
  error: "limits and requests",
});

const object = <T extends z.ZodRawShape>(shape: T) => z.looseObject(shape, { error: "an object" });

const proxy = object({
  image: text.default("proxy"),
  clusterDomain: text.default("cluster.local"),
  logLevel: text.default("warning"),
  componentLogLevel: text.default(""),
  outlierLogPath: text.default(""),
  includeIPRanges: text.default("*"),
  excludeIPRanges: text.default(""),
  includeInboundPorts: portList.default("*"),
  excludeInboundPorts: portList.default(""),
  includeOutboundPorts: portList.default(""),
  excludeOutboundPorts: portList.default(""),
  excludeInterfaces: text.default(""),
  holdApplicationUntilProxyStarts: truth.default(false),
  privileged: truth.default(false),
  enableCoreDump: truth.default(false),
  /** Of all injected containers. Empty: as the containers of the application have profiles. */
  seccompProfile: z.looseObject({}, { error: "an object" }).optional(),
  statusPort: count.default(15020),
  readinessInitialDelaySeconds: count.default(0),
  readinessPeriodSeconds: count.default(15),
  readinessFailureThreshold: count.default(4),
  startupProbe: object({ enabled: truth.default(true), failureThreshold: count.default(600) }).prefault({}),
  resources: resources.default({
    requests: { cpu: "100m", memory: "128Mi" },
    limits: { cpu: "2000m", memory: "1024Mi" },
  }),
  lifecycle: z.looseObject({}).optional(),
});

const valuesSchema = object({
  global: object({
    hub: text.default("docker.io/mesh"),
    /** Empty: the version of this program. */
    tag: z.union([text, z.number().transform(String)]).default(""),
    variant: text.default(""),
    imagePullPolicy: text.default(""),
    imagePullSecrets: z.array(text, { error: "a list of texts" }).default([]),
    caAddress: text.default(""),
    meshID: text.default(""),
    network: text.default(""),
    logAsJson: truth.default(false),
    mountMtlsCerts: truth.default(false),
    logging: object({ level: text.default("default:info") }).prefault({}),
    multiCluster: object({ clusterName: text.default("") }).prefault({}),
    sds: object({ token: object({ aud: text.default("mesh-ca") }).prefault({}) }).prefault({}),
    sts: object({ servicePort: count.default(0) }).prefault({}),
    proxy: proxy.prefault({}),
    proxy_init: object({ image: text.default("proxy"), resources: resources.optional() }).prefault({}),
  }).prefault({}),
  pilot: object({
    cni: object({ enabled: truth.default(false), provider: text.default("default") }).prefault({}),
  }).prefault({}),
  /** `securityContext` of gateway pods. */
  gateways: object({ securityContext: z.looseObject({}).optional() }).prefault({}),
  sidecarInjectorWebhook: object({
    rewriteAppHTTPProbe: truth.default(true),
    enableNamespacesByDefault: truth.default(false),
  }).prefault({}),
});

/** Values, all filled in. */
export type InjectionValues = z.infer<typeof valuesSchema>;

/** Values, or the problems of the values, one per line. */
export type ReadInjectionValues = { readonly values: InjectionValues } | { readonly problems: readonly string[] };

/** Reads values from parsed JSON or YAML. `undefined` and null stand for the defaults, in each field too. */
export function readValues(tree: unknown): ReadInjectionValues {
  const read = valuesSchema.safeParse(withoutNullFields(tree ?? {}), { reportInput: true });
  if (!read.success) return { problems: issueLines(read.error.issues, "the values") };
  return { values: read.data };
}
