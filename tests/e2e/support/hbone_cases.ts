/**
 * Tests of connections by HBONE, in a separate network: see `hbone_test.ts`.
 *
 * Permissions: run (envoy, openssl), net (loopback), read, write (temporary folders), env (ENVOY).
 *
 * @module
 */
import assert from "node:assert/strict";
import { withPorts } from "../../../scripts/ports.ts";
import { Authority } from "../../certificates.ts";
import { askByHbone } from "./hbone_client.ts";
import { type Guarded, requestText, withGuarded } from "./guarded.ts";
import { envoyPath, type TestEnvoy } from "./mesh.ts";
import { allow, no, ok, POLICY_CASES } from "./policy_cases.ts";
import { requestHost } from "./request.ts";
import { until } from "../../patience.ts";

Deno.test("policies decide about connections by HBONE as about connections by mutual TLS", () =>
  withGuarded(
    { hbone: true, meshConfig: () => ({ pathNormalization: { normalization: "DECODE_AND_MERGE_SLASHES" } }) },
    async ({ check }) => {
      for (const one of POLICY_CASES) await check(one);
    },
  ));

Deno.test(
  "only the address that was dialled is admitted, only one name, only certificates of the mesh",
  () =>
    withGuarded({ hbone: true }, async ({ ports, sign, envoy }) => {
      const call = async (to: string, who: { cert?: string; key?: string }) => {
        const { connected, text } = await askByHbone({ to, ...who }, requestText({}));
        return connected === 200 ? text.slice(0, 12) : connected;
      };
      const caller = async (...ids: string[]) => {
        const { certificate, key } = await sign(...ids);
        return { cert: certificate, key };
      };
      const friend = "spiffe://cluster.local/ns/demo/sa/friend";
      const own = await caller(friend);
      assert.equal(await call(`127.0.0.1:${ports.http}`, own), "HTTP/1.1 200");
      const admin = (await envoy.admin("listeners"))!;
      assert.match(admin, /connect_terminate::0\.0\.0\.0:15008/);
      for (const other of ["127.0.0.2", "localhost", "[::1]", "127.0.0.1.evil", "10.0.0.1", "127.0.0.10"]) {
        assert.equal(await call(`${other}:${ports.http}`, own), 403, other);
      }
      assert.notEqual(await call("127.0.0.1", own), "HTTP/1.1 200");
      for (const port of [15006, 15008]) assert.notEqual(await call(`127.0.0.1:${port}`, own), "HTTP/1.1 200");
      assert.equal(await call(`127.0.0.1:${ports.http}`, await caller(friend, `${friend}2`)), 403);
      assert.equal(await call(`127.0.0.1:${ports.http}`, await caller("spiffe://other.example/ns/demo/sa/friend")), 0);
      assert.equal(await call(`127.0.0.1:${ports.http}`, {}), 0);
      const foreign = await Authority.make("foreign");
      try {
        const { certificate: cert, key } = await foreign.sign("friend", 1, [["URI", friend]]);
        assert.equal(await call(`127.0.0.1:${ports.http}`, { cert, key }), 0);
      } finally {
        await foreign.remove();
      }
    }),
);

Deno.test(
  "a port that no service names is passed through by HBONE, under the same policies",
  () =>
    withGuarded({ hbone: true }, async ({ check, mesh, sign }) => {
      const { certificate: cert, key } = await sign("spiffe://cluster.local/ns/demo/sa/friend");
      const unnamed = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response("unnamed"));
      const ask = () => askByHbone({ to: `127.0.0.1:${unnamed.addr.port}`, cert, key }, requestText({}));
      try {
        assert.match((await ask()).text, /^HTTP\/1.1 200/);
        const others = allow({ from: [{ source: { principals: ["*/guest"] } }] });
        await check({ name: "others", policies: [others], asked: [...no({}), ...ok({ by: "guest" })] });
        assert.match((await ask()).text, /^HTTP\/1.1 403/);
        await mesh.settled();
      } finally {
        await unnamed.shutdown();
      }
    }),
);

Deno.test(
  "by IPv6, too: the address that was dialled alone is admitted, and policies decide",
  () =>
    withGuarded({ hbone: true, address: "::1" }, async ({ ports, sign, check }) => {
      const { certificate: cert, key } = await sign("spiffe://cluster.local/ns/demo/sa/friend");
      const call = async (to: string) => {
        const { connected, text } = await askByHbone({ to, proxy: "::1", cert, key }, requestText({}));
        return connected === 200 ? text.slice(0, 12) : connected;
      };
      assert.equal(await call(`[::1]:${ports.http}`), "HTTP/1.1 200");
      for (const other of ["[::2]", "[::]", "127.0.0.1", "[::1", "::1"]) {
        assert.notEqual(await call(`${other}:${ports.http}`), "HTTP/1.1 200", other);
      }
      const guests = allow({ from: [{ source: { principals: ["*/guest"] } }] });
      await check({ name: "guests", policies: [guests], asked: [...no({}), ...ok({ by: "guest" })] });
      const loopback = allow({ from: [{ source: { ipBlocks: ["::1/128"] } }] });
      await check({ name: "own address", policies: [loopback], asked: ok({}) });
      const elsewhere = allow({ from: [{ source: { ipBlocks: ["fd00::/8", "127.0.0.0/8"] } }] });
      await check({ name: "other addresses", policies: [elsewhere], asked: no({}) });
    }),
);

const PERMISSIVE = `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: server, namespace: demo }
spec: { selector: { matchLabels: { app: server } }, mtls: { mode: PERMISSIVE } }
`;

Deno.test(
  "where the mode is PERMISSIVE, plain connections are taken beside HBONE, and have no identity",
  () =>
    withGuarded({ hbone: true, files: () => ({ "peers.yaml": PERMISSIVE }) }, async ({ ports, check }) => {
      const plain = async () => {
        const answer = await requestHost(ports.http, "app.test");
        return typeof answer === "string" ? answer : answer.status;
      };
      await check({ name: "without policies", policies: [], asked: ok({}) });
      assert.equal(await plain(), 200);
      const known = allow({ from: [{ source: { principals: ["*"] } }] });
      await check({ name: "whoever has an identity", policies: [known], asked: ok({}) });
      await until("nobody else", async () => await plain() === 403);
    }),
);

/**
 * Two services of the workload: one with the workload's identity, one with a foreign identity that the workload must
 * not use.
 */
function services(client: { readonly web: number; readonly bytes: number }, { http, tcp }: Guarded["ports"]): string {
  const entry = (name: string, account: string, port: object, target: number, labels: object) => ({
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace: "demo" },
    spec: {
      hosts: [`${name}.test`],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [port],
      endpoints: [{ address: "127.0.0.1", ports: { one: target }, serviceAccount: account, labels }],
    },
  });
  const web = { number: client.web, name: "one", protocol: "HTTP" };
  const bytes = { number: client.bytes, name: "one", protocol: "TCP" };
  const both = { "networking.istio.io/tunnel": "http" };
  const hboneOnly = { ...both, "security.istio.io/tlsMode": "disabled" };
  return [
    entry("app", "server", web, http, both),
    entry("only", "server", web, http, hboneOnly),
    entry("other", "other", web, http, hboneOnly),
    entry("bytes", "server", bytes, tcp, both),
    mixed({ web, http, tcp }),
  ].map((one) => JSON.stringify(one)).join("\n---\n");
}

/** A service with three endpoints: one with HBONE, one with only mutual TLS, and one outside the mesh with neither. */
function mixed({ web, http, tcp }: { readonly web: object; readonly http: number; readonly tcp: number }): object {
  const own = { address: "127.0.0.1", serviceAccount: "server" };
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "mixed", namespace: "demo" },
    spec: {
      hosts: ["mixed.test"],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [web],
      endpoints: [
        { ...own, ports: { one: http }, labels: { "networking.istio.io/tunnel": "http" } },
        { ...own, ports: { one: tcp }, labels: { "security.istio.io/tlsMode": "istio" } },
        { address: PLAIN, ports: { one: http } },
      ],
    },
  };
}

/** Address of a server without a proxy. */
const PLAIN = "127.0.0.9";

/** A request on a kept connection. An end by the server would reach the caller as a reset. */
const LASTING = "GET / HTTP/1.1\r\nHost: app.test\r\n\r\n";

interface Sending extends Guarded {
  /** A proxy that calls the services, as `friend`. */
  sender(metadata?: Readonly<Record<string, string>>): Promise<TestEnvoy>;
  get(host: string): Promise<string>;
  /** The answer of the bytes port to a request. */
  bytes(): Promise<string>;
  /** Ports of the workload. `ports` are the caller's. */
  readonly targets: Guarded["ports"];
}

function withSending(
  prefers: boolean,
  run: (sending: Sending) => Promise<void>,
  application?: () => { readonly port: number } & AsyncDisposable,
): Promise<void> {
  return withPorts(2, ([web = 0, bytes = 0]) =>
    withGuarded({
      hbone: true,
      ...(application ? { application } : {}),
      settings: { PILOT_ENABLE_SENDING_HBONE: true, PILOT_PREFER_SENDING_HBONE: prefers },
      meshConfig: () => ({
        tcpKeepalive: { time: "60s" },
        defaultProviders: { metrics: ["prometheus"] },
        extensionProviders: [{ name: "prometheus", prometheus: {} }],
      }),
      files: (_, ports) => ({ "services.yaml": services({ web, bytes }, ports) }),
    }, async (guarded) => {
      let senders = 0;
      const sender = async (metadata: Readonly<Record<string, string>> = {}) => {
        const name = `sender${++senders}`;
        const client = await guarded.identify(name, "cluster.local/ns/demo/sa/friend");
        const identity = { type: "sidecar", name, namespace: "demo", address: "127.0.0.1", labels: {} } as const;
        const own = { ...client("CLIENT"), ENABLE_HBONE: "true", ...metadata };
        const envoy = await guarded.mesh.attach(envoyPath()!, { ...identity, metadata: own }, true);
        for (const port of [web, bytes]) await envoy.ready(port);
        return envoy;
      };
      await run({
        ...guarded,
        sender,
        targets: guarded.ports,
        ports: { http: web, tcp: bytes },
        get: async (host) => {
          const answer = await requestHost(web, host);
          return typeof answer === "string" ? answer : `${answer.status}`;
        },
        bytes: async () => {
          const connection = await Deno.connect({ hostname: "127.0.0.1", port: bytes });
          try {
            await connection.write(new TextEncoder().encode(LASTING));
            const read = await connection.read(new Uint8Array(4096)).catch(() => null);
            return read === null ? "closed" : "answered";
          } finally {
            connection.close();
          }
        },
      });
    }));
}

/** Number of outer connections. */
async function carried(envoy: TestEnvoy): Promise<number> {
  const text = (await envoy.admin("stats?filter=^cluster\\.connect_originate;?\\.upstream_cx_total$"))!;
  return Number(/: (\d+)/.exec(text)?.[1] ?? 0);
}

Deno.test(
  "two Envoys: requests and bytes go by HBONE where that is preferred, under the policies for the caller",
  () =>
    withSending(true, async ({ sender, get, bytes, check, envoy }) => {
      const sending = await sender();
      await until("an answer", async () => await get("app.test") === "200");
      assert.equal(await bytes(), "answered");
      assert.ok(await carried(sending) > 0);
      const stats = (await envoy.admin("stats?filter=requests_total.*source_principal"))!;
      assert.match(stats, /source_principal\.spiffe:\/\/cluster\.local\/ns\/demo\/sa\/friend/);
      assert.match(stats, /connection_security_policy\.mutual_tls/);
      assert.match(stats, /source_workload_namespace\.demo/);
      await check({
        name: "others",
        policies: [allow({ from: [{ source: { principals: ["*/guest"] } }] })],
        asked: no({}),
      });
      await until("refused", async () => await get("app.test") === "403" && await bytes() === "closed");
      await check({
        name: "friends",
        policies: [allow({ from: [{ source: { principals: ["*/friend"] } }] })],
        asked: ok({}),
      });
      await until("admitted", async () => await get("app.test") === "200" && await bytes() === "answered");
      assert.equal(await get("other.test"), "503", "a server of another identity");
      const tls = (await sending.admin("stats?filter=^cluster\\.connect_originate.*fail_verify_san"))!;
      assert.match(tls, /: [1-9]/);
    }),
);

Deno.test(
  "mutual TLS has precedence where HBONE is not preferred, which is left for endpoints that take nothing else",
  () =>
    withSending(false, async ({ sender, get, bytes }) => {
      const sending = await sender();
      await until("an answer", async () => await get("app.test") === "200");
      assert.equal(await bytes(), "answered");
      assert.equal(await carried(sending), 0);
      assert.equal(await get("only.test"), "200");
      assert.ok(await carried(sending) > 0);
    }),
);

Deno.test(
  "a proxy that makes no connections by HBONE reaches what takes mutual TLS, and fails at what does not",
  () =>
    withSending(true, async ({ sender, get }) => {
      const sending = await sender({ DISABLE_HBONE_SEND: "true" });
      await until("an answer", async () => await get("app.test") === "200");
      assert.equal(await get("only.test"), "503");
      assert.equal(await carried(sending), 0);
    }),
);

Deno.test("endpoints of one service are reached as each takes connections: by HBONE, by mutual TLS, and in plain text", () =>
  withSending(true, async ({ sender, targets, get }) => {
    await using _plain = Deno.serve(
      { hostname: PLAIN, port: targets.http, onListen() {} },
      () => new Response("plain"),
    );
    const sending = await sender();
    // The workload's mode is STRICT, so both ports refuse unencrypted connections.
    const places = [
      `envoy://connect_originate/127.0.0.1:${targets.http}`,
      `127.0.0.1:${targets.tcp}`,
      `${PLAIN}:${targets.http}`,
    ];
    const answered = async () => {
      const text = (await sending.admin("clusters"))!;
      return places.map((place) => Number(text.split(`mixed.test::${place}::rq_success::`)[1]?.split("\n")[0] ?? 0));
    };
    await until("answers of each", async () => await get("mixed.test") === "200" && Math.min(...await answered()) > 5);
    for (let i = 0; i < 20; i++) assert.equal(await get("mixed.test"), "200");
    assert.ok(await carried(sending) > 0);
  }));

const HEAD = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
const BODY = 1 << 20;

/**
 * An application that answers the first bytes of each connection with a large body. The end of the connection ends the
 * body.
 */
function closingServer(): { readonly port: number } & AsyncDisposable {
  const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answer = new TextEncoder().encode(HEAD + "x".repeat(BODY));
  const serve = async (connection: Deno.Conn) => {
    try {
      await connection.read(new Uint8Array(4096));
      for (let at = 0; at < answer.length;) at += await connection.write(answer.subarray(at));
    } catch {
      // The other side was faster.
    }
    connection.close();
  };
  const served = (async () => {
    for await (const connection of server) void serve(connection);
  })();
  return {
    port: server.addr.port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await served;
    },
  };
}

/** Number of bytes until the connection ends. The client has closed its own side first. */
async function bytesFrom(port: number): Promise<number> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(LASTING));
  await connection.closeWrite();
  const buffer = new Uint8Array(65536);
  let sum = 0;
  for (let read = await connection.read(buffer); read !== null; read = await connection.read(buffer)) sum += read;
  return sum;
}

Deno.test("a server that closes each connection costs no request, and no bytes of a client that has ended its own side", () =>
  withSending(true, async ({ sender, get, ports }) => {
    const sending = await sender();
    await until("an answer", async () => await get("app.test") === "200");
    for (let i = 0; i < 20; i++) {
      const answer = await requestHost(ports.http, "app.test");
      assert.equal(typeof answer === "string" ? answer : answer.body.length, BODY);
    }
    for (let i = 0; i < 20; i++) assert.equal(await bytesFrom(ports.tcp), HEAD.length + BODY);
    assert.ok(await carried(sending) > 0);
  }, closingServer));
