/**
 * Templates of gRPC applications with xDS support: `grpc-agent` adds an agent for certificates and configuration;
 * `grpc-simple` adds only the file with the server's address.
 *
 * @module
 */
import type { PodContainer } from "../pod.ts";
import type { PodPart, SidecarInput } from "../sidecar/input.ts";
import { proxyContainer } from "../sidecar/proxy.ts";
import { sidecarAnnotations, sidecarLabels } from "../sidecar/metadata.ts";
import { proxyVolumes } from "../sidecar/volumes.ts";

const REWRITE = "sidecar.mesh.io/rewriteAppHTTPProbers";
const BOOTSTRAP = "GRPC_XDS_BOOTSTRAP";
/** Folder of the agent's socket and of the bootstrap file. The application sees the folder at the same path. */
const AGENT_FOLDER = "/etc/mesh/proxy";
/** Folder of the certificates that the agent writes. */
const CERTIFICATES = "/var/lib/mesh/data";

/** The agent without Envoy, and variables and volumes with which applications find the agent. */
export function grpcAgentPart(input: SidecarInput): PodPart {
  const { applications, traffic: { statusPort } } = input;
  const { volumes, mounts } = proxyVolumes(input);
  const { startupProbe: _, readinessProbe: __, ports: ___, ...agent } = proxyContainer(
    { ...input, native: false },
    mounts,
  );
  const env = [
    ...agent.env ?? [],
    ...[{ name: "DISABLE_PROXY", value: "true" }, { name: "OUTPUT_CERTS", value: CERTIFICATES }],
    { name: BOOTSTRAP, value: `${AGENT_FOLDER}/grpc-bootstrap.json` },
  ];
  const proxy: PodContainer = { ...agent, env, ...(statusPort > 0 && readyAt(statusPort)) };
  return {
    ...metadata(input),
    containers: [...applications.map(withAgent), proxy],
    ...{ initContainers: [], volumes, imagePullSecrets: pullSecrets(input), rest: {} },
  };
}

/** Applications read the agent's file at their start, so they must start after the agent. */
function readyAt(port: number): Partial<PodContainer> {
  const path = "/healthz/ready";
  return {
    ports: [{ containerPort: port, protocol: "TCP", name: "mesh-metrics" }],
    readinessProbe: { httpGet: { path, port }, timeoutSeconds: 3, periodSeconds: 2, failureThreshold: 30 },
    lifecycle: { postStart: { exec: { command: ["pilot-agent", "wait", `--url=http://localhost:${port}${path}`] } } },
  };
}

/**
 * The template does not set the label for mutual TLS: only the application's author knows whether the application
 * speaks TLS. The orchestrator reaches the application directly, so its probes stay unchanged.
 */
function metadata(input: SidecarInput): Pick<PodPart, "labels" | "annotations"> {
  const own = { ...input, role: "router" as const };
  return { labels: sidecarLabels(own), annotations: { ...sidecarAnnotations(own), [REWRITE]: "false" } };
}

function withAgent({ name }: PodContainer): PodContainer {
  return {
    name,
    env: [
      { name: BOOTSTRAP, value: `${AGENT_FOLDER}/grpc-bootstrap.json` },
      { name: "GRPC_XDS_EXPERIMENTAL_SECURITY_SUPPORT", value: "true" },
      { name: "GRPC_XDS_EXPERIMENTAL_RBAC", value: "true" },
    ],
    volumeMounts: [
      { name: "mesh-envoy", mountPath: AGENT_FOLDER },
      { name: "mesh-data", mountPath: CERTIFICATES, readOnly: true },
    ],
  };
}

const SIMPLE_VOLUME = "grpc-io-proxyless-bootstrap";
const SIMPLE_FOLDER = "/var/lib/grpc/data";

/** An init container writes the bootstrap file. The application asks the server directly, over plain text. */
export function grpcSimplePart(input: SidecarInput): PodPart {
  const { settings: { values: { global } }, proxy, applications } = input;
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const server = proxy.discoveryAddress.replace(/:\d+$/, ":15010");
  const domain = global.proxy.clusterDomain;
  const file = `${SIMPLE_FOLDER}/bootstrap.json`;
  const bootstrap = JSON.stringify({
    xds_servers: [{ server_uri: server, channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] }],
    node: {
      id: `sidecar~$(INSTANCE_IP)~$(POD_NAME).$(POD_NAMESPACE)~$(POD_NAMESPACE).svc.${domain}`,
      metadata: { INSTANCE_IPS: "$(INSTANCE_IP)", NAMESPACE: "$(POD_NAMESPACE)", GENERATOR: "grpc" },
    },
  });
  const writer: PodContainer = {
    name: "grpc-bootstrap-init",
    image: "busybox:1.37",
    command: ["sh", "-c", `printf '%s' "$BOOTSTRAP" > ${file}`],
    env: [
      field("INSTANCE_IP", "status.podIP"),
      field("POD_NAME", "metadata.name"),
      field("POD_NAMESPACE", "metadata.namespace"),
      // The orchestrator replaces references to the variables above.
      { name: "BOOTSTRAP", value: bootstrap },
    ],
    volumeMounts: [{ name: SIMPLE_VOLUME, mountPath: SIMPLE_FOLDER }],
  };
  return {
    ...metadata(input),
    containers: applications.map(({ name }) => ({
      name,
      env: [{ name: BOOTSTRAP, value: file }],
      volumeMounts: [{ name: SIMPLE_VOLUME, mountPath: SIMPLE_FOLDER, readOnly: true }],
    })),
    initContainers: [writer],
    volumes: [{ name: SIMPLE_VOLUME, emptyDir: {} }],
    ...{ imagePullSecrets: pullSecrets(input), rest: {} },
  };
}

function pullSecrets({ settings: { values: { global } } }: SidecarInput) {
  return global.imagePullSecrets.map((name) => ({ name }));
}
