/**
 * Names, labels and annotations of the objects that are deployed for a Gateway.
 *
 * @module
 */
import type { Texts } from "../../injection/spelling.ts";
import { GATEWAY_NAME_LABEL, ownKey } from "../../config/spelling/spelling.ts";
import { withoutEnd } from "../../kernel/text/edges.ts";
import type { ConfigObject } from "../../config/types.ts";
import { isTunnelClass } from "../attach/classes.ts";
import { deployedName, NAME_OVERRIDE, NETWORK_LABEL } from "../attach/names.ts";
import type { DeployedRole } from "./types.ts";

/** Label with the name of the class, on all objects and pods. */
const CLASS_NAME = "gateway.networking.k8s.io/gateway-class-name";
/** Label of objects that the server may change. The value is the controller's name. */
export const MANAGED = "gateway.mesh.io/managed";
/** Annotation of a Gateway with the version of the controller that deploys it. */
export const CONTROLLER_VERSION = "gateway.mesh.io/controller-version";
const ACCOUNT = "gateway.mesh.io/service-account";

/** Longest name of a Service and longest value of a label. */
const MAX_NAME = 63;

/** Names of Services, and of accounts. */
const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;

/** Annotations that the deployed objects do not get. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  ...["kubectl.kubernetes.io/last-applied-configuration", NAME_OVERRIDE, ACCOUNT, CONTROLLER_VERSION],
]);

type DeployedGateway = Pick<ConfigObject<"ApiGateway">, "meta" | "spec">;

/** Names of the deployed objects. */
export interface DeployedNames {
  /** Of the Deployment, the Service, the autoscaler and the budget. */
  readonly deployment: string;
  readonly account: string;
}

/** The names of a managed Gateway. Annotations of the Gateway replace them. A proxy of tunnels has the name of its Gateway. */
export function deployedNames(gateway: DeployedGateway, role: DeployedRole): DeployedNames {
  const { meta: { name, annotations }, spec: { gatewayClassName } } = gateway;
  return {
    deployment: deployedName(gateway, role),
    account: annotations[ACCOUNT] || (isTunnelClass(role) ? name : `${name}-${gatewayClassName}`),
  };
}

/** Whether the author of a Gateway names the account of its proxies. Such an account may exist without the Gateway. */
export function namesAccount({ meta: { annotations } }: DeployedGateway): boolean {
  return (annotations[ACCOUNT] ?? "") !== "";
}

/** Why the names cannot be used, one line for each name. */
export function nameProblems(
  { meta: { name } }: DeployedGateway,
  { deployment, account }: DeployedNames,
): readonly string[] {
  const problems: string[] = [];
  if (name.length > MAX_NAME) {
    problems.push(`metadata.name: got ${name.length} characters, expected at most ${MAX_NAME}, as in a label of pods`);
  }
  if (deployment.length > MAX_NAME || !LABEL.test(deployment)) {
    problems.push(
      `the name of the Service: got ${
        quoted(deployment)
      }, expected a DNS label of at most ${MAX_NAME} characters; set annotation ${NAME_OVERRIDE}`,
    );
  }
  if (account.length > 253 || !SUBDOMAIN.test(account)) {
    problems.push(
      `the name of the ServiceAccount: got ${quoted(account)}, expected a DNS name; set annotation ${ACCOUNT}`,
    );
  }
  return problems;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

/** The value of label {@linkcode MANAGED} for a controller. */
function managedValue(controller: string): string {
  return controller.replaceAll("/", "-");
}

/** Whether labels say that this server, or Istio's, may change the object. */
export function isManagedObject(labels: Texts | undefined): boolean {
  return Object.keys(labels ?? {}).some((key) => ownKey(key) === MANAGED);
}

/** Labels that every deployed object has, whatever a user wrote. The network of a gateway between networks is its own. */
export function fixedLabels(
  { meta: { name, labels }, spec: { gatewayClassName } }: DeployedGateway,
  { controller, role }: { readonly controller: string; readonly role: DeployedRole },
): Texts {
  const network = role === "east-west" ? labels[NETWORK_LABEL] : undefined;
  return {
    ...(network && { [NETWORK_LABEL]: network }),
    [GATEWAY_NAME_LABEL]: name,
    [CLASS_NAME]: withoutEnd(gatewayClassName.slice(0, MAX_NAME), "-."),
    [MANAGED]: managedValue(controller),
  };
}

/** Labels of a user for all objects: `infrastructure.labels`, or else the Gateway's own. */
export function copiedLabels({ meta, spec: { infrastructure } }: DeployedGateway): Texts {
  return infrastructure?.labels === undefined ? meta.labels : withoutReserved(infrastructure.labels);
}

/** Annotations of a user for all objects: `infrastructure.annotations`, or else the Gateway's own. */
export function copiedAnnotations({ meta, spec: { infrastructure } }: DeployedGateway): Texts {
  const found = infrastructure?.annotations === undefined
    ? meta.annotations
    : withoutReserved(infrastructure.annotations);
  return Object.fromEntries(Object.entries(found).filter(([key]) => !NOT_COPIED.has(ownKey(key))));
}

/** Users cannot set keys of the Gateway API's own group. */
function withoutReserved(texts: Texts): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !key.startsWith("gateway.networking.k8s.io/")));
}
