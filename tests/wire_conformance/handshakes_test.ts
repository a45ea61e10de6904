import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { listenTls, type TlsListenOptions } from "../../lib/sockets/listen/tls.ts";
import { GrpcServer } from "../../lib/grpc/server.ts";
import { SocketTransport } from "../../lib/sockets/transport/socket.ts";
import { Authority, openssl } from "../certificates.ts";

/** A server of at most two connections over TLS. */
async function serve(options: TlsListenOptions = {}) {
  const authority = await Authority.make("ours");
  const { certificate, key } = await authority.sign("localhost");
  const server = new GrpcServer([], { maxConnections: 2 });
  const failures: string[] = [];
  const refused: string[] = [];
  const listener = await listenTls(
    { host: "127.0.0.1", port: 0 },
    { certificate, privateKey: key },
    (socket, state) => server.accept(new SocketTransport(socket, state)),
    {
      places: server.places,
      onHandshakeError: (error) => failures.push(error.message),
      onRefused: (address) => refused.push(address),
      ...options,
    },
  );
  const open = async () => {
    const socket = net.connect(listener.port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    // Only a reader sees the end of a connection.
    return socket.resume();
  };
  const connect = async () => {
    const client = tls.connect({
      ...{ host: "127.0.0.1", port: listener.port, servername: "localhost", ALPNProtocols: ["h2"] },
      ca: authority.certificate,
    });
    client.on("error", () => {});
    await once(client, "secureConnect");
    return client;
  };
  const stop = async () => {
    await Promise.all([listener.close(), server.stop(0)]);
    await authority.remove();
  };
  return { authority, server, listener, failures, refused, open, connect, stop };
}

/** Resolves when a socket has closed, by a reset or otherwise. */
function closed(socket: net.Socket): Promise<void> {
  return new Promise((resolve) => void (socket.destroyed ? resolve() : socket.once("close", () => resolve())));
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore: !openssl, fn });

test("a handshake in progress takes a place among the connections, and gives it back or hands it on", async () => {
  const at = await serve();
  const [first, second] = [await at.open(), await at.open()];
  await until(() => at.server.places.taken === 2);
  first.destroy();
  await until(() => at.server.places.taken === 1);
  const client = await at.connect();
  await until(() => [...at.server.connections].length === 1);
  assert.equal(at.server.places.taken, 2, "one connection, and one handshake that has not begun");
  client.destroy();
  second.destroy();
  await until(() => at.server.places.taken === 0);
  await at.stop();
});

test("a handshake that never begins gives its place to a new one, the oldest first; connections keep theirs", async () => {
  const at = await serve();
  const [first, second] = [await at.open(), await at.open()];
  await until(() => at.server.places.taken === 2);
  const left = [closed(first), closed(second)];
  const one = await at.connect();
  await left[0];
  assert.equal(second.destroyed, false);
  const two = await at.connect();
  await left[1];
  assert.deepEqual(at.refused.map((address) => address.split(":")[0]), ["127.0.0.1", "127.0.0.1"]);
  await until(() => [...at.server.connections].length === 2);
  await closed(await at.open());
  assert.equal(at.refused.length, 3, "two connections hold all places");
  assert.deepEqual([one.destroyed, two.destroyed], [false, false]);
  one.destroy();
  two.destroy();
  await until(() => at.server.places.taken === 0);
  await at.stop();
});

test("bytes that are no handshake end their connection at once, with an error, and give their place back", async () => {
  const at = await serve();
  for (const bytes of ["GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\xff\xff".repeat(5000), "\0".repeat(100)]) {
    const socket = await at.open();
    socket.write(bytes);
    await closed(socket);
  }
  assert.equal(at.failures.length, 3, at.failures.join("; "));
  await until(() => at.server.places.taken === 0);
  (await at.connect()).destroy();
  await at.stop();
});

test("a handshake that is not done in time is broken off, however it drips", async () => {
  const at = await serve({ handshakeTimeout: 200 });
  const slow = await at.open();
  const over = closed(slow);
  // The head of a record of 16 kB, and then its content byte by byte.
  slow.write(new Uint8Array([22, 3, 1, 0x3f, 0xff, 1, 0, 0x3f, 0xfb]));
  const drip = setInterval(() => slow.write(new Uint8Array([0])), 20);
  await over;
  clearInterval(drip);
  assert.match(at.failures.join(), /TLS handshake not done within 0\.2 s/);
  await until(() => at.server.places.taken === 0);
  await at.stop();
});

test("the end of a listener breaks off handshakes instead of waiting for them", async () => {
  const at = await serve({ handshakeTimeout: 600_000 });
  const silent = await at.open();
  await until(() => at.server.places.taken === 1);
  const over = closed(silent);
  await at.stop();
  await over;
  assert.equal(at.server.places.taken, 0);
});
