/**
 * A real Envoy that asks for what its workload calls, and its applications.
 *
 * Permissions: the permissions of `./mesh.ts`.
 * @module
 */
import assert from "node:assert/strict";
import { request } from "node:http";
import { withPorts } from "../../../scripts/ports.ts";
import { envoyPath, type TestEnvoy, TestMesh } from "./mesh.ts";

export const CLIENT = {
  type: "sidecar",
  name: "client",
  namespace: "demo",
  address: "127.0.0.1",
  labels: { app: "client" },
  metadata: { ON_DEMAND: "true" },
} as const;

/** An application that answers with its name and the body of the request, and counts requests. */
export function application(name: string) {
  const seen = { count: 0 };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (asked) => {
    seen.count++;
    return new Response(`${name}${await asked.text()}`);
  });
  return { seen, port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

interface Entry {
  readonly host: string;
  readonly port: number;
  readonly targetPort: number;
}

export const object = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: "networking.mesh.io/v1", kind, metadata: { name, namespace: "demo" }, spec });

export function entry({ host, port, targetPort }: Entry): string {
  return object("ServiceEntry", host.replaceAll("*", "any").replaceAll(".", "-"), {
    hosts: [host],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports: [{ number: port, protocol: "HTTP", name: "http", targetPort }],
    endpoints: [{ address: "127.0.0.1" }],
  });
}

/** A request through the sidecar: the body, or a status other than 200. */
export async function ask(port: number, host: string, body = ""): Promise<string> {
  const { status, text } = await answerOf(port, host, body);
  return status === 200 ? text : String(status);
}

/** A request through the sidecar. @param begun called with the first part of the answer */
export function answerOf(
  port: number,
  host: string,
  body = "",
  begun: () => void = () => {},
): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const options = { host: "127.0.0.1", port, headers: { host }, method: body === "" ? "GET" : "POST" };
  const sent = request(options, (answer) => {
    let text = "";
    answer.setEncoding("utf8");
    answer.on("data", (part: string) => {
      text += part;
      begun();
    });
    answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    answer.on("error", reject);
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}

export async function heldClusters(envoy: TestEnvoy): Promise<string[]> {
  const text = await envoy.admin("clusters") ?? "";
  return [...text.matchAll(/^outbound\|\d+\|\|([^:]+)::observability/gm)].map(([, host]) => host!).sort();
}

export async function heldHosts(envoy: TestEnvoy): Promise<string[]> {
  const dump = JSON.parse(await envoy.admin("config_dump?resource=dynamic_route_configs") ?? "{}") as {
    configs?: { route_config: { virtual_hosts?: { domains: string[] }[] } }[];
  };
  const hosts = (dump.configs ?? []).flatMap(({ route_config }) => route_config.virtual_hosts ?? []);
  return hosts.map(({ domains }) => domains[0]!).sort();
}

/** Envoy's counters of clusters that came, changed and went. */
export async function clusterChanges(envoy: TestEnvoy): Promise<string | undefined> {
  return await envoy.admin("stats?filter=^cluster_manager.cluster_(added|modified|removed)$");
}

export async function withClient(
  files: (port: number) => Record<string, string>,
  test: (parts: { mesh: TestMesh; envoy: TestEnvoy; port: number }) => Promise<void>,
  meshConfig: Record<string, unknown> = {},
): Promise<void> {
  await withPorts(1, async ([port = 0]) => {
    const settings = { UNSAFE_ENABLE_ADMIN_ENDPOINTS: true };
    await using mesh = await TestMesh.start({ files: files(port), meshConfig, settings });
    const envoy = await mesh.attach(envoyPath()!, CLIENT, true);
    await envoy.ready(port);
    await test({ mesh, envoy, port });
    assert.deepEqual(await envoy.rejected(), []);
  });
}
