/**
 * A real Envoy with static resources, to compare the simulator with.
 *
 * Permissions: env (ENVOY), read and write (temp folder), run (envoy), net (loopback).
 *
 * @module
 */
import { encode } from "../../lib/pb/codec.ts";
import type { RequestHeaders } from "../../lib/simulate/mod.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { PATIENCE } from "../patience.ts";

/** A running Envoy. Each listener asks for port 0 and gets a free port. */
export interface RunningEnvoy {
  /** Port of a listener by its name. */
  port(listener: string): number;
  /** A page of the admin interface. */
  admin(page: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts Envoy and resolves when Envoy serves. */
export async function startEnvoy(
  path: string,
  resources: envoy.config.bootstrap.v3.Bootstrap.StaticResources,
): Promise<RunningEnvoy> {
  const folder = await Deno.makeTempDir();
  const bootstrap: envoy.config.bootstrap.v3.Bootstrap = {
    node: { id: "test", cluster: "test" },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
    static_resources: resources,
  };
  await Deno.writeFile(`${folder}/bootstrap.pb`, encode("envoy.config.bootstrap.v3.Bootstrap", bootstrap));
  const process = new Deno.Command(path, {
    args: [
      ...["-c", `${folder}/bootstrap.pb`, "--admin-address-path", `${folder}/admin`],
      ...["--use-dynamic-base-id", "--concurrency", "1", "-l", "warning", "--reject-unknown-dynamic-fields"],
    ],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const log = new Response(process.stderr).text();
  let exited = false;
  const status = process.status.then((value) => (exited = true, value));
  const stop = async () => {
    if (!exited) process.kill("SIGKILL");
    await status;
    await log;
    await Deno.remove(folder, { recursive: true });
  };
  try {
    const ports = await listening(folder, () => exited);
    const admin = async (page: string) => {
      const address = (await Deno.readTextFile(`${folder}/admin`)).trim();
      return await (await fetch(`http://${address}/${page}`)).text();
    };
    return { port: (listener) => ports.get(listener)!, admin, stop };
  } catch (error) {
    await stop();
    throw new Error(`${(error as Error).message}\n${(await log).slice(-2000)}`);
  }
}

/** Asks the admin interface until Envoy is live. */
async function listening(folder: string, exited: () => boolean): Promise<Map<string, number>> {
  const deadline = Date.now() + PATIENCE;
  while (Date.now() < deadline) {
    if (exited()) throw new Error("Envoy ended");
    try {
      const admin = (await Deno.readTextFile(`${folder}/admin`)).trim();
      const ready = await fetch(`http://${admin}/ready`);
      await ready.body?.cancel();
      if (ready.ok) return portsOf(await (await fetch(`http://${admin}/listeners?format=json`)).json());
    } catch (error) {
      // The file, or the socket behind it, is still missing.
      if (!(error instanceof Deno.errors.NotFound || error instanceof TypeError)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`Envoy was not ready in ${PATIENCE / 1000} s`);
}

interface ListenersAnswer {
  readonly listener_statuses: readonly {
    readonly name: string;
    readonly local_address: { readonly socket_address: { readonly port_value: number } };
  }[];
}

function portsOf(answer: ListenersAnswer): Map<string, number> {
  return new Map(answer.listener_statuses.map((one) => [one.name, one.local_address.socket_address.port_value]));
}

/** Sends bytes and reads until `done` accepts the answer, or until the other side closes. */
export async function exchange(
  ip: string,
  port: number,
  bytes: Uint8Array,
  done: (answer: string) => boolean = () => false,
): Promise<string> {
  const connection = await Deno.connect({ hostname: ip, port });
  try {
    if (bytes.length > 0) await connection.write(bytes);
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(65536);
    let answer = "";
    while (!done(answer)) {
      // A reset is an end too.
      const count = await connection.read(buffer).catch(() => null);
      if (count === null) break;
      answer += decoder.decode(buffer.subarray(0, count), { stream: true });
    }
    return answer;
  } finally {
    connection.close();
  }
}

/** Sends an HTTP/1.1 request with the exact line and headers. @returns the answer's status, headers and body */
export async function httpExchange(
  port: number,
  request: {
    readonly method: string;
    readonly path: string;
    readonly host: string;
    readonly headers: RequestHeaders;
  },
): Promise<{ status: number; headers: Map<string, string>; body: string }> {
  const lines = [
    `${request.method} ${request.path} HTTP/1.1`,
    `Host: ${request.host}`,
    ...Object.entries(request.headers).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`)),
    "Connection: close",
  ];
  const answer = await exchange("127.0.0.1", port, new TextEncoder().encode(lines.join("\r\n") + "\r\n\r\n"), isWhole);
  const end = answer.indexOf("\r\n\r\n");
  const [first, ...rest] = answer.slice(0, end).split("\r\n");
  const headers = new Map(rest.map((header) => {
    const colon = header.indexOf(":");
    return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()];
  }));
  return { status: Number(first?.split(" ")[1]), headers, body: answer.slice(end + 4) };
}

/** Whether an answer has its headers and all announced bytes; Envoy may keep the connection for a while. */
function isWhole(answer: string): boolean {
  const end = answer.indexOf("\r\n\r\n");
  if (end < 0) return false;
  if (/\r\ntransfer-encoding: chunked/i.test(answer.slice(0, end))) return answer.endsWith("\r\n0\r\n\r\n");
  return answer.length - end - 4 >= Number(/\r\ncontent-length: (\d+)/i.exec(answer.slice(0, end))?.[1] ?? 0);
}
