import assert from "node:assert/strict";
import { failureReports } from "../../../lib/agent/start/failure_reports.ts";
import { callUnary } from "../../../lib/grpc/client/client_call.ts";
import { ClientConnection } from "../../../lib/grpc/client/client_connection.ts";
import { dial } from "../../../lib/grpc/client/dial.ts";
import { Code } from "../../../lib/grpc/codes.ts";
import { GrpcServer, type GrpcServerOptions } from "../../../lib/grpc/server.ts";
import { unaryMethod } from "../../../lib/grpc/service.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { listenUnix } from "../../../lib/sockets/listen/unix.ts";
import {
  headers,
  message,
  PREFACE,
  settings,
  windowUpdate,
  writeAll,
} from "../../wire_conformance/support/raw_client.ts";
import { PATIENCE, until } from "../../patience.ts";

/** More than the sockets of both ends hold. */
const BIG = new Uint8Array(8 * 1024 * 1024);

/** A server with a failing call, and a call with a large answer. */
async function served(
  options: GrpcServerOptions,
  test: (path: string, page: () => Promise<string>) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const metrics = createMetrics("pilot-agent");
  const messages = { input: "any", output: "any" };
  const fails = unaryMethod({ name: "Fails", ...messages }, () => Promise.reject(new Error("a defect")));
  const answers = unaryMethod({ name: "Answers", ...messages }, () => Promise.resolve(BIG));
  const server = new GrpcServer([{ name: "test", methods: [fails, answers] }], {
    ...options,
    ...failureReports({ log: silentLog(), metrics }),
  });
  const listener = await listenUnix(`${folder}/socket`, (transport) => server.accept(transport));
  try {
    await test(`${folder}/socket`, async () => (await metrics.scrape()).body);
  } finally {
    await listener.close();
    await server.stop(0);
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a defect of a call on the proxy's sockets counts as an internal error", async () => {
  await served({}, async (path, page) => {
    const connection = new ClientConnection(await dial({ path }, PATIENCE));
    const call = callUnary(connection, { authority: "x", path: "/test/Fails" }, new Uint8Array(), PATIENCE);
    await assert.rejects(call, { code: Code.INTERNAL });
    connection.close();
    const body = await page();
    assert.match(body, /^pilot_total_xds_internal_errors 1$/m);
    assert.match(body, /^pilot_xds_write_timeout 0$/m);
  });
});

Deno.test("a client of the proxy's sockets that does not read counts as a write timeout", async () => {
  await served({ stallTimeout: 200 }, async (path, page) => {
    using client = await Deno.connect({ transport: "unix", path });
    const frames = [PREFACE, settings(0x7fffffff), windowUpdate(0x7fff0000 - 65535), headers(1, "/test/Answers")];
    for (const bytes of [...frames, message(1, new Uint8Array())]) await writeAll(client, bytes);
    await until("it is dropped", async () => /^pilot_xds_write_timeout 1$/m.test(await page()));
    assert.match(await page(), /^pilot_total_xds_internal_errors 0$/m);
  });
});

Deno.test("a connection that is closed for another reason counts as no failure", async () => {
  await served({ handshakeTimeout: 10 }, async (path, page) => {
    using client = await Deno.connect({ transport: "unix", path });
    while (await client.read(new Uint8Array(1024)) !== null);
    assert.match(await page(), /^pilot_xds_write_timeout 0$/m);
  });
});
