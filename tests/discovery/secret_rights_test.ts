/** Rights to read Secrets of an API: how often the server asks, and the state of a proxy meanwhile. */
import assert from "node:assert/strict";
import { readFact } from "../../lib/config/facts/read.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import { Credentials } from "../../lib/discovery/credentials/credentials.ts";
import { SecretRights } from "../../lib/discovery/credentials/secret_rights.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { ApiClient } from "../../lib/orch/client/client.ts";
import { ResourceTable } from "../../lib/resource/set.ts";

/** An API whose answers a test chooses. */
function world() {
  const clock = createFakeClock();
  const asked: string[] = [];
  const api: { allowed: boolean | undefined; hold: Promise<void> } = { allowed: true, hold: Promise.resolve() };
  const client = new ApiClient({
    access: { current: () => ({ server: "http://api.test" }), refused: () => {} },
    clock,
    exchange: async (_url, init) => {
      const { spec } = JSON.parse(String(init.body));
      const { verb, resource, namespace, name } = spec.resourceAttributes;
      asked.push(`${spec.user} ${verb} ${resource}${name === undefined ? "" : ` ${namespace}/${name}`}`);
      await api.hold;
      if (api.allowed === undefined) throw new Error("away");
      return new Response(JSON.stringify({ status: { allowed: api.allowed } }), {
        headers: { "content-type": "application/json" },
      });
    },
  });
  const stop = new AbortController();
  const rights = new SecretRights(client, silentLog().scope("authorization"), stop.signal);
  return { clock, asked, api, rights, stop };
}

/** Lets due promises go on. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("an account is asked about once, its right counts for five minutes and until the next answer", async () => {
  const { clock, asked, api, rights } = world();
  let changes = 0;
  const of = () => rights.of("edge", "gateway", changed);
  const changed = () => void changes++;
  assert.deepEqual([of(), of()], ["unknown", "unknown"]);
  await settle();
  assert.deepEqual([of(), changes], ["allowed", 1]);
  await clock.advance(5 * 60_000 - 1);
  assert.equal(of(), "allowed");
  assert.deepEqual(asked, ["system:serviceaccount:edge:gateway list secrets"]);
  await clock.advance(1);
  api.allowed = false;
  assert.equal(of(), "allowed", "until the API has answered");
  await settle();
  assert.deepEqual([of(), changes, asked.length], ["denied", 2, 2]);
});

Deno.test("the right to a named Secret is asked for by itself, in any namespace, and grants no other Secret", async () => {
  const { asked, api, rights } = world();
  const changed = () => {};
  const registry = { namespace: "mesh-system", name: "registry" };
  assert.equal(rights.of("edge", "gateway", changed, registry), "unknown");
  await settle();
  assert.equal(rights.of("edge", "gateway", changed, registry), "allowed");
  api.allowed = false;
  assert.equal(rights.of("edge", "gateway", changed, { ...registry, name: "other" }), "unknown");
  assert.equal(rights.of("edge", "gateway", changed), "unknown");
  await settle();
  assert.equal(rights.of("edge", "gateway", changed), "denied");
  assert.deepEqual(asked, [
    "system:serviceaccount:edge:gateway get secrets mesh-system/registry",
    "system:serviceaccount:edge:gateway get secrets mesh-system/other",
    "system:serviceaccount:edge:gateway list secrets",
  ]);
});

Deno.test("a refusal is asked about again each minute while somebody waits, an API that is away after five seconds", async () => {
  const { clock, asked, api, rights } = world();
  const changed = () => {};
  api.allowed = undefined;
  rights.of("edge", "gateway", changed);
  await settle();
  assert.equal(rights.of("edge", "gateway", changed), "unknown");
  api.allowed = false;
  await clock.advance(5000);
  await settle();
  assert.equal(rights.of("edge", "gateway", changed), "denied");
  await clock.advance(59_000);
  assert.equal(asked.length, 2);
  api.allowed = true;
  await clock.advance(1000);
  await settle();
  assert.equal(rights.of("edge", "gateway", changed), "allowed");
  api.allowed = false;
  rights.of("edge", "other", changed);
  await settle();
  rights.leave(changed);
  const before = asked.length;
  await clock.advance(10 * 60_000);
  assert.equal(asked.length, before, "nobody waits");
});

Deno.test("a Secret of the API is looked into once the account may list it, and the proxy waits for that; one of a file needs no right", async () => {
  const { clock, api, rights } = world();
  const store = new FactStore();
  const secret = (namespace: string, from: "api" | "file") => {
    const data = { "tls.crt": btoa("-"), "tls.key": btoa("-"), "ca.crt": btoa("-") };
    const tree = { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "web" }, data };
    const origin = from === "api"
      ? { from, source: "Orch", uid: "1" } as const
      : { from, source: "a", file: "a.yaml", line: 1, within: "" } as const;
    return readFact("Secret", tree, origin, { digestKey: new Uint8Array(32) }).fact!;
  };
  store.addSource("Orch", 0).apply({ upserted: [secret("edge", "api"), secret("shop", "file")], removed: [] });
  const refused: string[] = [];
  const credentials = new Credentials({
    ...{ facts: store, table: new ResourceTable(), rights },
    refused: (_, __, why) => void refused.push(why),
  });
  let changes = 0;
  const open = (namespace: string) =>
    credentials.open({ namespace, account: "gateway", name: "g" }, () => void changes++);
  const name = "kubernetes://web-cacert";
  const reasons = () => refused.splice(0).join();
  const shop = open("shop");
  shop.want([name]);
  assert.doesNotMatch(reasons(), /does not allow/);
  api.allowed = false;
  const edge = open("edge");
  edge.want([name]);
  assert.equal(reasons(), "", "it is being asked");
  await settle();
  assert.match(reasons(), /does not allow account gateway to list secrets of namespace edge/);
  api.allowed = true;
  await clock.advance(60_000);
  await settle();
  // The stand-in is not a certificate, which the server notices only after asking for the right.
  assert.doesNotMatch(reasons(), /does not allow/);
  edge.close();
  credentials.stop();
});

Deno.test("a caller that has left is not asked for any more, though so many others came that its right is kept no longer", async () => {
  const clock = createFakeClock();
  let first = 0;
  const json = ({ body }: { readonly body?: unknown }) => {
    const isFirst = JSON.stringify(body).includes("edge:first");
    if (isFirst) first++;
    return Promise.resolve({ status: { allowed: !isFirst } });
  };
  const rights = new SecretRights({ json, clock }, silentLog().scope("authorization"), new AbortController().signal);
  const [caller, others] = [() => {}, () => {}];
  rights.of("edge", "first", caller);
  for (let i = 0; i < 10_000; i++) rights.of("edge", `other-${i}`, others);
  await settle();
  await clock.advance(60_000);
  assert.equal(first, 2, "a refusal is asked about again");
  rights.leave(caller);
  await clock.advance(300_000);
  assert.equal(first, 2);
});
