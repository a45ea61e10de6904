import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { Call } from "../../../lib/grpc/call.ts";
import { callUnary, ClientCall } from "../../../lib/grpc/client/client_call.ts";
import { ClientConnection, type ClientConnectionOptions } from "../../../lib/grpc/client/client_connection.ts";
import { dial } from "../../../lib/grpc/client/dial.ts";
import { Code } from "../../../lib/grpc/codes.ts";
import { GrpcServer } from "../../../lib/grpc/server.ts";
import { unaryMethod } from "../../../lib/grpc/service.ts";
import { RpcError } from "../../../lib/grpc/status.ts";
import { listen } from "../../../lib/sockets/listen/tcp.ts";
import { SocketTransport } from "../../../lib/sockets/transport/socket.ts";
import { PATIENCE } from "../../patience.ts";

const shape = { input: "google.protobuf.Struct", output: "google.protobuf.Struct" };
const bytes = (length: number, value = 7) => new Uint8Array(length).fill(value);

/**
 * `Once` and `Stream` repeat the request; `Fail` answers with a status; `Big` with 8 MB, packed as two gzip members.
 */
const service = {
  name: "test.Echo",
  methods: [
    unaryMethod({ name: "Once", ...shape }, (request) => request),
    unaryMethod({ name: "Fail", ...shape }, () => {
      throw new RpcError(Code.NOT_FOUND, "no ä % here");
    }),
    unaryMethod({ name: "Never", ...shape }, () => new Promise(() => {})),
    {
      name: "Stream",
      ...shape,
      ...{ clientStreaming: true, serverStreaming: true },
      handle: (call: Call) => call.start({ message: (message) => call.send([message.slice()], false) }),
    },
    {
      name: "Big",
      ...shape,
      handle: (call: Call) =>
        call.start({
          message() {
            const half = gzipSync(bytes(4_000_000));
            call.send([half, half], call.acceptsGzip);
            call.end();
          },
        }),
    },
  ],
};

interface Connected {
  readonly server: GrpcServer;
  readonly connection: ClientConnection;
  call(method: string): { authority: string; path: string; maxMessageSize: number };
}

async function connected(
  test: (parts: Connected) => Promise<void>,
  options: ClientConnectionOptions = {},
): Promise<void> {
  const server = new GrpcServer([service]);
  const listener = await listen(
    { host: "127.0.0.1", port: 0 },
    (socket) => server.accept(new SocketTransport(socket)),
  );
  const transport = await dial({ host: "127.0.0.1", port: listener.port }, PATIENCE);
  const connection = new ClientConnection(transport, options);
  try {
    const call = (method: string) => ({
      authority: `127.0.0.1:${listener.port}`,
      path: `/test.Echo/${method}`,
      maxMessageSize: 16_000_000,
    });
    await test({ server, connection, call });
  } finally {
    connection.close();
    await listener.close();
    await server.stop(0);
  }
}

/** Messages and end of a streaming call, awaitable. */
function stream(connection: ClientConnection, options: ReturnType<Connected["call"]>) {
  const messages: Uint8Array[] = [];
  const ended = Promise.withResolvers<RpcError | undefined>();
  let waiting: { readonly count: number; readonly resolve: () => void } | undefined;
  const call = new ClientCall(connection, options, {
    message(message) {
      messages.push(message.slice());
      if (waiting !== undefined && messages.length >= waiting.count) waiting.resolve();
    },
    end: (status) => ended.resolve(status),
  });
  const received = (count: number) =>
    new Promise<void>((resolve) => messages.length >= count ? resolve() : waiting = { count, resolve });
  return { call, messages, received, ended: ended.promise };
}

Deno.test("a call has its response, a failed one its status and text", async () => {
  await connected(async ({ connection, call }) => {
    assert.deepEqual(await callUnary(connection, call("Once"), bytes(3), PATIENCE), bytes(3));
    await assert.rejects(callUnary(connection, call("Fail"), bytes(1), PATIENCE), {
      code: Code.NOT_FOUND,
      message: "no ä % here",
    });
    await assert.rejects(callUnary(connection, call("Nowhere"), bytes(1), PATIENCE), { code: Code.UNIMPLEMENTED });
    await assert.rejects(callUnary(connection, call("Never"), bytes(1), 50), { code: Code.DEADLINE_EXCEEDED });
    assert.deepEqual(await callUnary(connection, call("Once"), bytes(4), PATIENCE), bytes(4));
  });
});

Deno.test("messages larger than every window pass in both directions, and in their order", async () => {
  await connected(async ({ connection, call }) => {
    const { call: echo, messages, received, ended } = stream(connection, call("Stream"));
    for (const [i, size] of [0, 100_000, 3_000_000, 5].entries()) echo.send(bytes(size, i));
    await received(4);
    assert.deepEqual(messages.map(({ length }) => length), [0, 100_000, 3_000_000, 5]);
    assert(messages.every((message, i) => message.every((byte) => byte === i)));
    echo.halfClose();
    assert.equal(await ended, undefined);
  });
});

Deno.test("compressed messages of several gzip members are unpacked, up to the limit", async () => {
  await connected(async ({ connection, call }) => {
    const response = await callUnary(connection, call("Big"), bytes(1), PATIENCE);
    assert.equal(response.length, 8_000_000);
    const small = { ...call("Big"), maxMessageSize: 7_000_000 };
    await assert.rejects(callUnary(connection, small, bytes(1), PATIENCE), { code: Code.RESOURCE_EXHAUSTED });
  });
});

Deno.test("a server that stops ends the calls with UNAVAILABLE, and the connection takes no more", async () => {
  const closed = Promise.withResolvers<string>();
  await connected(async ({ server, connection, call }) => {
    const { call: echo, received, ended } = stream(connection, call("Stream"));
    echo.send(bytes(1));
    await received(1);
    await server.stop(1000);
    assert.equal((await ended)?.code, Code.UNAVAILABLE);
    await closed.promise;
    assert.equal(connection.usable, false);
    await assert.rejects(callUnary(connection, call("Once"), bytes(1), PATIENCE), { code: Code.UNAVAILABLE });
  }, { onClose: closed.resolve });
});

Deno.test("a cancelled call ends once, and others on the connection go on", async () => {
  await connected(async ({ connection, call }) => {
    const { call: echo, ended } = stream(connection, call("Stream"));
    echo.cancel();
    echo.cancel();
    assert.equal((await ended)?.code, Code.CANCELLED);
    assert.deepEqual(await callUnary(connection, call("Once"), bytes(2), PATIENCE), bytes(2));
  });
});

Deno.test("a server that shows no sign of life is given up", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = silent.accept();
  const transport = await dial({ host: "127.0.0.1", port: silent.addr.port }, PATIENCE);
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  const connection = new ClientConnection(transport, { keepaliveInterval: 20, keepaliveTimeout: 40, onClose: resolve });
  const { ended } = stream(connection, { authority: "a", path: "/test.Echo/Stream", maxMessageSize: 1 });
  assert.match(await closed, /no sign of life/);
  assert.equal((await ended)?.code, Code.UNAVAILABLE);
  (await accepted).close();
});

Deno.test("a server that cannot be reached, or breaks off, is named with the reason", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = silent.addr;
  silent.accept().then((connection) => connection.close());
  await assert.rejects(
    dial({ host: "127.0.0.1", port, tls: { serverName: "a" } }, PATIENCE),
    new RegExp(`^Error: 127\\.0\\.0\\.1:${port}: `),
  );
  silent.accept().then(() => {}, () => {});
  await assert.rejects(dial({ host: "127.0.0.1", port, tls: { serverName: "a" } }, 50), /no connection within 0.05 s/);
});
