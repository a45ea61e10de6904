/**
 * The readiness probe of a workload outside of an orchestrator (`readinessProbe` of the proxy's settings), made once.
 *
 * Permissions: net (the workload), run (`/bin/sh`, for a command).
 *
 * @module
 */
import { isIPv6 } from "node:net";
import type { HttpHealthCheck, ReadinessProbe } from "../../config/kinds/common/schema.ts";
import { HttpProber } from "../probes/http_probe.ts";
import { probeGrpc, probePort } from "../probes/port_probe.ts";
import { requestTarget } from "../../kernel/text/request_target.ts";
import { type ProbeAddress, probeSource } from "../probes/probe_socket.ts";

/** The agent's name in requests to the workload. */
const USER_AGENT = "mesh-probe/1.0";

/** Makes the probe. An exception says why the workload is not ready. */
export type WorkloadCheck = (signal: AbortSignal) => Promise<void>;

/**
 * The check of a probe.
 * @param own The workload's address, for a probe without a host.
 */
export function workloadCheck({ httpGet, tcpSocket, exec, grpc }: ReadinessProbe, own: string): WorkloadCheck {
  if (httpGet !== undefined) return httpCheck(httpGet, httpGet.host || own);
  if (tcpSocket !== undefined) return (signal) => probePort(addressOf(tcpSocket.host || own, tcpSocket.port), signal);
  if (exec !== undefined) return (signal) => runCommand(exec.command, signal);
  if (grpc !== undefined) {
    return (signal) => probeGrpc(addressOf(own, grpc.port), grpc.service ?? "", USER_AGENT, signal);
  }
  return () => Promise.resolve();
}

function addressOf(host: string, port: number): ProbeAddress {
  const source = probeSource(host);
  return { host, port, ...(source === undefined ? {} : { source }) };
}

function httpCheck({ path = "/", port, scheme, httpHeaders = [] }: HttpHealthCheck, to: string): WorkloadCheck {
  const prober = new HttpProber({ http2: true, keepAlive: false });
  const secure = scheme === "HTTPS";
  const given = Object.fromEntries(httpHeaders.map(({ name = "", value = "" }) => [name.toLowerCase(), line(value)]));
  const host = given["host"] ?? `${isIPv6(to) ? `[${to}]` : to}:${port}`;
  // The start has refused an invalid path (`planStatus`).
  const target = requestTarget(path) ?? "/";
  const probe = {
    ...{ address: addressOf(to, port), target, host, secure },
    headers: { "user-agent": USER_AGENT, accept: "*/*", ...given },
  };
  return async (signal) => {
    const { status } = await prober.get(probe, signal);
    if (status < 200 || status >= 400) throw new Error(`the status is ${status}, expected 200 to 399`);
  };
}

/** A value of a header as one line. */
function line(value: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  return value.replace(/[\x00-\x08\x0a-\x1f\x7f]/g, " ");
}

/**
 * Runs a command. The shell replaces itself by the command at once, so that the agent needs permission for one program,
 * not for every program.
 * @throws {Error} Unless the command ends with 0.
 */
async function runCommand(command: readonly string[], signal: AbortSignal): Promise<void> {
  const child = new Deno.Command("/bin/sh", {
    args: ["-c", 'exec "$@"', "sh", ...command],
    ...{ stdin: "null", stdout: "null", stderr: "null" },
  }).spawn();
  const end = () => child.kill("SIGKILL");
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    const { code, signal: by } = await child.status;
    signal.throwIfAborted();
    if (code !== 0) throw new Error(by === null ? `the command ended with ${code}` : `${by} ended the command`);
  } finally {
    signal.removeEventListener("abort", end);
  }
}
