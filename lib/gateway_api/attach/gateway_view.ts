/**
 * A Gateway with its ListenerSets: verdicts on the objects and on their listeners.
 *
 * @module
 */
import type { DerivationInput } from "../../config/derive/derivation.ts";
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import type { ConfigObject } from "../../config/types.ts";
import { addressingOf, workloadsOf } from "./addressing.ts";
import { classOf, type ServedClass } from "./classes.ts";
import { ListenerPlaces } from "./conflicts.ts";
import { certificateOf } from "./credentials.ts";
import { ownerText } from "./names.ts";
import { type ListenerContext, listenersOf } from "./listeners.ts";
import { allowsNamespace } from "./namespaces.ts";
import { byPrecedence } from "./precedence.ts";
import type {
  AttachOptions,
  AttachReader,
  ConditionVerdict,
  GatewayAddressing,
  GatewayView,
  ListenerSetView,
  ListenerView,
  NamespacedName,
  ViewReader,
} from "./types.ts";
import { ALL_RESOLVED, fails, holds, joined, REMOTE_PROGRAMMED } from "./verdicts.ts";

type ApiGatewayObject = ConfigObject<"ApiGateway">;
type ListenerSetObject = ConfigObject<"ListenerSet">;

/**
 * A Gateway with everything that configuration decides about it; undefined: another implementation serves the Gateway.
 *
 * @param sets The ListenerSets with this Gateway as parent, in any order.
 */
export function gatewayView(
  gateway: ApiGatewayObject,
  sets: readonly ListenerSetObject[],
  read: AttachReader,
  options: AttachOptions,
): GatewayView | undefined {
  const served = classOf(gateway, read, options);
  if (served === undefined) return undefined;
  const addressing = addressingOf(gateway, served.role, options);
  const context: ListenerContext = { gateway, role: served.role, places: new ListenerPlaces(), read };
  const own = listenersOf(gateway, context);
  const accepted = acceptedVerdict(gateway, own, addressing, read);
  const judgedSets = sets.toSorted(byPrecedence).map((set) => setView(set, accepted, context));
  const attached = judgedSets.filter((set) => set.accepted.status === "True");
  const listeners = [...own, ...attached.flatMap((one) => one.listeners)];
  const programmed = programmedVerdict(served, accepted, addressing, listeners);
  const insecure = insecureVerdict(gateway);
  const { verdict: resolvedRefs, certificate } = clientCertificate(gateway, own, read);
  return {
    ...{ gateway, ...served, addressing, accepted, resolvedRefs },
    ...{ listeners, sets: judgedSets },
    workloads: workloadsOf(gateway, addressing, read, options),
    ...(programmed && { programmed }),
    ...(insecure && { insecureFrontend: insecure }),
    ...(certificate && { clientCertificate: certificate }),
  };
}

/** The group of the ListenerSets with a Gateway as parent. @param gateway Key of the Gateway. */
export function setsGroup(gateway: string): string {
  return `sets/${gateway}`;
}

/**
 * The ListenerSets with a Gateway as parent. A group, not the list of all ListenerSets: a ListenerSet of somebody else
 * must not judge all routes of all Gateways again.
 */
export function setsOf({ key }: ApiGatewayObject, read: ViewReader): readonly ListenerSetObject[] {
  return read.members(setsGroup(key)).filter((one): one is DerivationInput & ListenerSetObject =>
    one.kind === "ListenerSet"
  );
}

/** Key of the Gateway of a ListenerSet; undefined: the parent of the ListenerSet is of another kind. */
export function gatewayKeyOf({ meta, spec: { parentRef } }: ListenerSetObject): string | undefined {
  const { group, kind, namespace = meta.namespace, name } = parentRef;
  const isGateway = group === GATEWAY_API_GROUP && kind === "Gateway";
  return isGateway ? `ApiGateway/${namespace}/${name}` : undefined;
}

/** A ListenerSet at its Gateway. Listeners of a refused set take no places. */
function setView(set: ListenerSetObject, parent: ConditionVerdict, context: ListenerContext): ListenerSetView {
  const refusal = setRefusal(set, parent, context);
  if (refusal !== undefined) return { set, accepted: refusal, programmed: refusal, listeners: [] };
  const listeners = listenersOf(set, context);
  const bad = listeners.filter((one) => !isValid(one));
  const names = bad.map(({ spec }) => spec.name).join(", ");
  if (bad.length === listeners.length) {
    const verdict = fails("ListenersNotValid", `no listener is valid: see the conditions of ${names}`);
    return { set, accepted: verdict, programmed: verdict, listeners };
  }
  const accepted = bad.length === 0
    ? holds("Accepted")
    : holds("ListenersNotValid", `some listeners are not valid: see the conditions of ${names}`);
  return { set, accepted, programmed: holds("Programmed"), listeners };
}

function isValid({ accepted, programmed }: ListenerView): boolean {
  return accepted.status === "True" && programmed.status === "True";
}

function setRefusal(
  { meta }: ListenerSetObject,
  parent: ConditionVerdict,
  { gateway, role, read }: ListenerContext,
): ConditionVerdict | undefined {
  const owner = ownerText(gateway);
  if (role !== "gateway") {
    return fails("NotAllowed", `parentRef: ${owner}, expected a Gateway whose class supports ListenerSets`);
  }
  const rule = gateway.spec.allowedListeners?.namespaces ?? {};
  if (!allowsNamespace(rule, gateway.meta.namespace, meta.namespace, read)) {
    const expected = `a Gateway that allows ListenerSets of namespace ${meta.namespace} (allowedListeners.namespaces)`;
    return fails("NotAllowed", `parentRef: ${owner}, expected ${expected}`);
  }
  if (parent.status === "True" || parent.reason !== "ListenersNotValid") return undefined;
  return fails("ParentNotAccepted", `${owner} is not accepted: ${parent.message}`);
}

function acceptedVerdict(
  { meta, spec }: ApiGatewayObject,
  own: readonly ListenerView[],
  addressing: GatewayAddressing,
  read: AttachReader,
): ConditionVerdict {
  const parameters = spec.infrastructure?.parametersRef;
  if (parameters !== undefined && addressing.by === "managed") {
    const { group, kind, name } = parameters;
    const expected = `a ConfigMap that exists in namespace ${meta.namespace}`;
    const isConfigMap = group === "" && kind === "ConfigMap";
    if (!isConfigMap || read.fact("ConfigMap", meta.namespace, name) === undefined) {
      const message = `infrastructure.parametersRef: ${kind} "${name}", expected ${expected}`;
      return fails("InvalidParameters", message);
    }
  }
  if (addressing.by !== "remote" && addressing.ignored.length > 0) {
    const supported = addressing.by === "manual" ? "Hostname" : "IPAddress";
    return fails("UnsupportedAddress", `addresses: ${addressing.ignored.join(", ")}, expected type ${supported}`);
  }
  const bad = own.filter((one) => one.accepted.status !== "True");
  if (bad.length === 0) return holds("Accepted", "this mesh serves the Gateway");
  const message = `listeners are not valid: see the conditions of ${bad.map(({ spec }) => spec.name).join(", ")}`;
  const isTolerated = bad.every(({ serves }) => serves);
  return bad.length < own.length || isTolerated
    ? holds("ListenersNotValid", message)
    : fails("ListenersNotValid", message);
}

function programmedVerdict(
  { role }: ServedClass,
  accepted: ConditionVerdict,
  addressing: GatewayAddressing,
  listeners: readonly ListenerView[],
): ConditionVerdict | undefined {
  if (role === "remote") return REMOTE_PROGRAMMED;
  if (accepted.status === "True") return listeners.some(({ serves }) => serves) ? undefined : nothingServes(listeners);
  if (accepted.reason === "ListenersNotValid") return fails("Invalid", accepted.message);
  if (accepted.reason === "InvalidParameters") return fails("Invalid", accepted.message);
  const isUsed = addressing.by === "manual" && addressing.hosts.length > 0;
  return isUsed ? undefined : fails("AddressNotUsable", accepted.message);
}

function nothingServes(listeners: readonly ListenerView[]): ConditionVerdict {
  const faults = listeners.map(({ spec, programmed }) => `${spec.name}: ${programmed.message}`);
  return fails(
    "Invalid",
    faults.length > 0 ? `no listener serves: ${joined(faults)}` : "listeners, expected a listener",
  );
}

const INSECURE = "tls.frontend: AllowInsecureFallback lets clients connect without a valid certificate";

/** The verdict on a Gateway whose clients may connect without a verified certificate; undefined: they may not. */
function insecureVerdict({ spec: { tls } }: ApiGatewayObject): ConditionVerdict | undefined {
  const { default: everywhere, perPort = [] } = tls?.frontend ?? {};
  const modes = [everywhere, ...perPort.map((one) => one.tls)].map((one) => one?.validation?.mode);
  if (!modes.includes("AllowInsecureFallback")) return undefined;
  return holds("ConfigurationChanged", INSECURE);
}

/** The certificate that the Gateway shows to backends, and the verdict on all references of the Gateway. */
function clientCertificate(
  gateway: ApiGatewayObject,
  own: readonly ListenerView[],
  read: AttachReader,
): { verdict: ConditionVerdict; certificate?: NamespacedName } {
  const ref = gateway.spec.tls?.backend?.clientCertificateRef;
  const judged = ref && certificateOf(ref, { kind: "Gateway", namespace: gateway.meta.namespace }, read);
  if (judged !== undefined && judged.found === undefined) {
    const reason = judged.because === "permission" ? "RefNotPermitted" : "InvalidClientCertificateRef";
    return { verdict: fails(reason, `tls.backend.clientCertificateRef: ${judged.message}`) };
  }
  const certificate = judged && { certificate: judged.found };
  const unresolved = own.filter(({ resolvedRefs }) => resolvedRefs.status !== "True").map(({ spec }) => spec.name);
  const verdict = unresolved.length === 0
    ? ALL_RESOLVED
    : fails("ListenersNotResolved", `references of listeners cannot be used: see ${unresolved.join(", ")}`);
  return { verdict, ...certificate };
}
