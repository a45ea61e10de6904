/** The same server on TLS, on Unix sockets, and on a shared port. */
import assert from "node:assert/strict";
import { isLocalPeer, textResponse } from "../../lib/http/message.ts";
import { byPreface } from "../../lib/sockets/listen/preface.ts";
import { listen } from "../../lib/sockets/listen/tcp.ts";
import { Authority, openssl } from "../certificates.ts";
import { ChainMaker } from "../pki/support/chain_maker.ts";
import { exchange, get, RawClient, withRoutes } from "./support/serve.ts";

const who = get(
  "/who",
  ({ peer }) => textResponse(200, `${peer.tls?.protocol ?? "plain"} ${isLocalPeer(peer)} ${peer.address}`),
);

Deno.test("a Unix socket serves requests one after the other on one connection, and on many connections", async () => {
  const folder = await Deno.makeTempDir();
  await withRoutes([who], async ({ server }) => {
    const path = `${folder}/socket`;
    await server.listenUnix(path, { mode: 0o600 });
    const ask = "GET /who HTTP/1.1\r\nhost: x\r\n\r\n";
    using client = new RawClient(await Deno.connect({ transport: "unix", path }));
    for (let i = 0; i < 3; i++) {
      client.text = "";
      await client.write(ask);
      await client.until(/\r\n\r\nplain true \/.*socket$/);
    }
    await Promise.all(Array.from({ length: 50 }, async () => {
      using other = new RawClient(await Deno.connect({ transport: "unix", path }));
      await other.write(ask.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"));
      assert.match(await other.rest(), /plain true/);
    }));
    await server.close();
    assert.equal(await client.read(), false, "the client hears of the end");
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  });
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a large body and a large response pass a Unix socket whole", async () => {
  const folder = await Deno.makeTempDir();
  const double = {
    ...{ methods: ["POST"] as const, path: "/double", maxBody: 4 * 1024 * 1024 },
    handle: ({ body }: { body: Uint8Array }) => ({ status: 200, body: new Uint8Array([...body, ...body]) }),
  };
  await withRoutes([double], async ({ server }) => {
    const path = `${folder}/socket`;
    await server.listenUnix(path);
    const body = crypto.getRandomValues(new Uint8Array(50_000)).toString().repeat(15);
    using client = new RawClient(await Deno.connect({ transport: "unix", path }));
    const writing = client.write(
      `POST /double HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const answer = await client.rest();
    await writing;
    assert.ok(answer.endsWith(`\r\n\r\n${body}${body}`));
  });
  await Deno.remove(folder, { recursive: true });
});

Deno.test("on a port shared with another protocol, the server gets the connections without the preface", async () => {
  await withRoutes([who], async ({ server }) => {
    const shared = await listen(
      { host: "127.0.0.1", port: 0 },
      byPreface((socket) => socket.end("other").resume(), (socket) => server.accept(socket)),
    );
    using client = await RawClient.connect(shared.port);
    for (let i = 0; i < 2; i++) {
      client.text = "";
      await client.write("GET /who HTTP/1.1\r\nhost: x\r\n\r\n");
      await client.until(/plain true 127\.0\.0\.1:\d+$/);
    }
    assert.equal(await exchange(shared.port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "other");
    await server.close();
    await shared.close();
  });
});

Deno.test({
  name: "over TLS a handler knows what the client proved, and certificates can be replaced",
  ignore: !openssl,
  async fn() {
    const authority = await Authority.make("root");
    const { certificate, key } = await authority.sign("localhost");
    const route = get("/who", ({ peer }) => textResponse(200, `${peer.tls?.verified} ${peer.tls?.chain.length}`));
    await withRoutes([route], async ({ server }) => {
      const certificates = { certificate, privateKey: key, clientAuthorities: authority.certificate };
      const { port, replace } = await server.listenTls("127.0.0.1:0", certificates);
      const asked = async (client: Deno.HttpClient) => {
        using _ = client;
        return await (await fetch(`https://localhost:${port}/who`, { client })).text();
      };
      const caCerts = [authority.certificate];
      assert.equal(await asked(Deno.createHttpClient({ caCerts })), "false 0");
      const client = await authority.sign("client");
      assert.equal(
        await asked(Deno.createHttpClient({ caCerts, cert: client.certificate, key: client.key })),
        "true 2",
      );
      const other = await Authority.make("other");
      const next = await other.sign("localhost");
      replace({ certificate: next.certificate, privateKey: next.key });
      await assert.rejects(asked(Deno.createHttpClient({ caCerts })));
      assert.equal(await asked(Deno.createHttpClient({ caCerts: [other.certificate] })), "false 0");
      await other.remove();
    });
    await authority.remove();
  },
});

Deno.test({
  name: "a client whose certificates break a rule that the runtime does not check has not proven its identity",
  ignore: !openssl,
  async fn() {
    await using maker = await ChainMaker.open();
    const [authority, leaf] = [
      "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n",
      "subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n",
    ];
    const good = await maker.make({ root: authority, between: authority, leaf });
    const key = await maker.key("leaf");
    const route = get("/who", ({ peer }) => textResponse(200, peer.tls?.unverifiedReason ?? "verified"));
    await withRoutes([route], async ({ server }) => {
      const certificate = good.leaf + good.between;
      const { port } = await server.listenTls("127.0.0.1:0", {
        ...{ certificate, privateKey: key, clientAuthorities: good.root },
      });
      const asked = async (cert: string) => {
        using client = Deno.createHttpClient({ caCerts: [good.root], cert, key });
        return await (await fetch(`https://localhost:${port}/who`, { client })).text();
      };
      const chainOf = async (between: string, own: string) => {
        const made = await maker.make({ root: authority, between, leaf: own });
        return made.leaf + made.between;
      };
      assert.equal(await asked(certificate), "verified");
      const mayNotSign = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,digitalSignature\n";
      const weak = await chainOf(mayNotSign, leaf);
      assert.equal(await asked(weak), 'certificate "CN=between" may not sign certificates');
      // The owner shows a second certificate with the same name and key, signed by nobody.
      assert.equal(await asked(weak + await maker.selfSigned("between")), await asked(weak));
      const enciphers = await chainOf(authority, `${leaf}keyUsage=critical,keyEncipherment\n`);
      assert.match(await asked(enciphers), /has a key that is not for digital signatures/);
    });
  },
});
