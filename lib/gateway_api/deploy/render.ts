/**
 * The objects of a managed Gateway: the template, then the overlays of the class, then the overlays of the Gateway.
 *
 * @module
 */
import { GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import type { JsonTree } from "../../injection/merge.ts";
import type { Texts } from "../../injection/spelling.ts";
import { gatewayInput } from "../../injection/steps/gateway_pod.ts";
import { isTunnelClass } from "../attach/classes.ts";
import { builtInObjects, ownerOfObjects, type TemplateInput, TEMPLATES } from "./built_in_template.ts";
import {
  copiedAnnotations,
  copiedLabels,
  type DeployedNames,
  deployedNames,
  fixedLabels,
  nameProblems,
} from "./names.ts";
import { type Overlays, parametersProblem, readOverlays, withOverlay } from "./overlays.ts";
import { servicePorts } from "./service_ports.ts";
import { userTemplateObjects } from "./user_template.ts";
import { DEPLOYED_KINDS, type DeployedObject, type DeploySource, type OverlayKey, type Rendering } from "./types.ts";

/** Annotation of a Gateway with the type of its Service. */
const SERVICE_TYPE = "networking.mesh.io/service-type";
const SERVICE_TYPES: readonly string[] = ["ClusterIP", "NodePort", "LoadBalancer"];

const KEYS = Object.keys(DEPLOYED_KINDS) as readonly OverlayKey[];

/** Types of the deployed proxies. */
const PROXY_ROLES = { gateway: "router", waypoint: "waypoint", "east-west": "waypoint" } as const;

/** Annotations with which scrapers find the metrics of the pods. */
const SCRAPED = {
  ...{ "prometheus.io/path": "/stats/prometheus", "prometheus.io/port": "15020", "prometheus.io/scrape": "true" },
};

/** Renders the objects of a Gateway. Never throws for a mistake of a user. */
export function renderGateway(source: DeploySource): Rendering {
  const { gateway, role, classDefaults, parameters, settings } = source;
  const invalid = parametersProblem(gateway, parameters);
  if (invalid !== undefined) return { invalidParameters: invalid };
  const overlays: Overlays[] = [];
  for (const map of [classDefaults, parameters]) {
    if (map === undefined) continue;
    const read = readOverlays(map);
    if ("problem" in read) return { problems: [read.problem] };
    overlays.push(read.overlays);
  }
  const names = deployedNames(gateway, role);
  const input = templateInput(source, names);
  const problems = [...nameProblems(gateway, names), ...typeProblems(input), ...input.pod.reader.problems];
  if (problems.length > 0) return { problems };
  const { templates } = settings.config;
  const text = Object.hasOwn(templates, TEMPLATES[role]) ? templates[TEMPLATES[role]] : undefined;
  const made = text === undefined ? { objects: builtInObjects(input) } : userTemplateObjects(text, source, input);
  if ("problems" in made) return made;
  const objects = [...made.objects, ...optionalObjects(input, made.objects, overlays)];
  return { objects: objects.map((object) => withOverlays(withFixedLabels(object, source), overlays)) };
}

function withOverlays(object: DeployedObject, overlays: readonly Overlays[]): DeployedObject {
  const key = KEYS.find((one) => DEPLOYED_KINDS[one].kind === object.kind)!;
  return overlays.reduce((merged, one) => withOverlay(merged, one[key]), object);
}

/** Without these labels, the server would not find its own objects again. */
function withFixedLabels(object: DeployedObject, source: DeploySource): DeployedObject {
  const labels = { ...object.metadata["labels"] as Texts | undefined, ...fixedLabels(source.gateway, source) };
  return { ...object, metadata: { ...object.metadata, labels } };
}

function templateInput(source: DeploySource, names: DeployedNames): TemplateInput {
  const { gateway, uid, role, listeners, settings, namespaceAnnotations, selectorLabel } = source;
  const { meta: { namespace, name, annotations: own }, spec } = gateway;
  const fixed = fixedLabels(gateway, source);
  const [copied, annotations] = [copiedLabels(gateway), copiedAnnotations(gateway)];
  const selector = { [selectorLabel]: name };
  const podLabels = {
    "sidecar.mesh.io/inject": "false",
    "service.mesh.io/canonical-name": names.deployment,
    "service.mesh.io/canonical-revision": "latest",
    ...copied,
    // The tunnel of the node must not take the connections of a proxy that ends tunnels itself.
    ...(isTunnelClass(role) && { "mesh.io/dataplane-mode": "none" }),
    ...{ ...fixed, ...selector },
  };
  const podAnnotations = { ...annotations, "mesh.io/rev": settings.revision || "default", ...SCRAPED };
  const request = { namespace, deployment: names.deployment, account: names.account, namespaceAnnotations };
  return {
    gateway: { namespace, name, uid },
    role,
    ...{ names, annotations, labels: { ...copied, ...fixed }, podLabels, podAnnotations, selector },
    ports: servicePorts(listeners),
    serviceType: own[SERVICE_TYPE] || (role === "waypoint" ? "ClusterIP" : "LoadBalancer"),
    address: addressOf(spec),
    pod: gatewayInput(
      { ...request, role: PROXY_ROLES[role], labels: podLabels, annotations: podAnnotations },
      settings,
    ),
  };
}

/** The first address of the Gateway, for the balancer in front of the Service. */
function addressOf({ addresses }: DeploySource["gateway"]["spec"]): string {
  const first = addresses?.[0];
  return first?.type === "IPAddress" ? first.value ?? "" : "";
}

function typeProblems({ serviceType }: TemplateInput): readonly string[] {
  if (SERVICE_TYPES.includes(serviceType)) return [];
  const got = JSON.stringify(serviceType.slice(0, 80));
  return [`annotation ${SERVICE_TYPE}: got ${got}, expected one of ${SERVICE_TYPES.join(", ")}`];
}

/** The autoscaler and the budget, if an overlay names them and the template has not made them. */
function optionalObjects(
  input: TemplateInput,
  made: readonly DeployedObject[],
  overlays: readonly Overlays[],
): readonly DeployedObject[] {
  const { gateway: { namespace }, names: { deployment: name }, selector } = input;
  const metadata = {
    ...{ name, namespace, annotations: input.annotations, labels: input.labels },
    ownerReferences: [ownerOfObjects(input)],
  };
  const bases = {
    horizontalPodAutoscaler: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      maxReplicas: 1,
    },
    podDisruptionBudget: { selector: { matchLabels: selector } },
  } as const;
  return (["horizontalPodAutoscaler", "podDisruptionBudget"] as const)
    .filter((key) => overlays.some((one) => one[key] !== undefined))
    .filter((key) => !made.some(({ kind }) => kind === DEPLOYED_KINDS[key].kind))
    .map((key) => ({ ...DEPLOYED_KINDS[key], metadata, spec: bases[key] }));
}

/** The selecting label of older versions. The selector of a Deployment cannot be changed. */
const OLD_SELECTOR = "istio.io/gateway-name";

/** The label with the Gateway's name that selects the pods of a Deployment. @param live Undefined: there is none yet */
export function selectorLabelOf(live: JsonTree | undefined): string {
  const spec = live?.["spec"] as { readonly selector?: { readonly matchLabels?: Texts } } | undefined;
  return spec?.selector?.matchLabels?.[OLD_SELECTOR] === undefined ? GATEWAY_NAME_LABEL : OLD_SELECTOR;
}
