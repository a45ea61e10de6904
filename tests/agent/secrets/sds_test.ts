import assert from "node:assert/strict";
import {
  type AgentSecret,
  encodeSecret,
  SECRET_TYPE,
  type SecretListener,
  type SecretSource,
} from "../../../lib/agent/secrets/agent_secret.ts";
import { readResponse } from "../../../lib/agent/relay/messages.ts";
import { sdsService } from "../../../lib/agent/secrets/sds_service.ts";
import { callUnary, ClientCall } from "../../../lib/grpc/client/client_call.ts";
import { ClientConnection } from "../../../lib/grpc/client/client_connection.ts";
import { dial } from "../../../lib/grpc/client/dial.ts";
import { Code } from "../../../lib/grpc/codes.ts";
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";
import { GrpcServer } from "../../../lib/grpc/server.ts";
import type { RpcError } from "../../../lib/grpc/status.ts";
import { openLog } from "../../discovery/open_log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { utf8Bytes } from "../../../lib/resource/protowire.ts";
import { listenUnix } from "../../../lib/sockets/listen/unix.ts";
import { PATIENCE, until } from "../../patience.ts";

/** Secrets set by a test. */
class TestSecrets implements SecretSource {
  readonly listeners = new Map<string, Set<SecretListener>>([["default", new Set()], ["ROOTCA", new Set()]]);
  readonly #secrets = new Map<string, AgentSecret>();

  watch(name: string, listener: SecretListener): (() => void) | undefined {
    const listeners = this.listeners.get(name);
    if (listeners === undefined) return undefined;
    listeners.add(listener);
    const secret = this.#secrets.get(name);
    if (secret !== undefined) listener.secret(secret);
    return () => void listeners.delete(listener);
  }

  set(name: string, roots: string): AgentSecret {
    const secret: AgentSecret = { kind: "roots", roots };
    this.#secrets.set(name, secret);
    for (const listener of this.listeners.get(name)!) listener.secret(secret);
    return secret;
  }
}

interface SdsStreamOfTest {
  readonly call: ClientCall;
  readonly messages: Uint8Array[];
  readonly ended: Promise<RpcError | undefined>;
}

const PATH = "/envoy.service.secret.v3.SecretDiscoveryService/";

async function served(
  test: (
    secrets: TestSecrets,
    open: (method: string) => SdsStreamOfTest,
    connection: ClientConnection,
    page: () => Promise<string>,
    lines: readonly Record<string, unknown>[],
  ) => Promise<void>,
): Promise<void> {
  const metrics = createMetrics("pilot-agent");
  const { log, lines } = openLog();
  const folder = await Deno.makeTempDir();
  const secrets = new TestSecrets();
  const server = new GrpcServer([sdsService(secrets, { log: log.scope("default"), metrics })]);
  const listener = await listenUnix(`${folder}/socket`, (transport) => server.accept(transport));
  const connection = new ClientConnection(await dial({ path: `${folder}/socket` }, PATIENCE));
  const open = (method: string) => {
    const messages: Uint8Array[] = [];
    const { promise: ended, resolve } = Promise.withResolvers<RpcError | undefined>();
    const call = new ClientCall(connection, { authority: "sds", path: PATH + method }, {
      message: (bytes) => void messages.push(new Uint8Array(bytes)),
      end: resolve,
    });
    return { call, messages, ended };
  };
  try {
    await test(secrets, open, connection, async () => (await metrics.scrape()).body, lines);
  } finally {
    connection.close();
    await listener.close();
    await server.stop(0);
    await Deno.remove(folder, { recursive: true });
  }
}

const ask = (names: readonly string[]) => {
  const out = new MessageWriter();
  for (const name of names) out.string(3, name);
  return out.string(4, SECRET_TYPE).finish();
};

Deno.test("a stream waits for a missing secret, and gets each later version once", async () => {
  await served(async (secrets, open) => {
    const { call, messages } = open("StreamSecrets");
    call.send(ask(["default"]));
    await until("it is watched", () => secrets.listeners.get("default")!.size === 1);
    for (const text of ["one", "two", "two", "three"]) secrets.set("default", text);
    secrets.set("ROOTCA", "not asked for");
    await until("three came", () => messages.length === 3);
    const bodies = messages.map((bytes) => readResponse("sotw", bytes).resources[0]!.body);
    const expected = ["one", "two", "three"].map((roots) => encodeSecret("default", { kind: "roots", roots }).bytes);
    assert.deepEqual(bodies, expected);
    call.send(ask(["default", "ROOTCA"]));
    await until("the other one came", () => messages.length === 4);
    call.cancel();
    await until("nothing is watched", () => [...secrets.listeners.values()].every(({ size }) => size === 0));
  });
});

Deno.test("a name without a secret ends the stream, with the reason", async () => {
  await served(async (secrets, open) => {
    secrets.set("ROOTCA", "roots");
    const unknown = open("StreamSecrets");
    unknown.call.send(ask(["ROOTCA", "nobody"]));
    const status = await unknown.ended;
    assert.equal(status?.code, Code.NOT_FOUND);
    assert.match(status!.message, /"nobody"/);
    const failing = open("StreamSecrets");
    failing.call.send(ask(["default"]));
    await until("it is watched", () => secrets.listeners.get("default")!.size === 1);
    for (const listener of secrets.listeners.get("default")!) listener.failed("the file is gone");
    assert.deepEqual([(await failing.ended)?.code, (await failing.ended)?.message], [
      Code.UNAVAILABLE,
      'secret "default": the file is gone',
    ]);
    await until("nothing is watched", () => [...secrets.listeners.values()].every(({ size }) => size === 0));
  });
});

Deno.test("over delta, a secret that the client has is not sent again", async () => {
  await served(async (secrets, open) => {
    const had = encodeSecret("ROOTCA", secrets.set("ROOTCA", "roots"));
    const fresh = encodeSecret("default", secrets.set("default", "leaf"));
    const { call, messages } = open("DeltaSecrets");
    const entry = new MessageWriter().string(1, "ROOTCA").bytes(2, utf8Bytes(had.version)).finish();
    const request = new MessageWriter().string(2, SECRET_TYPE).string(3, "ROOTCA").string(3, "default");
    call.send(request.bytes(5, entry).finish());
    await until("one came", () => messages.length === 1);
    const { resources } = readResponse("delta", messages[0]!);
    assert.deepEqual(resources.map(({ name, version }) => [name, version]), [["default", fresh.version]]);
    secrets.set("ROOTCA", "others");
    await until("the change came", () => messages.length === 2);
    call.send(new MessageWriter().string(2, SECRET_TYPE).string(4, "ROOTCA").finish());
    await until("it is not watched", () => secrets.listeners.get("ROOTCA")!.size === 0);
  });
});

Deno.test("a single fetch waits for all that it names, and fails as a whole", async () => {
  await served(async (secrets, _, connection) => {
    const options = { authority: "sds", path: `${PATH}FetchSecrets` };
    const answer = callUnary(connection, options, ask(["default", "ROOTCA"]), PATIENCE);
    await until("both are watched", () => [...secrets.listeners.values()].every(({ size }) => size === 1));
    secrets.set("ROOTCA", "roots");
    secrets.set("default", "leaf");
    assert.equal(readResponse("sotw", await answer).resources.length, 2);
    await assert.rejects(callUnary(connection, options, ask(["ROOTCA", "nobody"]), PATIENCE), { code: Code.NOT_FOUND });
  });
});

Deno.test("metrics count secrets that were sent, that the client rejects, and answers to one that is not the last", async () => {
  for (const [method, fields] of [["StreamSecrets", [4, 5, 6]], ["DeltaSecrets", [2, 6, 7]]] as const) {
    await served(async (secrets, open, _, page) => {
      const [type, nonce, error] = fields;
      const answer = (to: string) =>
        new MessageWriter().string(3, "default").string(type, SECRET_TYPE).string(nonce, to);
      const { call, messages } = open(method);
      call.send(answer("").finish());
      await until("it is watched", () => secrets.listeners.get("default")!.size === 1);
      for (const text of ["one", "two"]) secrets.set("default", text);
      await until("both came", () => messages.length === 2);
      await until("both are measured", async () => /^pilot_xds_send_time_count 2$/m.test(await page()));
      call.send(answer("1").finish());
      call.send(answer("2").bytes(error, new MessageWriter().varint(1, 13).string(2, "a bad key").finish()).finish());
      await until("the rejection counts", async () => /^pilot_total_xds_rejects\{type="sds"\} 1$/m.test(await page()));
      assert.match(await page(), /^pilot_xds_expired_nonce\{type="sds"\} 1$/m);
      call.cancel();
    });
  }
});

Deno.test("a request names at most a thousand secrets, on a stream and in a fetch", async () => {
  await served(async (secrets, open, connection) => {
    const names = Array.from({ length: 1001 }, (_, i) => `made-up-${i}`);
    const tooMany = { code: Code.RESOURCE_EXHAUSTED, message: "more than 1000 secrets on one stream" };
    for (const method of ["StreamSecrets", "DeltaSecrets"]) {
      const { call, ended } = open(method);
      call.send(ask(names));
      const { code, message } = await ended ?? {};
      assert.deepEqual({ code, message }, tooMany);
    }
    const options = { authority: "sds", path: `${PATH}FetchSecrets` };
    await assert.rejects(callUnary(connection, options, ask(names), PATIENCE), tooMany);
    assert.deepEqual([...secrets.listeners.values()].map(({ size }) => size), [0, 0]);
  });
});

Deno.test("nothing is kept of versions of secrets that a client does not want, nor more of a rejection than fits a line", async () => {
  await served(async (secrets, open, _, __, lines) => {
    secrets.set("default", "leaf");
    const { call, messages } = open("DeltaSecrets");
    const request = new MessageWriter().string(2, SECRET_TYPE).string(3, "default");
    for (let i = 0; i < 100; i++) {
      request.bytes(5, new MessageWriter().string(1, `made-up-${i}`).bytes(2, utf8Bytes("1")).finish());
    }
    call.send(request.finish());
    await until("the secret came", () => messages.length === 1);
    const error = new MessageWriter().varint(1, 13).string(2, "x".repeat(100_000)).finish();
    call.send(new MessageWriter().string(2, SECRET_TYPE).string(6, "1").bytes(7, error).finish());
    const rejection = () => lines.map(({ msg }) => String(msg)).find((msg) => msg.includes("rejected"));
    await until("the rejection is logged", () => rejection() !== undefined);
    assert.match(rejection()!, /^the proxy rejected secrets default: x{1000,8000}\.\.\. \(\d+ characters\)$/);
    call.cancel();
  });
});
