/** The sockets of an agent: how large a message of the proxy may be. */
import assert from "node:assert/strict";
import { startAgent } from "../../../lib/agent/start/agent.ts";
import { ClientCall } from "../../../lib/grpc/client/client_call.ts";
import { ClientConnection } from "../../../lib/grpc/client/client_connection.ts";
import { dial } from "../../../lib/grpc/client/dial.ts";
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { agentInput } from "../support/agent_input.ts";
import { TestDiscovery } from "../support/discovery.ts";
import { PATIENCE } from "../../patience.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

/** The fate of a request of so many bytes: the server gets the request, or the stream ends with a reason. */
async function sent(settings: { readonly MESH_GPRC_MAXRECVMSGSIZE?: number }, size: number): Promise<string> {
  const folder = await Deno.makeTempDir();
  const { promise, resolve } = Promise.withResolvers<string>();
  const typeUrl = new TextEncoder().encode("x".repeat(size));
  const request = new MessageWriter().bytes(4, typeUrl).finish();
  await using server = await TestDiscovery.start(0, (_, { length }) => {
    if (length >= size) resolve("the server has it");
  });
  try {
    await withPorts(1, async ([statusPort = 0]) => {
      const input = agentInput(folder, {
        settings: { DISABLE_PROXY: true, FILE_MOUNTED_CERTS: true, GRPC_XDS_BOOTSTRAP: "", ...settings },
        proxy: { statusPort, discoveryAddress: `127.0.0.1:${server.port}`, controlPlaneAuthPolicy: "NONE" },
      });
      const parts = { clock: systemClock, log: silentLog(), metrics: createMetrics("pilot-agent") };
      const agent = await startAgent(input, parts);
      const connection = new ClientConnection(await dial({ path: input.xdsSocket }, PATIENCE));
      try {
        new ClientCall(connection, { authority: "localhost", path: ADS }, {
          message() {},
          end: (status) => resolve(status?.message ?? "an end without a reason"),
        }).send(request);
        await promise;
      } finally {
        connection.close();
        await agent.stop();
      }
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  return await promise;
}

Deno.test("MESH_GPRC_MAXRECVMSGSIZE: a larger message of the proxy ends its stream, and only then", async () => {
  assert.equal(await sent({ MESH_GPRC_MAXRECVMSGSIZE: 10_000 }, 5000), "the server has it");
  assert.match(await sent({ MESH_GPRC_MAXRECVMSGSIZE: 10_000 }, 20_000), /10000/);
  assert.equal(await sent({}, 20_000), "the server has it");
});
