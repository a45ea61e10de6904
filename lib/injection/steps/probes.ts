/**
 * Probes and hooks of applications become requests to the agent, because the orchestrator has no certificate. The agent
 * reads its probes from `MESH_ORCH_APP_PROBERS` (`lib/config/agent_texts/app_probers.ts`).
 *
 * @module
 */
import { requestTarget } from "../../kernel/text/request_target.ts";
import type { PodContainer, PodHandler } from "../pod.ts";
import { roleOf } from "../names.ts";
import { goesOn, isProxy } from "../sidecar/input.ts";

/** Variable of the proxy with the probes. */
export const PROBERS = "MESH_ORCH_APP_PROBERS";

/** Rewritten containers, and the probes for the agent by path. */
export interface RewrittenProbes {
  readonly containers: PodContainer[];
  readonly initContainers: PodContainer[];
  readonly probers: Readonly<Record<string, unknown>>;
  /** Problems of probes and hooks, one per line. */
  readonly problems: readonly string[];
  /** Probes and hooks that stay unchanged because nobody would answer in their place, one per line. */
  readonly warnings: readonly string[];
}

const PROBES = [["readinessProbe", "readyz"], ["livenessProbe", "livez"], ["startupProbe", "startupz"]] as const;
const HOOKS = [["postStart", "poststartz"], ["preStop", "prestopz"]] as const;

/** A rewritten handler: the orchestrator's request, and the check that the agent then makes. */
interface Rewritten {
  readonly handler: PodHandler;
  readonly prober: object;
}

/**
 * Rewrites the probes of containers, and of init containers that go on running.
 *
 * If the proxy starts after such an init container, the agent cannot answer its startup probe, hooks and liveness probe
 * yet: the pod would wait for itself forever. These stay unchanged, and only the readiness probe goes to the agent.
 *
 * @param known Probes of an earlier injection by path. A container that already asks the agent stays unchanged.
 */
export function rewriteProbes(
  { containers, initContainers }: { readonly containers: PodContainer[]; readonly initContainers: PodContainer[] },
  statusPort: number,
  known: Readonly<Record<string, unknown>>,
): RewrittenProbes {
  const probers: Record<string, unknown> = {};
  const problems: string[] = [];
  const warnings: string[] = [];
  const rewritten = (container: PodContainer, where: string, path: string, handler: PodHandler | undefined) => {
    if (handler === undefined) return undefined;
    if (handler.httpGet?.path === path && Object.hasOwn(known, path)) {
      probers[path] = known[path];
      return undefined;
    }
    const result = rewriteHandler(container, handler, path, statusPort);
    if (typeof result === "string") problems.push(`container ${container.name}: ${where}: ${result}`);
    if (typeof result !== "object") return undefined;
    probers[path] = result.prober;
    return result.handler;
  };
  const beforeAgent: Rewrite = (container, where, path, handler) => {
    if (where === "readinessProbe") return rewritten(container, where, path, handler);
    if (handler === undefined || handler.exec !== undefined) return undefined;
    warnings.push(
      `container ${container.name}: ${where} stays unchanged, because the proxy starts later; with strict mutual TLS the pod needs the annotation sidecar.mesh.io/nativeSidecar: "true"`,
    );
    return undefined;
  };
  const isFirst = initContainers.some(isProxy);
  return {
    containers: containers.map((one) => isProxy(one) ? one : rewriteContainer(one, rewritten)),
    initContainers: initContainers.map((one) =>
      roleOf(one) !== undefined || !goesOn(one) ? one : rewriteContainer(one, isFirst ? rewritten : beforeAgent)
    ),
    ...{ probers, problems, warnings },
  };
}

/** Makes the new handler of a probe or a hook; undefined: the handler stays unchanged. */
type Rewrite = (
  container: PodContainer,
  where: string,
  path: string,
  handler: PodHandler | undefined,
) => PodHandler | undefined;

function rewriteContainer(container: PodContainer, rewritten: Rewrite): PodContainer {
  const next = { ...container };
  for (const [field, word] of PROBES) {
    const probe = rewritten(container, field, `/app-health/${container.name}/${word}`, container[field]);
    if (probe !== undefined) next[field] = probe;
  }
  for (const [field, word] of HOOKS) {
    const path = `/app-lifecycle/${container.name}/${word}`;
    const hook = rewritten(container, `lifecycle.${field}`, path, container.lifecycle?.[field]);
    if (hook !== undefined) next.lifecycle = { ...next.lifecycle, [field]: hook };
  }
  return next;
}

/** The two sides of a handler; undefined: the handler runs in the container; a text: the problem of the handler. */
function rewriteHandler(
  container: PodContainer,
  handler: PodHandler,
  path: string,
  statusPort: number,
): Rewritten | string | undefined {
  const { httpGet, tcpSocket, grpc, ...rest } = handler;
  const timeoutSeconds = handler["timeoutSeconds"];
  const timeout = typeof timeoutSeconds === "number" ? { timeoutSeconds } : {};
  const asked = (more: object = {}) => ({ ...rest, httpGet: { ...more, path, port: statusPort } }) as PodHandler;
  if (grpc !== undefined) {
    const { port, service } = grpc;
    if (!isPort(port)) return `port: got ${port}, expected a port number from 1 to 65535`;
    return { handler: asked(), prober: { grpc: { port, ...(service && { service }) }, ...timeout } };
  }
  const target = httpGet ?? tcpSocket;
  if (target === undefined) return undefined;
  const port = portNumber(container, target.port);
  if (port === undefined || !isPort(port)) {
    return `port: got ${JSON.stringify(target.port)}, expected a port of the container`;
  }
  if (httpGet === undefined) return { handler: asked(), prober: { tcpSocket: { port }, ...timeout } };
  const { scheme, httpHeaders, ...get } = httpGet;
  if (requestTarget(get.path ?? "") === undefined) {
    return `httpGet.path: got ${JSON.stringify(get.path?.slice(0, 120))}, expected the path of a URL`;
  }
  const wanted = { ...get, ...(scheme !== undefined && { scheme }), port };
  return { handler: asked(httpHeaders === undefined ? {} : { httpHeaders }), prober: { httpGet: wanted, ...timeout } };
}

function portNumber({ ports = [] }: PodContainer, port: number | string): number | undefined {
  if (typeof port === "number") return port;
  if (/^\d+$/.test(port)) return Number(port);
  return ports.find(({ name }) => name === port)?.containerPort;
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65535;
}
