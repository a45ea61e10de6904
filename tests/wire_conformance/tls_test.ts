import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import { X509Certificate } from "node:crypto";
import type { TlsCertificates } from "../../lib/sockets/listen/certificates.ts";
import { listenTls, type TlsListener } from "../../lib/sockets/listen/tls.ts";
import { GrpcServer } from "../../lib/grpc/server.ts";
import { unaryMethod } from "../../lib/grpc/service.ts";
import type { Peer } from "../../lib/sockets/transport/peer.ts";
import { SocketTransport } from "../../lib/sockets/transport/socket.ts";
import { spiffeId } from "../../lib/sockets/transport/spiffe_id.ts";
import { Authority, type Certificate, openssl } from "../certificates.ts";
import { PATIENCE } from "../patience.ts";

/** A server over TLS with a method that returns its request and notes the caller. */
async function serve(certificates: TlsCertificates) {
  const peers: Peer[] = [];
  const echo = unaryMethod({ name: "Echo", input: "x.M", output: "x.M" }, (request, call) => {
    peers.push(call.peer);
    return request;
  });
  const server = new GrpcServer([{ name: "x.Service", methods: [echo] }]);
  const failures: string[] = [];
  const listener = await listenTls(
    { host: "127.0.0.1", port: 0 },
    certificates,
    (socket, state) => server.accept(new SocketTransport(socket, state)),
    { onHandshakeError: (error) => failures.push(error.message) },
  );
  const stop = async () => {
    await Promise.all([listener.close(), server.stop(1000)]);
  };
  return { peers, failures, listener, stop };
}

function call(listener: TlsListener, root: string, own?: Certificate, bytes = new Uint8Array(3)): Promise<Uint8Array> {
  const credentials = own === undefined
    ? grpc.credentials.createSsl(Buffer.from(root))
    : grpc.credentials.createSsl(Buffer.from(root), Buffer.from(own.key), Buffer.from(own.certificate));
  const client = new grpc.Client(`localhost:${listener.port}`, credentials, { "grpc.use_local_subchannel_pool": 1 });
  const same = (message: Uint8Array) => Buffer.from(message);
  const answer = Promise.withResolvers<Uint8Array>();
  client.makeUnaryRequest(
    "/x.Service/Echo",
    same,
    same,
    bytes,
    { deadline: Date.now() + PATIENCE },
    (error, response) => {
      if (error) answer.reject(error);
      else answer.resolve(response!);
    },
  );
  return answer.promise.finally(() => client.close());
}

const pem = (own: Certificate, clients?: Authority): TlsCertificates => ({
  certificate: own.certificate,
  privateKey: own.key,
  ...(clients === undefined ? {} : { clientAuthorities: clients.certificate }),
});

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore: !openssl, fn });

test("a call carries the TLS proof of its client: none without a certificate, the chain with a good one, else the reason", async () => {
  const [ours, theirs] = [await Authority.make("ours"), await Authority.make("theirs")];
  const own = await ours.sign("localhost");
  const { peers, listener, stop } = await serve(pem(own, ours));
  const large = crypto.getRandomValues(new Uint8Array(60_000));
  assert.deepEqual(new Uint8Array(await call(listener, ours.certificate, undefined, large)), large);
  await call(listener, ours.certificate, await ours.sign("friend"));
  await call(listener, ours.certificate, await theirs.sign("stranger"));
  await stop();
  const [anonymous, friend, stranger] = peers.map((peer) => peer.tls!);
  assert.match(peers[0]!.address, /^127\.0\.0\.1:\d+$/);
  assert.deepEqual(anonymous, {
    protocol: "TLSv1.3",
    cipher: anonymous!.cipher,
    serverName: "localhost",
    verified: false,
    unverifiedReason: "no certificate",
    chain: [],
  });
  assert.match(anonymous!.cipher, /^TLS_/);
  assert.deepEqual([friend!.verified, friend!.unverifiedReason], [true, undefined]);
  assert.deepEqual(friend!.chain.map((der) => new X509Certificate(der).subject), ["CN=friend", "CN=ours"]);
  assert.deepEqual([stranger!.verified, stranger!.chain], [false, []]);
  assert.match(stranger!.unverifiedReason!, /^UNABLE_TO_/);
  await Promise.all([ours.remove(), theirs.remove()]);
});

test("a listener without client authorities verifies no client", async () => {
  const ours = await Authority.make("ours");
  const { peers, listener, stop } = await serve(pem(await ours.sign("localhost")));
  await call(listener, ours.certificate, await ours.sign("friend"));
  await stop();
  assert.deepEqual([peers[0]!.tls!.verified, peers[0]!.tls!.unverifiedReason], [false, "no certificate"]);
  await ours.remove();
});

test("a certificate that has expired proves nothing, and harms no one else", async () => {
  const ours = await Authority.make("ours");
  const { peers, failures, listener, stop } = await serve(pem(await ours.sign("localhost"), ours));
  const expired = await ours.sign("late", -1);
  await call(listener, ours.certificate, expired).catch(() => {});
  assert.ok(failures.length > 0 || !peers[0]!.tls!.verified);
  await call(listener, ours.certificate, await ours.sign("friend"));
  assert.equal(peers.at(-1)!.tls!.verified, true);
  await stop();
  await ours.remove();
});

test("certificates are replaced while connections are open, and unusable certificates are refused by name", async () => {
  const [old, next] = [await Authority.make("old"), await Authority.make("next")];
  const own = await old.sign("localhost");
  const { peers, listener, stop } = await serve(pem(own, old));
  await call(listener, old.certificate);
  const other = await next.sign("localhost");
  const refusals: [Partial<TlsCertificates>, RegExp][] = [
    [{ certificate: "junk" }, /^certificate: expected certificates in PEM, got none$/],
    [{ privateKey: "junk" }, /^privateKey: expected a private key in PEM, got none/],
    [{ privateKey: other.key }, /^privateKey: expected the key of certificate "CN=localhost", got another$/],
    [{ clientAuthorities: own.key }, /^clientAuthorities: expected certificates in PEM, got none$/],
  ];
  for (const [wrong, message] of refusals) {
    assert.throws(() => listener.replace({ ...pem(own, old), ...wrong }), { name: "TypeError", message });
  }
  await call(listener, old.certificate);
  listener.replace(pem(other, next));
  await call(listener, next.certificate, await next.sign("friend"));
  await call(listener, next.certificate, await old.sign("former"));
  assert.deepEqual(peers.map((peer) => peer.tls!.verified), [false, false, true, false]);
  await assert.rejects(call(listener, old.certificate), /14 UNAVAILABLE/);
  await stop();
  await Promise.all([old.remove(), next.remove()]);
});

for (const version of ["tls1_2", "tls1_3"]) {
  test(`${version}: a session that is resumed after the authorities were replaced is not verified`, async () => {
    const [old, next] = [await Authority.make("old"), await Authority.make("next")];
    const [own, friend] = [await old.sign("localhost"), await old.sign("friend")];
    const verified: boolean[] = [];
    const listener = await listenTls({ host: "127.0.0.1", port: 0 }, pem(own, old), (socket, state) => {
      verified.push(state.verified);
      socket.on("error", () => {});
      socket.end("bye");
    });
    const folder = await Deno.makeTempDir();
    await Deno.writeTextFile(`${folder}/friend`, friend.certificate + friend.key);
    /** Connects as a client with a kept session. @returns whether the session was resumed */
    const connect = async (session: string[]): Promise<boolean> => {
      const command = new Deno.Command("openssl", {
        args: ["s_client", "-connect", `127.0.0.1:${listener.port}`, "-alpn", "h2", `-${version}`, ...session],
        stdin: "piped",
        stdout: "piped",
        stderr: "null",
      });
      // The client's input stays open, so that the client reads until the server ends: a session of TLS 1.3 comes after
      // the handshake.
      const client = command.spawn();
      const text = await new Response(client.stdout).text();
      await client.stdin.close().catch(() => {});
      await client.status;
      return /^Reused, /m.test(text);
    };
    const first = await connect(["-cert", `${folder}/friend`, "-key", `${folder}/friend`, "-sess_out", `${folder}/s`]);
    const second = await connect(["-sess_in", `${folder}/s`]);
    listener.replace(pem(own, next));
    const third = await connect(["-sess_in", `${folder}/s`]);
    assert.deepEqual([first, second, third], [false, true, true], "resumed");
    assert.deepEqual(verified, [true, true, false]);
    await listener.close();
    await Promise.all([old.remove(), next.remove(), Deno.remove(folder, { recursive: true })]);
  });
}

test("a verified certificate with one SPIFFE URI is the client's identity; a name that looks like one is not", async () => {
  const authority = await Authority.make("root");
  const server = await serve(pem(await authority.sign("localhost"), authority));
  const id = "spiffe://cluster.local/ns/shop/sa/cart";
  try {
    for (
      const [names, expected] of [
        [[["URI", id], ["DNS", "cart"]], id],
        [[["DNS", `a, URI:${id}`]], undefined],
        [[["URI", id], ["URI", `${id}2`]], undefined],
        [[["URI", "https://cluster.local/ns/shop"]], undefined],
        [[["URI", "spiffe://cluster.local/ns/../sa"]], undefined],
      ] as const
    ) {
      await call(server.listener, authority.certificate, await authority.sign("client", 1, names));
      const peer = server.peers.at(-1)!;
      assert.equal(peer.tls?.verified, true);
      assert.equal(spiffeId(peer), expected, JSON.stringify(names));
    }
    await call(server.listener, authority.certificate);
    assert.equal(spiffeId(server.peers.at(-1)!), undefined);
  } finally {
    await server.stop();
    await authority.remove();
  }
});
