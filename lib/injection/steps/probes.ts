/**
 * Probes and hooks of applications become requests to the agent, because the orchestrator has no certificate. The agent
 * reads the ones that it is to make from `MESH_ORCH_APP_PROBERS` (`lib/agent/probes/app_probers.ts`).
 *
 * @module
 */
import type { PodContainer, PodHandler } from "../pod.ts";
import { isProxy } from "../sidecar/input.ts";

/** Variable of the proxy with the probes. */
export const PROBERS = "MESH_ORCH_APP_PROBERS";

/** Rewritten containers, and the probes for the agent by path. */
export interface RewrittenProbes {
  readonly containers: PodContainer[];
  readonly probers: Readonly<Record<string, unknown>>;
  /** The probes and hooks that cannot be rewritten, a line each. */
  readonly problems: readonly string[];
}

const PROBES = [["readinessProbe", "readyz"], ["livenessProbe", "livez"], ["startupProbe", "startupz"]] as const;
const HOOKS = [["postStart", "poststartz"], ["preStop", "prestopz"]] as const;

/** One handler rewritten: the request of the orchestrator, and the check that the agent then makes. */
interface Rewritten {
  readonly handler: PodHandler;
  readonly prober: object;
}

/**
 * Rewrites the probes of containers.
 *
 * @param known Probes of an earlier injection by path: a container that asks for them already stays as it is.
 */
export function rewriteProbes(
  containers: readonly PodContainer[],
  statusPort: number,
  known: Readonly<Record<string, unknown>>,
): RewrittenProbes {
  const probers: Record<string, unknown> = {};
  const problems: string[] = [];
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
  return {
    containers: containers.map((one) => isProxy(one) ? one : rewriteContainer(one, rewritten)),
    probers,
    problems,
  };
}

function rewriteContainer(
  container: PodContainer,
  rewritten: (
    container: PodContainer,
    where: string,
    path: string,
    handler: PodHandler | undefined,
  ) => PodHandler | undefined,
): PodContainer {
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

/** The two sides of a handler; undefined: it runs in the container; a text: why it cannot be. */
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
    return { handler: asked(), prober: { grpc: { port, ...(service && { service }) }, ...timeout } };
  }
  const target = httpGet ?? tcpSocket;
  if (target === undefined) return undefined;
  const port = portNumber(container, target.port);
  if (port === undefined) return `port: got ${JSON.stringify(target.port)}, expected a port of the container`;
  if (httpGet === undefined) return { handler: asked(), prober: { tcpSocket: { port }, ...timeout } };
  const { scheme, httpHeaders, ...get } = httpGet;
  const wanted = { ...get, ...(scheme !== undefined && { scheme }), port };
  return { handler: asked(httpHeaders === undefined ? {} : { httpHeaders }), prober: { httpGet: wanted, ...timeout } };
}

function portNumber({ ports = [] }: PodContainer, port: number | string): number | undefined {
  if (typeof port === "number") return port;
  if (/^\d+$/.test(port)) return Number(port);
  return ports.find(({ name }) => name === port)?.containerPort;
}
