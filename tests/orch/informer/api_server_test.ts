/** An informer and a real API server that restarts, stands still and forgets versions. */
import assert from "node:assert/strict";
import { ApiError } from "../../../lib/orch/client/api_error.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { TokenBucket } from "../../../lib/orch/client/token_bucket.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { watchConfigMaps } from "../support/config_maps.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { apiServerTests } from "../support/server/tests.ts";

// Here etcd forgets old versions within seconds.
const test = apiServerTests({ flags: ["--etcd-compaction-interval=2s"] });

const impatient = ({ access }: ApiServer) =>
  new ApiClient({ access: { current: () => access, refused: () => {} }, within: 2000 });

const put = (server: ApiServer, namespace: string, name: string, v: string) =>
  server.objects.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data: { v } });

const drop = (server: ApiServer, namespace: string, name: string) =>
  server.objects.delete({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name } });

/** The objects of the server in the informer's form. */
async function stateOf(server: ApiServer, namespace: string): Promise<string[]> {
  const { items } = await server.client.json({ path: `/api/v1/namespaces/${namespace}/configmaps` });
  const rows = items as { metadata: { namespace: string; name: string; uid: string }; data: { v: string } }[];
  return rows.map(({ metadata, data }) => `${metadata.namespace}/${metadata.name} ${metadata.uid} ${data?.v}`).sort();
}

test("a list at once, then changes; a limit on the rate of requests holds", async ({ server, namespace }) => {
  for (let i = 0; i < 7; i++) await put(server, namespace, `c${i}`, "1");
  const limit = new TokenBucket(50, 1, systemClock);
  const client = new ApiClient({ access: { current: () => server.access, refused: () => {} }, limit });
  const { becomes, informer } = watchConfigMaps(client, { namespace, pageSize: 3 });
  try {
    const all = await stateOf(server, namespace);
    assert.equal(all.length, 7);
    await becomes(() => all);
    await put(server, namespace, "c1", "2");
    await put(server, namespace, "new", "grüße, 世界");
    await drop(server, namespace, "c2");
    const now = await stateOf(server, namespace);
    await becomes(() => now);
  } finally {
    await informer.stop();
  }
});

test("what happens while the server is restarted comes, and nothing goes that is there", async ({ server, namespace }) => {
  for (const name of ["a", "b", "c"]) await put(server, namespace, name, "1");
  const { becomes, informer, removed } = watchConfigMaps(impatient(server), { namespace });
  try {
    await informer.whenSynced;
    await server.stop("at once");
    await server.start();
    await put(server, namespace, "a", "2");
    await drop(server, namespace, "b");
    const now = await stateOf(server, namespace);
    await becomes(() => now);
    assert.deepEqual(removed.map((one) => one.split(" ")[0]), [`${namespace}/b`]);
  } finally {
    await informer.stop();
  }
});

test("while a server stands still the known objects stay, and its changes are followed when it goes on", async ({ server, namespace }) => {
  await put(server, namespace, "a", "1");
  const { becomes, informer, removed, troubles } = watchConfigMaps(impatient(server), { namespace, idle: 1000 });
  try {
    await informer.whenSynced;
    server.pause();
    // The API takes connections and says nothing: the informer gives up this watch, and the next watch too.
    while (troubles.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    server.resume();
    await put(server, namespace, "b", "1");
    const now = await stateOf(server, namespace);
    await becomes(() => now);
    assert.deepEqual(removed, []);
  } finally {
    server.resume();
    await informer.stop();
  }
});

test("a page's token that has grown too old begins the list anew, and the list is whole", async ({ server, namespace }) => {
  for (let i = 0; i < 6; i++) await put(server, namespace, `c${i}`, "1");
  const all = await stateOf(server, namespace);
  let pages = 0;
  let lists = 0;
  const expired: string[] = [];
  // After a failed list another list comes in pages. Between the first two pages etcd forgets the version of the list.
  class Slow extends ApiClient {
    override async send(call: Parameters<ApiClient["send"]>[0]) {
      if (++lists === 1) throw new ApiError("as the test wants", 503);
      if (call.path.includes("continue=") && ++pages === 1) await forgotten(server, call.path);
      return await super.send(call).catch((error) => {
        expired.push(String(error.status));
        throw error;
      });
    }
  }
  const client = new Slow({ access: { current: () => server.access, refused: () => {} } });
  const { becomes, informer, removed } = watchConfigMaps(client, { namespace, pageSize: 2 });
  try {
    await becomes(() => all);
    assert.deepEqual([expired, removed], [["410"], []]);
  } finally {
    await informer.stop();
  }
});

/** Resolves when the server refuses a page's token, because etcd has forgotten the token's version. */
async function forgotten(server: ApiServer, path: string): Promise<void> {
  for (let i = 0; i < 600; i++) {
    await put(server, "default", "counter", String(i));
    const gone = await server.client.json({ path }).then(() => false, (error) => error.status === 410);
    if (gone) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail("etcd forgets nothing");
}
