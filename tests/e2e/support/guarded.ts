/**
 * A workload behind a strict Envoy, and callers with identities: tests of the workload's policies.
 *
 * Permissions: run (envoy, openssl), net (loopback), read, write (temporary folders), env (ENVOY).
 *
 * @module
 */
import assert from "node:assert/strict";
import { connect } from "node:tls";
import { withPorts } from "../../../scripts/ports.ts";
import { Authority, type Certificate } from "../../certificates.ts";
import { writeIdentity } from "./identity_files.ts";
import { HBONE_PORT } from "../../../lib/translate/hbone/names.ts";
import { askByHbone } from "./hbone_client.ts";
import { callerEcho } from "./caller_echo.ts";
import { TestMesh } from "./mesh.ts";
import { until } from "../../patience.ts";

/** The callers: service accounts in namespaces `demo` and `other`, and one in an alias of the trust domain. */
export type Caller = "friend" | "guest" | "alias";

const IDENTITIES: Readonly<Record<Caller, string>> = {
  friend: "cluster.local/ns/demo/sa/friend",
  guest: "cluster.local/ns/other/sa/guest",
  alias: "old.example/ns/demo/sa/friend",
};

/** A request. Default: GET / of app.test by `friend` from 127.0.0.1. */
export interface Asked {
  readonly by?: Caller;
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
  /** To the port that carries bytes. */
  readonly tcp?: true;
}

/** The effect of policies: each request with the expected status. For bytes, whether an answer arrives. */
export interface PolicyCase {
  readonly name: string;
  /** Documents of AuthorizationPolicy: name, namespace (default `demo`), annotations, spec. */
  readonly policies: readonly PolicyDocument[];
  readonly asked: readonly (readonly [Asked, number | "closed"])[];
}

/** A policy. */
export interface PolicyDocument {
  readonly name?: string;
  readonly namespace?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: object;
}

/** A running workload with its callers. */
export interface Guarded {
  readonly mesh: TestMesh;
  readonly envoy: Awaited<ReturnType<TestMesh["attach"]>>;
  readonly ports: { readonly http: number; readonly tcp: number };
  /** Writes policies, waits until they are in force, and compares the result of every request. */
  check(one: PolicyCase): Promise<void>;
  ask(asked: Asked): Promise<number | "closed">;
  /** A certificate of the mesh with the given URIs. */
  sign(...ids: string[]): Promise<Certificate>;
  /** Writes the files of an identity. Returns the metadata of a proxy with the identity. */
  identify(name: string, id: string): ReturnType<typeof writeIdentity>;
}

/**
 * Starts a guarded workload, and stops the workload after the test. `files` are added to the folder. Both functions get
 * a port without a listener.
 */
export function withGuarded(
  options: {
    readonly meshConfig?: (spare: number) => object;
    readonly files?: (spare: number, ports: Guarded["ports"]) => Readonly<Record<string, string>>;
    /** Callers connect by HBONE, whose port is fixed: for tests in a separate network. */
    readonly hbone?: true;
    /** The workload's proxy has no listeners for other services. Default: only with `hbone`. */
    readonly callsNobody?: true;
    readonly settings?: Readonly<Record<string, boolean>>;
    /** Services of manifests are part of the mesh. Default: they are not. */
    readonly manifestServices?: true;
    /** Address of the workload. Default 127.0.0.1. */
    readonly address?: string;
    /** The application behind both ports. Default: answers with the caller. */
    readonly application?: () => { readonly port: number } & AsyncDisposable;
  },
  run: (guarded: Guarded) => Promise<void>,
): Promise<void> {
  return withPorts(3, async ([http = 0, tcp = 0, spare = 0]) => {
    const folder = await Deno.makeTempDir({ prefix: "mesh-authz-" });
    const authority = await Authority.make("mesh");
    try {
      const { address = "127.0.0.1" } = options;
      const loopback = address === "::1" ? "::1" : "127.0.0.1";
      await using app = options.application?.() ?? callerEcho(loopback);
      const signed = (id: string) => authority.sign(id.slice(-5), 1, [["URI", `spiffe://${id}`]]);
      const certificates = new Map<Caller, { readonly cert: string; readonly key: string }>();
      for (const [name, id] of Object.entries(IDENTITIES) as [Caller, string][]) {
        const { certificate, key } = await signed(id);
        certificates.set(name, { cert: certificate, key });
      }
      const files = await writeIdentity(
        folder,
        "server",
        await signed("cluster.local/ns/demo/sa/server"),
        authority.certificate,
      );
      const ip = address.includes(":") ? `[${address}]` : address;
      const own = {
        "workload.yaml": workload(
          { http, tcp },
          { address, loopback, application: app.port },
          options.callsNobody ?? options.hbone === true,
        ),
        ...options.files?.(spare, { http, tcp }),
      };
      await using mesh = await TestMesh.start({
        files: own,
        manifestServices: options.manifestServices === true,
        meshConfig: { trustDomainAliases: ["old.example"], ...options.meshConfig?.(spare) },
        settings: { PILOT_ENABLE_SIDECAR_LISTENING_HBONE: options.hbone === true, ...options.settings },
      });
      const identity = { name: "server", namespace: "demo", address, labels: { app: "server" } };
      const metadata = { ...files("SERVER"), ...(options.hbone ? { ENABLE_HBONE: "true" } : {}) };
      const envoy = await mesh.attach(path(), { ...identity, type: "sidecar", metadata }, true);
      for (const port of options.hbone ? [http, tcp, HBONE_PORT] : [http, tcp]) {
        await envoy.ready(port, ip);
      }
      const ask = async (asked: Asked) => {
        const port = asked.tcp ? tcp : http;
        const certificate = certificates.get(asked.by ?? "friend")!;
        if (!options.hbone) return await request(port, certificate, asked, asked.tcp === true);
        const said = await askByHbone(
          { to: `${ip}:${port}`, proxy: address, ...certificate, ...asked },
          requestText(asked),
        );
        return said.connected !== 200 || said.text === "" ? "closed" : statusOf(said.text);
      };
      const sign = (...ids: string[]) => authority.sign("named", 1, ids.map((id) => ["URI", id] as const));
      const identify = async (name: string, id: string) =>
        await writeIdentity(folder, name, await signed(id), authority.certificate);
      await run({ mesh, envoy, ports: { http, tcp }, ask, sign, identify, check: (one) => check(mesh, ask, one) });
      await mesh.settled();
    } finally {
      await authority.remove();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

function path(): string {
  return Deno.env.get("ENVOY") ?? new URL("../../../.cache/envoy/envoy/_bin/envoy", import.meta.url).pathname;
}

async function check(mesh: TestMesh, ask: Guarded["ask"], { name, policies, asked }: PolicyCase): Promise<void> {
  const documents = policies.map(({ name: own, namespace = "demo", annotations = {}, spec }, i) => ({
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name: own ?? `policy-${i}`, namespace, annotations },
    spec,
  }));
  await mesh.write("policies.yaml", documents.map((one) => JSON.stringify(one)).join("\n---\n"));
  // The page first reads the folder, and answers when every proxy has acknowledged the change.
  const { why } = await mesh.page<{ why: string[] }>("live?object=Sidecar/demo/server&wait=90s");
  assert.deepEqual(why, [], name);
  const wanted = asked.map(([one, status]) => [JSON.stringify(one), status]);
  let answers: unknown[] = [];
  const look = async () => {
    answers = [];
    for (const [one] of asked) answers.push([JSON.stringify(one), await ask(one)]);
    return JSON.stringify(answers) === JSON.stringify(wanted);
  };
  // An acknowledged listener still has to reach the worker threads.
  await until(name, look).catch(() => assert.deepEqual(answers, wanted, name));
}

/** A request on a new connection: the status, or "closed" without an answer. */
function request(
  port: number,
  certificate: { readonly cert: string; readonly key: string },
  asked: Asked,
  tcp: boolean,
): Promise<number | "closed"> {
  const { promise, resolve } = Promise.withResolvers<number | "closed">();
  const { from } = asked;
  const socket = connect({
    host: "127.0.0.1",
    port,
    rejectUnauthorized: false,
    ALPNProtocols: tcp ? ["istio"] : ["istio-http/1.1"],
    ...certificate,
    ...(from === undefined ? {} : { localAddress: from }),
  }, () => socket.write(requestText(asked)));
  let text = "";
  socket.setEncoding("utf8");
  socket.on("data", (part: string) => {
    text += part;
    if (/\r\n\r\n/.test(text)) socket.destroy();
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(text === "" ? "closed" : statusOf(text)));
  return promise;
}

/** A request that ends its connection. */
export function requestText({ method = "GET", path = "/", host = "app.test", headers = {} }: Asked): string {
  const lines = Object.entries({ ...headers, "content-length": "0", connection: "close" });
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  return `${head.join("\r\n")}\r\n\r\n`;
}

function statusOf(text: string): number {
  return Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]);
}

/** A port for requests and a port for bytes, both before the same application. Callers must show certificates. */
function workload(
  { http, tcp }: Guarded["ports"],
  { address, loopback, application }: {
    readonly address: string;
    readonly loopback: string;
    readonly application: number;
  },
  callsNobody: boolean,
): string {
  const endpoint = `${loopback.includes(":") ? `[${loopback}]` : loopback}:${application}`;
  const port = (number: number, protocol: string) =>
    `  - { port: { number: ${number}, protocol: ${protocol}, name: p${number} }, ` +
    `defaultEndpoint: "${endpoint}", bind: "${address}", captureMode: NONE }`;
  return `
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: server, namespace: demo }
spec:
  workloadSelector: { labels: { app: server } }
${callsNobody ? '  egress: [{ hosts: ["~/*"] }]' : ""}
  ingress:
${port(http, "HTTP")}
${port(tcp, "TCP")}
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: demo }
spec: { mtls: { mode: STRICT } }
`;
}
