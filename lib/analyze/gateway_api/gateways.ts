/**
 * Gateways and ListenerSets: classes, addresses, parameters, and listeners.
 *
 * @module
 */
import { GATEWAY_API_KINDS, type GatewayApiKind, isExperimentalKind } from "../../config/spelling/kind_names.ts";
import { classOf } from "../../gateway_api/attach/classes.ts";
import { expectedProtocol } from "../../gateway_api/attach/protocols.ts";
import type { ClassRole, GatewayView, ListenerView } from "../../gateway_api/attach/types.ts";
import {
  EAST_WEST_CLASS,
  EAST_WEST_CONTROLLER,
  WAYPOINT_CLASS,
  WAYPOINT_CONTROLLER,
} from "../../gateway_api/built_in_classes.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { severityOfAbsence } from "../reader/absence.ts";
import type { AnalysisReader } from "../reader/reader.ts";

export const API_GATEWAYS: Analyzer<"ApiGateway"> = {
  kind: "ApiGateway",
  reports: ["unserved-gateway", "listener-without-place", "listener-not-as-written"],
  analyze: (gateway, read, report) => {
    const { gatewayApi } = read;
    if (gatewayApi === undefined) return;
    const found = gatewayApi.gateway(gateway.key);
    if (found !== undefined) {
      lookAtGateway(found.view, report);
      for (const listener of found.view.listeners) {
        if (listener.owner.key === gateway.key) lookAtListener(listener, found.view.role, read, report);
      }
      return;
    }
    const { gatewayClassName } = gateway.spec;
    if (classOf(gateway, gatewayApi, gatewayApi.options) !== undefined) return;
    const written = read.object("GatewayClass", "", gatewayClassName);
    const switchedOff = OF_AMBIENT.find(({ classes, controller }) =>
      written === undefined ? classes.includes(gatewayClassName) : written.spec.controllerName === controller
    );
    if (switchedOff !== undefined) {
      return report("warning", "unserved-gateway", {
        field: "spec.gatewayClassName",
        value: gatewayClassName,
        expected: `another class, or ${switchedOff.setting}: the class is for ${switchedOff.purpose}`,
        effect: "Nothing deploys or serves the Gateway.",
      });
    }
    // A class of another controller is served elsewhere.
    if (written !== undefined) return;
    const known = Object.keys(gatewayApi.options.builtInClasses).sort().join(", ");
    report("info", "unserved-gateway", {
      field: "spec.gatewayClassName",
      value: gatewayClassName,
      expected: `a class that exists (this mesh has ${known})`,
      effect: "Unless another implementation has the class, nothing serves the Gateway.",
    });
  },
};

/** Classes of this mesh that a setting switches on, each with its names in the spelling of either project. */
const OF_AMBIENT = [
  {
    classes: [WAYPOINT_CLASS, "istio-waypoint"],
    controller: WAYPOINT_CONTROLLER,
    setting: "PILOT_ENABLE_AMBIENT_WAYPOINTS=true",
    purpose: "waypoints",
  },
  {
    classes: [EAST_WEST_CLASS, "istio-east-west"],
    controller: EAST_WEST_CONTROLLER,
    setting: "AMBIENT_ENABLE_MULTI_NETWORK=true with PILOT_ENABLE_AMBIENT=true",
    purpose: "gateways between networks",
  },
];

/** The analyzer of listeners of ListenerSets. */
export const SET_LISTENERS: Analyzer<"ListenerSet"> = {
  kind: "ListenerSet",
  reports: ["listener-without-place", "listener-not-as-written"],
  analyze: ({ key }, read, report) => {
    const view = read.gatewayApi?.gateway(key)?.view;
    if (view === undefined) return;
    for (const listener of view.sets.find(({ set }) => set.key === key)?.listeners ?? []) {
      lookAtListener(listener, view.role, read, report);
    }
  },
};

function lookAtGateway(
  { gateway: { meta, spec }, addressing, accepted, resolvedRefs }: GatewayView,
  report: ReportMistake,
): void {
  if (accepted.status !== "True" && accepted.reason === "InvalidParameters") {
    report("error", "unserved-gateway", {
      field: "spec.infrastructure.parametersRef",
      value: spec.infrastructure?.parametersRef?.name,
      expected: `a ConfigMap that exists in namespace ${meta.namespace}`,
      effect: "The server deploys no proxies for the Gateway. Proxies that exist serve the Gateway.",
    });
  }
  if (accepted.status !== "True" && accepted.reason === "UnsupportedAddress") {
    report("error", "unserved-gateway", {
      field: "spec.addresses",
      value: spec.addresses,
      expected: `only addresses of type ${addressing.by === "manual" ? "Hostname" : "IPAddress"}`,
      effect: "The named addresses have no effect.",
    });
  }
  const certificate = spec.tls?.backend?.clientCertificateRef;
  if (certificate === undefined || resolvedRefs.status === "True" || resolvedRefs.reason === "ListenersNotResolved") {
    return;
  }
  report("error", "unserved-gateway", {
    field: "spec.tls.backend.clientCertificateRef",
    value: certificate.name,
    expected: `a Secret with a certificate (${resolvedRefs.message})`,
    effect: "The Gateway shows no certificate to backends.",
  });
}

function lookAtListener(
  listener: ListenerView,
  role: ClassRole,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { index, spec, conflicted, accepted, resolvedRefs, serves } = listener;
  const field = `spec.listeners[${index}]`;
  if (conflicted.status === "True") {
    const isPort = conflicted.reason === "ProtocolConflict" || !spec.hostname;
    return report("error", "listener-without-place", {
      field: `${field}.${isPort ? "port" : "hostname"}`,
      value: isPort ? spec.port : spec.hostname,
      expected: `a place that no other listener has (${conflicted.message})`,
    });
  }
  const effect = serves ? "The field has no effect. The listener serves without it." : "The listener is not served.";
  const say = (part: string, value: unknown, message: string, isAbsence: boolean) =>
    report(isAbsence ? severityOfAbsence(read) : "error", "listener-not-as-written", {
      ...{ field: part, value, expected: message, effect },
    });
  if (accepted.status !== "True" && accepted.reason === "UnsupportedProtocol") {
    const expected = expectedProtocol(spec, role) ?? "a supported protocol";
    return say(`${field}.protocol`, spec.protocol, expected, false);
  }
  if (resolvedRefs.status === "True") return;
  const { reason, message } = resolvedRefs;
  if (reason === "InvalidRouteKinds") {
    const expected = `kinds of routes that protocol ${spec.protocol} carries`;
    return say(`${field}.allowedRoutes.kinds`, spec.allowedRoutes?.kinds, expected, false);
  }
  const names = spec.tls?.certificateRefs?.map(({ name }) => name);
  // A folder seldom has the Secrets of its Gateways.
  const isAbsence = message.includes("does not exist") || reason === "RefNotPermitted";
  if (reason.includes("CACertificate") || accepted.reason === "NoValidCACertificate") {
    const field = listener.owner.kind === "ApiGateway" ? "spec.tls.frontend" : "spec.parentRef";
    return say(field, undefined, `authorities of clients (${message})`, isAbsence);
  }
  say(`${field}.tls.certificateRefs`, names, `Secrets with a certificate (${message})`, isAbsence);
}

/** Objects of kinds that the mesh does not read: an analyzer for each kind. */
export const SWITCHED_OFF: readonly Analyzer<GatewayApiKind>[] = GATEWAY_API_KINDS.map((kind) => ({
  kind,
  reports: ["gateway-api-off"],
  analyze: (_, read, report) => {
    const off = switchedOff(kind, read.gatewayApi?.options);
    if (off !== undefined) report("warning", "gateway-api-off", { field: "", expected: `${off}=true` });
  },
}));

/** The setting without which a kind has no effect; undefined: the kind has effect. */
function switchedOff(
  kind: GatewayApiKind,
  served: { readonly experimental: boolean; readonly inferencePools: boolean } | undefined,
): string | undefined {
  if (served === undefined) return "PILOT_ENABLE_GATEWAY_API";
  if (kind === "InferencePool" && !served.inferencePools) return "ENABLE_GATEWAY_API_INFERENCE_EXTENSION";
  return isExperimentalKind(kind) && !served.experimental ? "PILOT_ENABLE_ALPHA_GATEWAY_API" : undefined;
}
