/**
 * The built-in templates `kube-gateway` and `waypoint`: account, Deployment and Service of a managed Gateway.
 *
 * @module
 */
import type { JsonTree } from "../../injection/merge.ts";
import type { Texts } from "../../injection/spelling.ts";
import { gatewayPart } from "../../injection/steps/gateway_pod.ts";
import type { SidecarInput } from "../../injection/sidecar/input.ts";
import { isTunnelClass } from "../attach/classes.ts";
import type { DeployedNames } from "./names.ts";
import type { GatewayServicePort } from "./service_ports.ts";
import { DEPLOYED_KINDS, type DeployedObject, type DeployedRole } from "./types.ts";

/** Names of the templates. A user's template of the name replaces the built-in template. */
export const TEMPLATES: Readonly<Record<DeployedRole, string>> = {
  gateway: "kube-gateway",
  waypoint: "waypoint",
  "east-west": "waypoint",
};

/** The inputs of templates. */
export interface TemplateInput {
  readonly gateway: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly role: DeployedRole;
  readonly names: DeployedNames;
  /** Labels and annotations of all objects. */
  readonly labels: Texts;
  readonly annotations: Texts;
  /** Labels and annotations of the pods. */
  readonly podLabels: Texts;
  readonly podAnnotations: Texts;
  /** Labels by which Service and Deployment find the pods. */
  readonly selector: Texts;
  readonly ports: readonly GatewayServicePort[];
  readonly serviceType: string;
  /** The requested address; empty: none. */
  readonly address: string;
  readonly pod: SidecarInput;
}

/** The owner of all objects: the API removes them with the Gateway. */
export function ownerOfObjects({ gateway: { name, uid } }: Pick<TemplateInput, "gateway">): JsonTree {
  return { apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", name, uid };
}

/** The first minor version of the API in which an account with an owner is not removed too early. */
const OWNED_ACCOUNTS_SINCE = 28;

/** Seconds in which a proxy that ends tunnels drains them at its end. */
const TUNNEL_GRACE = 30;

/** Connections stay near their clients where the Service of a waypoint has near endpoints. */
const NEAR = { "networking.mesh.io/traffic-distribution": "PreferClose" };

/** The objects of the built-in template. */
export function builtInObjects(input: TemplateInput): readonly DeployedObject[] {
  const { role, names, selector, ports, serviceType, address, pod: { settings: { apiMinor } } } = input;
  const ownerReferences = [ownerOfObjects(input)];
  const metadata = (name: string): DeployedObject["metadata"] => ({
    ...{ name, namespace: input.gateway.namespace, annotations: input.annotations, labels: input.labels },
  });
  const isOwned = apiMinor === undefined || apiMinor >= OWNED_ACCOUNTS_SINCE;
  return [
    {
      ...DEPLOYED_KINDS.serviceAccount,
      metadata: { ...metadata(names.account), ...(isOwned && { ownerReferences }) },
    },
    {
      ...DEPLOYED_KINDS.deployment,
      metadata: { ...metadata(names.deployment), ownerReferences },
      spec: { selector: { matchLabels: selector }, template: podTemplate(input) },
    },
    {
      ...DEPLOYED_KINDS.service,
      metadata: {
        ...metadata(names.deployment),
        ...(role === "waypoint" && { annotations: { ...NEAR, ...input.annotations } }),
        ownerReferences,
      },
      spec: {
        ...{ ipFamilyPolicy: "PreferDualStack", ports, selector, type: serviceType },
        ...(address !== "" && { loadBalancerIP: address }),
      },
    },
  ];
}

/** Ports that the proxy's pod names beside the proxy's own port. */
const PORTS = [
  { containerPort: 15020, name: "metrics", protocol: "TCP" },
  { containerPort: 15021, name: "status-port", protocol: "TCP" },
] as const;

function podTemplate({ role, names, podLabels, podAnnotations, pod }: TemplateInput): JsonTree {
  const { containers, volumes, imagePullSecrets, rest } = gatewayPart(pod);
  return {
    metadata: { labels: podLabels, annotations: podAnnotations },
    spec: {
      serviceAccountName: names.account,
      ...(isTunnelClass(role) && { terminationGracePeriodSeconds: TUNNEL_GRACE }),
      securityContext: securityOf(pod, rest),
      containers: containers.map((one) => ({ ...one, ports: [...PORTS, ...one.ports ?? []] })),
      volumes,
      ...(imagePullSecrets.length > 0 && { imagePullSecrets }),
    },
  };
}

/**
 * Pods are admitted to namespaces with PodSecurity `restricted`. Some constraints of OpenShift refuse every pod with a
 * seccomp profile.
 */
function securityOf({ settings: { values: { gateways }, platform } }: SidecarInput, rest: JsonTree): unknown {
  if (gateways.securityContext !== undefined) return gateways.securityContext;
  const profile = gateways["seccompProfile"] ?? (platform === "openshift" ? undefined : { type: "RuntimeDefault" });
  return { ...rest["securityContext"] as JsonTree, ...(profile !== undefined && { seccompProfile: profile }) };
}
