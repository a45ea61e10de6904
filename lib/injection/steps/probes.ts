/**
 * Probes and hooks of applications become requests to the agent, because the orchestrator has no certificate. The agent
 * reads the ones that it is to make from `MESH_ORCH_APP_PROBERS` (`lib/config/agent_texts/app_probers.ts`).
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
  /** The probes and hooks that cannot be rewritten, a line each. */
  readonly problems: readonly string[];
  /** Those that stay as they are because nobody would answer for them, a line each. */
  readonly warnings: readonly string[];
}

const PROBES = [["readinessProbe", "readyz"], ["livenessProbe", "livez"], ["startupProbe", "startupz"]] as const;
const HOOKS = [["postStart", "poststartz"], ["preStop", "prestopz"]] as const;

/** One handler rewritten: the request of the orchestrator, and the check that the agent then makes. */
interface Rewritten {
  readonly handler: PodHandler;
  readonly prober: object;
}

/**
 * Rewrites the probes of containers, and of init containers that go on beside them.
 *
 * Where the proxy starts after such an init container, the agent does not answer yet when its start is probed, its hook is
 * called or its life is checked: the pod would wait for ever for itself. These stay, and readiness alone goes to the agent.
 *
 * @param known Probes of an earlier injection by path: a container that asks for them already stays as it is.
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
      `container ${container.name}: ${where} stays as it is, because the proxy starts later; with strict mutual TLS it needs the annotation sidecar.mesh.io/nativeSidecar: "true"`,
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

/** The handler that a probe or a hook gets instead of its own; undefined: it keeps its own. */
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
