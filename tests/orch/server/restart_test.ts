import assert from "node:assert/strict";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const marker = (namespace: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "kept" } });

for (const how of ["politely", "at once"] as const) {
  test(`objects and address outlive a server that is stopped ${how}`, async ({ server, namespace }) => {
    const { metadata: { uid } } = await server.objects.create(marker(namespace));
    await server.stop(how);
    await assert.rejects(server.objects.get(marker(namespace)), /error/i);
    await server.start();
    assert.equal((await server.objects.get(marker(namespace)))?.metadata.uid, uid);
  });
}

test("a paused server answers nothing until it is resumed", async ({ server, namespace }) => {
  await server.objects.create(marker(namespace));
  const path = await server.objects.path(marker(namespace));
  server.pause();
  // The signal reaches the threads of the process one after the other: an answer may still come.
  await until(
    "silence",
    () =>
      server.client.json({ path, within: 300 }).then(
        () => false,
        ({ message }) => /no answer within 0.3 s/.test(message),
      ),
  );
  server.resume();
  assert.equal((await server.client.json({ path }))["kind"], "ConfigMap");
});
