/**
 * The proxy's container.
 *
 * @module
 */
import type { PodContainer, PodProbe } from "../pod.ts";
import { proxyEnv } from "./env.ts";
import { imageOf, proxyResources } from "./image.ts";
import { PROXY, type SidecarInput } from "./input.ts";
import { profileOf, seccompOf } from "./seccomp.ts";
import type { Mount } from "./volumes.ts";

const METRICS_PORT = 15090;
const READINESS_PORT = 15021;
const READINESS = { path: "/healthz/ready", port: READINESS_PORT };
/** Seconds that a probe waits for the agent, the same as in Istio. */
const PROBE_SECONDS = 3;
const PROGRAM = "pilot-agent";

/** The proxy's container with its mounts. */
export function proxyContainer(input: SidecarInput, volumeMounts: Mount[]): PodContainer {
  const { settings: { values }, reader, proxy, native } = input;
  const { global } = values;
  const resources = proxyResources(reader, values);
  const lifecycle = lifecycleOf(input);
  const image = reader.text("sidecar.mesh.io/proxyImage", global.proxy.image);
  const type = reader.annotations["sidecar.mesh.io/proxyImageType"] ?? proxy.image?.imageType;
  return {
    name: PROXY,
    image: imageOf(input.settings, image, type),
    ...(global.imagePullPolicy !== "" && { imagePullPolicy: global.imagePullPolicy }),
    args: proxyArgs(input),
    ports: [{ containerPort: METRICS_PORT, protocol: "TCP", name: "http-envoy-prom" }],
    ...(lifecycle !== undefined && { lifecycle }),
    ...(native && input.role === "sidecar" && { restartPolicy: "Always" }),
    env: proxyEnv(input, resources),
    ...probesOf(input),
    ...(resources !== undefined && { resources }),
    securityContext: securityOf(input),
    volumeMounts,
  };
}

function proxyArgs({ role, settings: { values: { global } }, reader }: SidecarInput): string[] {
  const level = reader.text("sidecar.mesh.io/logLevel", global.proxy.logLevel);
  const components = reader.text("sidecar.mesh.io/componentLogLevel", global.proxy.componentLogLevel);
  const agentLevel = reader.text("sidecar.mesh.io/agentLogLevel", global.logging.level);
  const given = (flag: string, text: string) => text === "" ? [] : [`${flag}=${text}`];
  return [
    ...["proxy", role, "--domain", `$(POD_NAMESPACE).svc.${global.proxy.clusterDomain}`],
    ...given("--proxyLogLevel", level),
    ...given("--proxyComponentLogLevel", components),
    ...given("--log_output_level", agentLevel),
    ...given("--outlierLogPath", global.proxy.outlierLogPath),
    ...(global.sts.servicePort > 0 ? [`--stsPort=${global.sts.servicePort}`] : []),
    ...(global.logAsJson ? ["--log_as_json"] : []),
  ];
}

/**
 * The hooks in the values. By default, a native sidecar drains before its end, and other sidecars may delay the
 * applications until the proxy is ready.
 */
function lifecycleOf({ role, settings: { values: { global } }, proxy, native, traffic }: SidecarInput) {
  if (role !== "sidecar") return undefined;
  if (global.proxy.lifecycle !== undefined) return global.proxy.lifecycle as PodContainer["lifecycle"];
  if (native) {
    // The application ends before the proxy, so draining at once loses nothing.
    const command = [PROGRAM, "request", `--debug-port=${traffic.statusPort}`, "POST", "drain"];
    return traffic.statusPort > 0 ? { preStop: { exec: { command } } } : undefined;
  }
  const holds = proxy.holdApplicationUntilProxyStarts ?? global.proxy.holdApplicationUntilProxyStarts;
  return holds ? { postStart: { exec: { command: [PROGRAM, "wait"] } } } : undefined;
}

function probesOf({ settings: { values: { global } }, reader, traffic }: SidecarInput) {
  const of = (name: string, otherwise: number) => reader.count(`readiness.status.sidecar.mesh.io/${name}`, otherwise);
  const { readinessInitialDelaySeconds: delay, readinessPeriodSeconds: period } = global.proxy;
  const { startupProbe: { enabled, failureThreshold } } = global.proxy;
  const probe = { httpGet: READINESS, timeoutSeconds: PROBE_SECONDS };
  const readinessProbe: PodProbe = {
    ...probe,
    initialDelaySeconds: of("initialDelaySeconds", delay),
    periodSeconds: of("periodSeconds", period),
    failureThreshold: of("failureThreshold", global.proxy.readinessFailureThreshold),
  };
  if (traffic.statusPort === 0) return {};
  const startupProbe: PodProbe = { ...probe, initialDelaySeconds: 0, periodSeconds: 1, failureThreshold };
  return { ...(enabled && { startupProbe }), readinessProbe };
}

/** With TPROXY, Envoy keeps the caller's address, and must run as the superuser. */
function securityOf(input: SidecarInput) {
  const { role, settings: { values: { global: { proxy } } }, traffic, own, uid, gid } = input;
  const transparent = traffic.mode === "TPROXY" && role === "sidecar";
  const user = transparent && own?.securityContext?.runAsUser === undefined ? 0 : uid;
  return {
    allowPrivilegeEscalation: proxy.privileged,
    capabilities: transparent ? { add: ["NET_ADMIN"], drop: ["ALL"] } : { drop: ["ALL"] },
    privileged: proxy.privileged,
    readOnlyRootFilesystem: !proxy.enableCoreDump,
    runAsGroup: gid,
    runAsNonRoot: user !== 0,
    runAsUser: user,
    // Merged profiles would have the fields of both.
    ...(profileOf(own ?? {}) === undefined && seccompOf(input)),
  };
}
