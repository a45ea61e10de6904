import assert from "node:assert/strict";
import { listenUnix } from "../../lib/sockets/listen/unix.ts";
import type { Transport } from "../../lib/sockets/transport/transport.ts";

/** A temporary folder for a socket. */
async function withPath(body: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(`${folder}/a/socket`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Sends received bytes back. */
function echo(transport: Transport): void {
  transport.start({
    data: (bytes) => transport.write(bytes, () => {}),
    close: () => transport.destroy(),
  });
}

const written = (transport: Transport, bytes: Uint8Array) =>
  new Promise<Error | null | undefined>((resolve) => transport.write(bytes, resolve));

Deno.test("bytes go both ways over a Unix socket, and its file goes when the listener closes", () =>
  withPath(async (path) => {
    const listener = await listenUnix(path, echo, { mode: 0o600 });
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    const client = await Deno.connect({ transport: "unix", path });
    const sent = crypto.getRandomValues(new Uint8Array(50_000));
    const received = new Uint8Array(sent.length);
    const writing = (async () => {
      for (let at = 0; at < sent.length;) at += await client.write(sent.subarray(at));
    })();
    for (let at = 0; at < received.length;) at += (await client.read(received.subarray(at)))!;
    await writing;
    assert.deepEqual(received, sent);
    client.close();
    await listener.close();
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  }));

Deno.test("a transport that is paused reads no more than the bytes under way, and all of them later", () =>
  withPath(async (path) => {
    const accepted = Promise.withResolvers<Transport>();
    const listener = await listenUnix(path, accepted.resolve);
    const client = await Deno.connect({ transport: "unix", path });
    const transport = await accepted.promise;
    let heard = Promise.withResolvers<void>();
    transport.start({ data: () => heard.resolve(), close() {} });
    await client.write(new Uint8Array(1));
    await heard.promise;
    transport.pause();
    heard = Promise.withResolvers();
    await client.write(new Uint8Array(10));
    // A read under way takes these bytes; from then on there are no reads.
    await heard.promise;
    await client.write(new Uint8Array(100));
    assert.equal(transport.bytesRead, 11);
    heard = Promise.withResolvers();
    transport.resume();
    await heard.promise;
    assert.equal(transport.bytesRead, 111);
    transport.destroy();
    client.close();
    await listener.close();
  }));

Deno.test("a client that goes away is noticed, and later writes call back with an error", () =>
  withPath(async (path) => {
    const accepted = Promise.withResolvers<Transport>();
    const listener = await listenUnix(path, accepted.resolve);
    const client = await Deno.connect({ transport: "unix", path });
    const transport = await accepted.promise;
    const gone = Promise.withResolvers<void>();
    transport.start({ data() {}, close: gone.resolve });
    client.close();
    await gone.promise;
    transport.destroy();
    assert.ok(await written(transport, new Uint8Array(1)) instanceof Error);
    await listener.close();
  }));

Deno.test("a socket file whose server was killed is replaced; one in use and a file of another kind are not", () =>
  withPath(async (path) => {
    const killed = await listenUnix(path, echo);
    // A killed process leaves the file without a listener.
    const left = `${path}.left`;
    await Deno.rename(path, left);
    await killed.close();
    const second = await listenUnix(left, echo);
    await assert.rejects(listenUnix(left, echo), { name: "AddrInUse", message: /another process listens there/ });
    (await Deno.connect({ transport: "unix", path: left })).close();
    await second.close();
    await Deno.writeTextFile(path, "precious");
    await assert.rejects(listenUnix(path, echo), { name: "AddrInUse", message: /is a file, not a socket/ });
    assert.equal(await Deno.readTextFile(path), "precious");
  }));

Deno.test("a client learns at once that the server has closed its connection, also while a read waits", () =>
  withPath(async (path) => {
    const accepted = Promise.withResolvers<Transport>();
    const listener = await listenUnix(path, accepted.resolve);
    const client = await Deno.connect({ transport: "unix", path });
    const transport = await accepted.promise;
    const heard = Promise.withResolvers<void>();
    transport.start({ data: () => heard.resolve(), close() {} });
    await client.write(new Uint8Array(1));
    await heard.promise;
    transport.destroy();
    assert.equal(await client.read(new Uint8Array(1)), null);
    client.close();
    await listener.close();
  }));

Deno.test("a listener that takes a path over leaves no moment without a server, and stays when the other ends", () =>
  withPath(async (path) => {
    const heard: string[] = [];
    const hear = (name: string) => (transport: Transport) => {
      heard.push(name);
      echo(transport);
    };
    const call = async () => {
      using client = await Deno.connect({ transport: "unix", path });
      await client.write(new Uint8Array(1));
      await client.read(new Uint8Array(1));
    };
    const first = await listenUnix(path, hear("first"));
    await call();
    const second = await listenUnix(path, hear("second"), { takeOver: true });
    await call();
    await first.close();
    await call();
    assert.deepEqual(heard, ["first", "second", "second"]);
    await second.close();
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
    assert.deepEqual([...Deno.readDirSync(path.slice(0, path.lastIndexOf("/")))], [], "nothing is left in the folder");
  }));
