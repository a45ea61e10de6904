/**
 * Mutual TLS between real Envoys: the clients that a workload's PeerAuthentication admits, and the certificates of its
 * callers' proxies.
 */
import assert from "node:assert/strict";
import { connect as connectPlain } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import type { AgentSecret, SecretListener, SecretSource } from "../../lib/agent/secrets/agent_secret.ts";
import { sdsService } from "../../lib/agent/secrets/sds_service.ts";
import { GrpcServer } from "../../lib/grpc/server.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { noMetrics } from "../../lib/kernel/metrics/registry.ts";
import { listenUnix } from "../../lib/sockets/listen/unix.ts";
import { withPorts } from "../../scripts/ports.ts";
import { Authority, type Certificate, openssl } from "../certificates.ts";
import { writeIdentity } from "./support/identity_files.ts";
import { callerEcho } from "./support/caller_echo.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const ignore = path === undefined || !openssl;

/** The answer for a client: the body, or "refused". */
function ask(port: number, tls: ConnectionOptions | undefined): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const host = "127.0.0.1";
  const send = () => socket.write("GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n");
  const socket = tls === undefined
    ? connectPlain({ host, port }, () => send())
    : connectTls({ host, port, rejectUnauthorized: false, ...tls }, () => send());
  socket.setEncoding("utf8");
  socket.on("data", (part: string) => {
    text += part;
    if (/\r\n\r\n.*\S/s.test(text)) socket.destroy();
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(/^HTTP\/1.1 200/.test(text) ? text.slice(text.indexOf("\r\n\r\n") + 4) : "refused"));
  return promise;
}

function sidecar(app: string, part: string): string {
  return `
---
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: ${app}, namespace: demo }
spec:
  workloadSelector: { labels: { app: ${app} } }
${part}
`;
}

function ingress(port: number, protocol: string, application: number): string {
  const target = `defaultEndpoint: "127.0.0.1:${application}", bind: 127.0.0.1, captureMode: NONE`;
  const declared = protocol === "" ? "" : `protocol: ${protocol}, `;
  return `  - { port: { number: ${port}, ${declared}name: p${port} }, ${target} }`;
}

const policies: Readonly<Record<string, (port: number) => string>> = {
  none: () => "",
  "mesh STRICT": () => policy("all", "mesh-system", "mtls: { mode: STRICT }"),
  "namespace STRICT over mesh DISABLE": () =>
    policy("all", "mesh-system", "mtls: { mode: DISABLE }") + policy("all", "demo", "mtls: { mode: STRICT }"),
  "namespace STRICT, workload UNSET": () =>
    policy("all", "demo", "mtls: { mode: STRICT }") + policy("one", "demo", `${SELECTOR}, mtls: { mode: UNSET }`),
  "namespace STRICT, workload PERMISSIVE": () =>
    policy("all", "demo", "mtls: { mode: STRICT }") + policy("one", "demo", `${SELECTOR}, mtls: { mode: PERMISSIVE }`),
  "workload DISABLE, port STRICT": (port) =>
    policy("one", "demo", `${SELECTOR}, mtls: { mode: DISABLE }, portLevelMtls: { ${port}: { mode: STRICT } }`),
  "workload STRICT, port DISABLE": (port) =>
    policy("one", "demo", `${SELECTOR}, mtls: { mode: STRICT }, portLevelMtls: { ${port}: { mode: DISABLE } }`),
  "STRICT for another workload": () =>
    policy("one", "demo", "selector: { matchLabels: { app: another } }, mtls: { mode: STRICT }"),
};

const SELECTOR = "selector: { matchLabels: { app: server } }";

function policy(name: string, namespace: string, spec: string): string {
  return `
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: ${name}, namespace: ${namespace} }
spec: { ${spec} }
`;
}

const strict = { plain: false, mutual: true };
const permissive = { plain: true, mutual: true };
const disabled = { plain: true, mutual: false };

const expected: Readonly<Record<keyof typeof policies, { readonly plain: boolean; readonly mutual: boolean }>> = {
  none: permissive,
  "mesh STRICT": strict,
  "namespace STRICT over mesh DISABLE": strict,
  "namespace STRICT, workload UNSET": strict,
  "namespace STRICT, workload PERMISSIVE": permissive,
  "workload DISABLE, port STRICT": strict,
  "workload STRICT, port DISABLE": disabled,
  "STRICT for another workload": permissive,
};

/** Callers with certificates: their identities, and whether mutual TLS admits them. */
async function callers(mesh: Authority, other: Authority) {
  const uri = (name: string) => [["URI", name]] as const;
  const right = "spiffe://cluster.local/ns/demo/sa/client";
  const show = ({ certificate, key }: Certificate) => ({ cert: certificate, key });
  const alpn = { ALPNProtocols: ["istio-http/1.1", "istio", "http/1.1"] };
  return [
    { name: "right", admitted: true, identity: right, tls: { ...show(await mesh.sign("a", 1, uri(right))), ...alpn } },
    {
      name: "of an alias of the trust domain",
      admitted: true,
      identity: "spiffe://old.example/ns/demo/sa/client",
      tls: { ...show(await mesh.sign("b", 1, uri("spiffe://old.example/ns/demo/sa/client"))), ...alpn },
    },
    {
      name: "of another trust domain",
      admitted: false,
      tls: { ...show(await mesh.sign("c", 1, uri("spiffe://cluster.local.evil/ns/demo/sa/client"))), ...alpn },
    },
    { name: "with a DNS name alone", admitted: false, tls: { ...show(await mesh.sign("cluster.local")), ...alpn } },
    { name: "of another authority", admitted: false, tls: { ...show(await other.sign("d", 1, uri(right))), ...alpn } },
    { name: "that has expired", admitted: false, tls: { ...show(await mesh.sign("e", -1, uri(right))), ...alpn } },
    { name: "none", admitted: false, tls: alpn },
    {
      name: "right, without TLS 1.2 or 1.3",
      admitted: false,
      tls: { ...show(await mesh.sign("f", 1, uri(right))), ...alpn, maxVersion: "TLSv1.1", minVersion: "TLSv1.1" },
    },
  ] as const;
}

Deno.test({
  name:
    "who is let in follows the merged policy of the workload, switched live: plaintext, right and wrong certificates",
  ignore,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      const folder = await Deno.makeTempDir({ prefix: "mesh-mtls-" });
      const [authority, other] = await Promise.all([Authority.make("mesh"), Authority.make("other")]);
      try {
        await using app = callerEcho();
        const own = [["URI", "spiffe://cluster.local/ns/demo/sa/server"]] as const;
        const files = await writeIdentity(
          folder,
          "server",
          await authority.sign("server", 1, own),
          authority.certificate,
        );
        await using mesh = await TestMesh.start({
          files: { "sidecar.yaml": sidecar("server", `  ingress:\n${ingress(port, "HTTP", app.port)}`) },
          meshConfig: { trustDomainAliases: ["old.example"] },
        });
        const identity = { name: "server", namespace: "demo", address: "127.0.0.1", labels: { app: "server" } };
        const envoy = await mesh.attach(path!, { ...identity, type: "sidecar", metadata: files("SERVER") }, true);
        await envoy.ready(port);
        const clients = await callers(authority, other);
        for (const [name, write] of Object.entries(policies)) {
          const { plain, mutual } = expected[name]!;
          await mesh.write("policies.yaml", write(port));
          // The page first reads the folder, and answers when every proxy has acknowledged the change.
          const { why } = await mesh.page<{ why: string[] }>("live?object=Sidecar/demo/server&wait=90s");
          assert.deepEqual(why, [], name);
          await until(`${name}: the listener is the new one`, async () => {
            return (await ask(port, undefined) === "nobody") === plain &&
              (await ask(port, clients[0].tls) === clients[0].identity) === mutual;
          });
          const answers: Record<string, string> = {};
          const wanted: Record<string, string> = {};
          for (const client of clients) {
            answers[client.name] = await ask(port, client.tls);
            wanted[client.name] = mutual && client.admitted ? client.identity : "refused";
          }
          assert.deepEqual(answers, wanted, name);
          const { total, everywhere } = await mesh.page<{ total?: number; everywhere: boolean }>(
            "live?object=PeerAuthentication/mesh-system/all",
          );
          if (name === "mesh STRICT") assert.deepEqual([total, everywhere], [1, true]);
        }
        await mesh.settled();
      } finally {
        await Promise.all([authority.remove(), other.remove()]);
        await Deno.remove(folder, { recursive: true });
      }
    }),
});

/** Service ports on which a client's sidecar listens, and the ports of the server's sidecar behind. */
interface Path {
  readonly protocol: string;
  readonly client: number;
  readonly server: number;
}

function portOf({ protocol, client, server }: Path): string {
  const declared = protocol === "" ? "" : `protocol: ${protocol}, `;
  return `{ number: ${client}, ${declared}name: p${client}, targetPort: ${server} }`;
}

/** The server's own sidecar sees no service. Otherwise both sidecars would listen on the same ports. */
function world(paths: readonly Path[], application: number): string {
  const ports = paths.map(({ protocol, server }) => ingress(server, protocol, application)).join("\n");
  return `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: app, namespace: demo }
spec:
  hosts: [app.test]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [${paths.map(portOf).join(", ")}]
  endpoints: [{ address: 127.0.0.1, serviceAccount: server, labels: { security.istio.io/tlsMode: istio } }]
${sidecar("server", `  egress: [{ hosts: ["~/*"] }]\n  ingress:\n${ports}`)}`;
}

function mutualRule(mode: string): string {
  return `
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: app, namespace: demo }
spec: { host: app.test, trafficPolicy: { tls: { mode: ${mode} } } }
`;
}

/** The bytes are not TLS and not HTTP: the workload itself answers. */
async function bytes(port: number): Promise<string> {
  const socket = await Deno.connect({ hostname: "127.0.0.1", port });
  try {
    await socket.write(new TextEncoder().encode("\u0001 no request\r\n\r\n"));
    const buffer = new Uint8Array(1024);
    const read = await socket.read(buffer);
    return new TextDecoder().decode(buffer.subarray(0, read ?? 0)).slice(0, 12);
  } catch {
    return "reset";
  } finally {
    socket.close();
  }
}

Deno.test({
  name:
    "a caller's proxy shows its identity by itself where the endpoint accepts it, and the server sorts HTTP from bytes",
  ignore,
  fn: () =>
    withPorts(6, async ([http = 0, auto = 0, tcp = 0, http2 = 0, auto2 = 0, tcp2 = 0]) => {
      const folder = await Deno.makeTempDir({ prefix: "mesh-mtls-" });
      const authority = await Authority.make("mesh");
      try {
        await using app = callerEcho();
        const signed = async (name: string) => {
          const id = [["URI", `spiffe://cluster.local/ns/demo/sa/${name}`]] as const;
          return await writeIdentity(folder, name, await authority.sign(name, 1, id), authority.certificate);
        };
        const [server, client] = [await signed("server"), await signed("client")];
        const paths = [
          { protocol: "HTTP", client: http, server: http2 },
          { protocol: "", client: auto, server: auto2 },
          { protocol: "TCP", client: tcp, server: tcp2 },
        ];
        await using mesh = await TestMesh.start({ files: { "world.yaml": world(paths, app.port) } });
        const common = { type: "sidecar", namespace: "demo", address: "127.0.0.1" } as const;
        const attach = (name: string, metadata: Record<string, string>) =>
          mesh.attach(path!, { ...common, name, labels: { app: name }, metadata }, true);
        const envoys = [await attach("server", server("SERVER")), await attach("client", client("CLIENT"))];
        await envoys[0]!.ready(tcp2);
        await envoys[1]!.ready(tcp);
        const me = "spiffe://cluster.local/ns/demo/sa/client";
        const got = async () => ({
          http: await ask(http, undefined),
          auto: await ask(auto, undefined),
          tcp: await ask(tcp, undefined),
        });
        const all = (http: string, bytes = http) => ({ http, auto: http, tcp: bytes });
        const strict = policies["mesh STRICT"]!(0);
        // Each case differs from the previous one, so waiting for the result means waiting for the change.
        const cases = [
          ["automatic", "", all(me, "nobody")],
          ["turned off by rule, STRICT", mutualRule("DISABLE") + strict, all("refused")],
          ["by rule, STRICT", mutualRule("ISTIO_MUTUAL") + strict, all(me, "nobody")],
          ["turned off by policy", policy("all", "demo", "mtls: { mode: DISABLE }"), all("nobody")],
          ["automatic, STRICT", strict, all(me, "nobody")],
          [
            "by rule, to one that takes plain connections alone",
            mutualRule("ISTIO_MUTUAL") + policy("all", "demo", "mtls: { mode: DISABLE }"),
            all("refused"),
          ],
        ] as const;
        for (const [name, text, wanted] of cases) {
          await mesh.write("policies.yaml", text);
          await mesh.page("live?object=Sidecar/demo/server&wait=90s");
          await until(`${name}: ${JSON.stringify(wanted)}`, async () => {
            const now = await got();
            return JSON.stringify(now) === JSON.stringify(wanted);
          }).catch(async (error) => {
            throw new Error(`${name}: got ${JSON.stringify(await got())}`, { cause: error });
          });
        }
        await mesh.write("policies.yaml", policies["mesh STRICT"]!(0));
        await mesh.page("live?object=Sidecar/demo/server&wait=90s");
        await until("bytes pass a port without a protocol", async () => await bytes(auto) === "HTTP/1.1 400");
        await mesh.settled();
      } finally {
        await authority.remove();
        await Deno.remove(folder, { recursive: true });
      }
    }),
});

/** Certificates of a workload in the role of the agent, changeable at will. */
class AgentOfTest implements SecretSource {
  readonly #secrets = new Map<string, AgentSecret>();
  readonly #listeners = new Map<string, Set<SecretListener>>();

  watch(name: string, listener: SecretListener): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    const secret = this.#secrets.get(name);
    if (secret !== undefined) listener.secret(secret);
    return () => void listeners.delete(listener);
  }

  set(name: string, secret: AgentSecret): void {
    this.#secrets.set(name, secret);
    for (const listener of this.#listeners.get(name) ?? []) listener.secret(secret);
  }

  /** Serves the certificates at a socket. Returns a function that stops serving. */
  async serve(path: string): Promise<() => Promise<void>> {
    const server = new GrpcServer([sdsService(this, { log: silentLog().scope("test"), metrics: noMetrics() })]);
    const listener = await listenUnix(path, (transport) => server.accept(transport));
    return async () => {
      await listener.close();
      await server.stop(0);
    };
  }
}

/** The cluster of an agent's secrets in a bootstrap. */
function agentCluster(path: string): object {
  const options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  return {
    name: "sds-grpc",
    type: "STATIC",
    connect_timeout: "1s",
    load_assignment: {
      cluster_name: "sds-grpc",
      endpoints: [{ lb_endpoints: [{ endpoint: { address: { pipe: { path } } } }] }],
    },
    typed_extension_protocol_options: {
      [options]: {
        "@type": `type.googleapis.com/${options}`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
  };
}

Deno.test({
  name: "with agents beside both proxies, STRICT is served, and certificates that change fail no request",
  ignore,
  fn: () =>
    withPorts(2, async ([here = 0, there = 0]) => {
      const folder = await Deno.makeTempDir({ prefix: "mesh-mtls-" });
      const authority = await Authority.make("mesh");
      const ends: (() => Promise<void>)[] = [];
      try {
        await using app = callerEcho();
        const paths = [{ protocol: "HTTP", client: here, server: there }];
        const files = { "world.yaml": world(paths, app.port) + policies["mesh STRICT"]!(0) };
        await using mesh = await TestMesh.start({ files });
        const agents = new Map<string, AgentOfTest>();
        const renew = async (name: string) => {
          const uri = [["URI", `spiffe://cluster.local/ns/demo/sa/${name}`]] as const;
          const { certificate: chain, key } = await authority.sign(name, 1, uri);
          agents.get(name)!.set("default", { kind: "certificate", chain, key });
        };
        for (const name of ["server", "client"]) {
          const agent = new AgentOfTest();
          agents.set(name, agent);
          agent.set("ROOTCA", { kind: "roots", roots: authority.certificate });
          await renew(name);
          ends.push(await agent.serve(`${folder}/${name}`));
          const identity = { type: "sidecar", namespace: "demo", address: "127.0.0.1", name } as const;
          const beside = { metadata: { PROXY_CONFIG: {} }, clusters: [agentCluster(`${folder}/${name}`)] };
          const envoy = await mesh.attach(path!, { ...identity, ...beside, labels: { app: name } }, true);
          await envoy.ready(name === "server" ? there : here);
        }
        const me = "spiffe://cluster.local/ns/demo/sa/client";
        await until("the first request is served", async () => await ask(here, undefined) === me);
        for (let round = 0; round < 3; round++) {
          for (const name of ["server", "client"]) {
            await renew(name);
            for (let i = 0; i < 20; i++) assert.equal(await ask(here, undefined), me);
          }
        }
        assert.equal(await ask(there, undefined), "refused");
        await mesh.settled();
      } finally {
        for (const end of ends) await end();
        await authority.remove();
        await Deno.remove(folder, { recursive: true });
      }
    }),
});
