import * as grpc from "@grpc/grpc-js";
import assert from "node:assert/strict";
import { decode } from "../../lib/pb/reflect.ts";
import { withServer } from "./running.ts";

const same = (bytes: Uint8Array) => Buffer.from(bytes);

Deno.test("the discovery port answers gRPC health probes, and watchers are notified when it drains", async () => {
  await withServer({}, async ({ ports }, _folder, kernel) => {
    const client = new grpc.Client(`127.0.0.1:${ports.grpc}`, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    const watch = client.makeServerStreamRequest("/grpc.health.v1.Health/Watch", same, same, new Uint8Array(0));
    watch.on("error", () => {});
    const next = async () => {
      const bytes = await new Promise<Uint8Array>((resolve) => watch.once("data", resolve));
      return decode("grpc.health.v1.HealthCheckResponse", bytes);
    };
    assert.deepEqual(await next(), { status: 1 });
    const changed = next();
    kernel.drain.start("a test");
    assert.deepEqual(await changed, { status: 2 });
    watch.cancel();
    client.close();
  });
});
