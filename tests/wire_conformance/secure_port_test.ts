/** The secure port of a whole server: accepted clients, their identity, and the work of TLS meanwhile. */
import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { Authority, type Certificate, openssl } from "../certificates.ts";
import { page, withServer } from "../discovery/running.ts";
import { ENTRY } from "./support/entry.ts";
import { outcomeOf, SecureClient } from "./support/secure_client.ts";

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore: !openssl, fn });

/** A server with a secure port and a certificate in files. */
interface SecureServer {
  readonly ca: Authority;
  readonly issuer: TestIssuer;
  readonly ports: { readonly grpc: number; readonly http: number; readonly secure: number };
  /** A certificate of a workload. */
  client(namespace: string, account: string): Promise<Certificate>;
  /** Writes the server's certificate and the roots of clients anew. */
  write(own: Certificate, roots: string): Promise<void>;
}

async function withSecureServer(
  run: (server: SecureServer) => Promise<void>,
  settings: Partial<SettingsOf<"pilot-discovery">> = {},
  cipherSuites: readonly string[] = [],
): Promise<void> {
  await using issuer = await TestIssuer.start();
  const ca = await Authority.make("ours");
  const folder = await Deno.makeTempDir();
  const files = { tlsCertFile: `${folder}/cert`, tlsKeyFile: `${folder}/key`, caCertFile: `${folder}/ca` };
  const write = async (own: Certificate, roots: string) => {
    await Deno.writeTextFile(files.tlsCertFile, own.certificate);
    await Deno.writeTextFile(files.tlsKeyFile, own.key);
    await Deno.writeTextFile(files.caCertFile, roots);
  };
  await write(await ca.sign("localhost"), ca.certificate);
  const JWT_RULE = JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, audiences: ["mesh-ca"] });
  try {
    await withServer({ "a.yaml": ENTRY }, async ({ ports }) => {
      const { grpc, http, secureGrpc } = ports;
      const client = (namespace: string, account: string) =>
        ca.sign("", 1, [["URI", `spiffe://cluster.local/ns/${namespace}/sa/${account}`]]);
      await run({ ca, issuer, write, client, ports: { grpc, http, secure: secureGrpc! } });
    }, {
      options: { secureGrpc: "127.0.0.1:0", tls: { files, cipherSuites } },
      settings: { ENABLE_CA_SERVER: false, JWT_RULE, ...settings },
    });
  } finally {
    await ca.remove();
    await Deno.remove(folder, { recursive: true });
  }
}

test("over TLS a proxy gets its configuration by a certificate or a token of its own, and by nothing else", () =>
  withSecureServer(async ({ ca, issuer, ports, client }) => {
    const at = { port: ports.secure, root: ca.certificate };
    const cart = await client("shop", "cart");
    assert.equal(await outcomeOf({ ...at, own: cart }), "served");
    assert.equal(await outcomeOf({ ...at, own: cart, serviceAccount: "" }), "served");
    assert.equal(await outcomeOf({ ...at, token: await issuer.token() }), "served");
    assert.equal(
      await outcomeOf(at),
      "UNAUTHENTICATED: not authenticated: client certificate: no certificate; JWT_RULE: no token",
    );
    const id = "spiffe://cluster.local/ns/shop/sa/cart";
    for (const proof of [{ own: cart }, { token: await issuer.token() }]) {
      assert.equal(
        await outcomeOf({ ...at, ...proof, namespace: "pay" }),
        `PERMISSION_DENIED: the node does not belong to ${id}: namespace: got "pay", expected "shop"`,
      );
      assert.equal(
        await outcomeOf({ ...at, ...proof, serviceAccount: "till" }),
        `PERMISSION_DENIED: the node does not belong to ${id}: service account: got "till", expected "cart"`,
      );
    }
    const theirs = await Authority.make("theirs");
    const forged = await theirs.sign("", 1, [["URI", id]]);
    assert.match(await outcomeOf({ ...at, own: forged }), /^UNAUTHENTICATED: .*client certificate: UNABLE_TO_/);
    assert.equal(await outcomeOf({ ...at, own: forged, token: await issuer.token() }), "served");
    const forwarded = { "x-forwarded-client-cert": `URI=${id}` };
    assert.match(await outcomeOf({ ...at, headers: forwarded }), /^UNAUTHENTICATED: /);
    await theirs.remove();
  }));

test("a connected proxy's proven identity is on the debug pages; in plain text there is none", () =>
  withSecureServer(async ({ ca, issuer, ports, client }) => {
    const secure = new SecureClient({ port: ports.secure, root: ca.certificate, own: await client("shop", "cart") });
    const plain = new SecureClient({ port: ports.grpc, token: await issuer.token() });
    assert.deepEqual([await secure.outcome(), await plain.outcome()], ["served", "served"]);
    const { clients } = JSON.parse((await page(ports.http, "/debug/adsz")).body);
    const identities = clients.map((one: { identity?: string }) => one.identity).sort();
    assert.deepEqual(identities, ["spiffe://cluster.local/ns/shop/sa/cart", undefined]);
    secure.close();
    plain.close();
  }));

test("XDS_AUTH_PLAINTEXT asks for proof in plain text, too", () =>
  withSecureServer(async ({ issuer, ports }) => {
    const at = { port: ports.grpc };
    assert.match(
      await outcomeOf(at),
      /^UNAUTHENTICATED: .*client certificate: none, the connection is in plain text; JWT_RULE: no token$/,
    );
    assert.equal(await outcomeOf({ ...at, token: await issuer.token() }), "served");
    assert.match(await outcomeOf({ ...at, token: await issuer.token(), namespace: "pay" }), /^PERMISSION_DENIED: /);
  }, { XDS_AUTH_PLAINTEXT: true }));

test("without XDS_AUTH nobody proves anything; without the identity check a proof serves any node, and as nobody", async () => {
  await withSecureServer(async ({ ca, ports }) => {
    assert.equal(await outcomeOf({ port: ports.secure, root: ca.certificate }), "served");
  }, { XDS_AUTH: false });
  await withSecureServer(async ({ ca, ports, client }) => {
    const own = await client("shop", "cart");
    const other = new SecureClient({ port: ports.secure, root: ca.certificate, own, namespace: "pay" });
    assert.equal(await other.outcome(), "served");
    const { clients: [connected] } = JSON.parse((await page(ports.http, "/debug/adsz")).body);
    assert.equal(connected.identity, undefined);
    other.close();
    assert.match(await outcomeOf({ port: ports.secure, root: ca.certificate }), /^UNAUTHENTICATED: /);
  }, { PILOT_ENABLE_XDS_IDENTITY_CHECK: false });
});

test("gateways in TRUSTED_GATEWAY_CIDR, and those of this machine, may forward a client's certificate", () =>
  withSecureServer(async ({ ca, ports }) => {
    const forwarded = { "x-forwarded-client-cert": "Hash=1;URI=spiffe://cluster.local/ns/shop/sa/cart" };
    assert.equal(await outcomeOf({ port: ports.secure, root: ca.certificate, headers: forwarded }), "served");
  }, { TRUSTED_GATEWAY_CIDR: "192.0.2.0/24" }));

test("a new certificate and new roots are used without a restart; streams that are open stay", () =>
  withSecureServer(async ({ ca, ports, client, write }) => {
    const cart = await client("shop", "cart");
    const open = new SecureClient({ port: ports.secure, root: ca.certificate, own: cart });
    assert.equal(await open.outcome(), "served");
    const next = await Authority.make("next");
    const theirs = await next.sign("", 1, [["URI", "spiffe://cluster.local/ns/shop/sa/cart"]]);
    await write(await next.sign("localhost"), ca.certificate + next.certificate);
    // Until the server has read the files, the client refuses the connection.
    while (await outcomeOf({ port: ports.secure, root: next.certificate, own: theirs }) !== "served");
    assert.equal(
      await outcomeOf({ port: ports.secure, root: next.certificate, own: cart }),
      "served",
      "the old root stays",
    );
    await write({ certificate: "junk", key: "junk" }, "junk");
    await write(await next.sign("localhost"), next.certificate);
    while (!/^UNAUTHENTICATED/.test(await outcomeOf({ port: ports.secure, root: next.certificate, own: cart })));
    assert.equal(await outcomeOf({ port: ports.secure, root: next.certificate, own: theirs }), "served");
    assert.equal(await Promise.race([open.status, Promise.resolve("open")]), "open");
    open.close();
    await next.remove();
  }));

test("openssl agrees: h2 by ALPN, a chain that verifies, a session that is resumed", () =>
  withSecureServer(async ({ ca, ports }) => {
    const folder = await Deno.makeTempDir();
    const ask = async (...args: string[]) => {
      const target = ["-connect", `127.0.0.1:${ports.secure}`, "-CAfile", ca.file, "-servername", "localhost"];
      const child = new Deno.Command("openssl", {
        args: ["s_client", ...target, "-alpn", "h2", ...args],
        stdin: "piped",
        stdout: "piped",
        stderr: "null",
      }).spawn();
      let text = "";
      // The server's first frame, of zeros mostly, comes after the session.
      for await (const chunk of child.stdout) {
        text += new TextDecoder().decode(chunk);
        if (text.includes("\0\0\0")) break;
      }
      await child.stdin.close();
      await child.status;
      return text;
    };
    const first = await ask("-sess_out", `${folder}/session`);
    assert.match(first, /^ALPN protocol: h2$/m);
    assert.match(first, /Verify return code: 0 \(ok\)/);
    assert.match(first, /^New, TLSv1\.3, Cipher is TLS_AES_256_GCM_SHA384$/m);
    assert.match(await ask("-sess_in", `${folder}/session`), /^Reused, TLSv1\.3, Cipher is TLS_AES_256_GCM_SHA384$/m);
    await Deno.remove(folder, { recursive: true });
  }));

test("--tls-cipher-suites and COMPLIANCE_POLICY hold on the secure port", async () => {
  const protocols = (suites: string[], settings: Partial<SettingsOf<"pilot-discovery">>) =>
    new Promise<(string | null)[]>((resolve, reject) => {
      withSecureServer(
        async ({ ca, ports }) => {
          const found = ["TLSv1.2", "TLSv1.3"].map(async (version) => {
            const only = version as tls.SecureVersion;
            const to = { host: "127.0.0.1", port: ports.secure, servername: "localhost", ALPNProtocols: ["h2"] };
            const socket = tls.connect({ ...to, ca: ca.certificate, minVersion: only, maxVersion: only });
            const outcome = await Promise.race([
              once(socket, "secureConnect").then(() => socket.getProtocol(), () => null),
              once(socket, "error").then(() => null),
            ]);
            socket.destroy();
            return outcome;
          });
          resolve(await Promise.all(found));
        },
        settings,
        suites,
      ).catch(reject);
    });
  assert.deepEqual(await protocols([], {}), ["TLSv1.2", "TLSv1.3"]);
  assert.deepEqual(await protocols(["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"], {}), [null, "TLSv1.3"]);
  assert.deepEqual(await protocols(["TLS_AES_128_GCM_SHA256"], { COMPLIANCE_POLICY: "fips-140-2" }), ["TLSv1.2", null]);
});

test("health and reflection are on the secure port, for everybody", () =>
  withSecureServer(async ({ ca, ports }) => {
    const credentials = grpc.credentials.createSsl(Buffer.from(ca.certificate));
    const client = new grpc.Client(`localhost:${ports.secure}`, credentials, { "grpc.use_local_subchannel_pool": 1 });
    const same = (bytes: Uint8Array) => Buffer.from(bytes);
    const health = await new Promise<Uint8Array>((resolve, reject) => {
      client.makeUnaryRequest("/grpc.health.v1.Health/Check", same, same, new Uint8Array(), (error, answer) => {
        if (error) reject(error);
        else resolve(answer!);
      });
    });
    assert.deepEqual([...health], [8, 1], "SERVING");
    const services = await new Promise<string>((resolve, reject) => {
      const call = client.makeBidiStreamRequest(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        same,
        same,
      );
      call.on("data", (bytes: Uint8Array) => resolve(new TextDecoder().decode(bytes)));
      call.on("error", reject);
      // list_services: "*"
      call.write(Uint8Array.of(0x3a, 1, 0x2a));
    });
    assert.match(services, /AggregatedDiscoveryService/);
    client.close();
  }));

test("400 agents connect at once while slow handshakes and garbage are under way, and all are served", () =>
  withSecureServer(async ({ ca, ports, client }) => {
    const hostile = await Promise.all(Array.from({ length: 50 }, async (_, i) => {
      const socket = net.connect(ports.secure, "127.0.0.1").on("error", () => {}).resume();
      await once(socket, "connect");
      socket.write(i % 2 === 0 ? new Uint8Array([22, 3, 1, 0x3f, 0xff, 1]) : "GET / HTTP/1.1\r\n\r\n");
      return socket;
    }));
    const own = await client("shop", "cart");
    const agents = Array.from(
      { length: 400 },
      () => new SecureClient({ port: ports.secure, root: ca.certificate, own }),
    );
    const outcomes = await Promise.all(agents.map((agent) => agent.outcome()));
    assert.deepEqual([...new Set(outcomes)], ["served"]);
    for (const agent of agents) agent.close();
    for (const socket of hostile) socket.destroy();
  }));
