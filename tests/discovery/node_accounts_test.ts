import assert from "node:assert/strict";
import { readFact } from "../../lib/config/facts/read.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import { NodeAccounts, NodeAccountsOfClusters, readNodeAccounts } from "../../lib/discovery/identity/node_accounts.ts";

const NODE = { trustDomain: "cluster.local", namespace: "system", serviceAccount: "node" };
const CART = "spiffe://cluster.local/ns/shop/sa/cart";

function pod(name: string, namespace: string, account: string, nodeName: string | undefined, uid = `uid-${name}`) {
  const tree = {
    metadata: { name, namespace, uid },
    spec: { serviceAccountName: account, containers: [], ...nodeName === undefined ? {} : { nodeName } },
    status: { phase: "Running" },
  };
  return readFact("Pod", tree, { from: "api", source: "c", uid }, { digestKey: new Uint8Array(32) }).fact!;
}

function setup() {
  const facts = new FactStore();
  const api = facts.addSource("api", 1);
  const accounts = new NodeAccounts({ accounts: new Set(["system/node"]), facts, trustDomain: () => "cluster.local" });
  const ask = (uid = "uid-n") => accounts.mayImpersonate({ identity: NODE, pod: { name: "n", uid } }, CART);
  return { facts, api, ask };
}

Deno.test("a pod with the caller's name and another uid proves nothing; a pod that is not known yet may be tried again", () => {
  const { api, ask } = setup();
  const later = { refusal: "pod system/n of the caller is not known here yet", isTemporary: true };
  assert.deepEqual(ask(), later);
  api.apply({ upserted: [pod("n", "system", "node", "a"), pod("cart", "shop", "cart", "a")], removed: [] });
  assert.deepEqual(ask(), { identity: { trustDomain: "cluster.local", namespace: "shop", serviceAccount: "cart" } });
  assert.deepEqual(ask("uid-of-another"), later);
});

Deno.test("the cluster that has the caller's pod decides: a workload on a node of that name elsewhere does not count", () => {
  const [own, remote] = [new FactStore(), new FactStore()];
  const [ownApi, remoteApi] = [own.addSource("api", 1), remote.addSource("api", 1)];
  let stores = [own];
  const parts = { accounts: new Set(["system/node"]), trustDomain: () => "cluster.local" };
  const accounts = new NodeAccountsOfClusters(parts, () => stores);
  const ask = () => accounts.mayImpersonate({ identity: NODE, pod: { name: "n", uid: "uid-n" } }, CART);
  ownApi.apply({ upserted: [pod("cart", "shop", "cart", "a")], removed: [] });
  remoteApi.apply({ upserted: [pod("n", "system", "node", "a")], removed: [] });
  assert.equal((ask() as { isTemporary?: boolean }).isTemporary, true, "its cluster is not known yet");
  stores = [own, remote];
  assert.match((ask() as { refusal: string }).refusal, /no pod of shop\/cart runs on node a/);
  remoteApi.apply({ upserted: [pod("cart", "shop", "cart", "a")], removed: [] });
  assert.equal("identity" in ask(), true);
  stores = [own];
  assert.equal("identity" in ask(), false, "the cluster has left");
});

Deno.test("several pods of one account count as long as one of them runs on the node; pods without a node do not", () => {
  const { api, ask } = setup();
  const isAllowed = () => "identity" in ask();
  api.apply({ upserted: [pod("n", "system", "node", "a"), pod("waits", "shop", "cart", undefined)], removed: [] });
  assert.equal(isAllowed(), false);
  api.apply({ upserted: [pod("one", "shop", "cart", "a"), pod("two", "shop", "cart", "a")], removed: [] });
  api.apply({ upserted: [], removed: ["Pod/shop/one"] });
  assert.equal(isAllowed(), true);
  api.apply({ upserted: [pod("two", "shop", "cart", "b")], removed: [] });
  assert.equal(isAllowed(), false);
});

Deno.test("pods of a folder give no right: who may write files there could name any node", () => {
  const { facts, api, ask } = setup();
  api.apply({ upserted: [pod("n", "system", "node", "a")], removed: [] });
  const written = pod("cart", "shop", "cart", "a");
  facts.addSource("folder", 0).apply({
    upserted: [{ ...written, origin: { from: "file", source: "folder", file: "a.yaml", line: 1 } } as typeof written],
    removed: [],
  });
  assert.equal("identity" in ask(), false);
});

Deno.test("accounts are named with their namespace; all wrong entries are named at once", () => {
  assert.deepEqual([...readNodeAccounts(" kube-system/tunnel,,mesh/node ")], ["kube-system/tunnel", "mesh/node"]);
  assert.deepEqual([...readNodeAccounts("")], []);
  assert.throws(() => readNodeAccounts("tunnel,a/b/c,a/b"), {
    message: 'got "tunnel", expected namespace/account\ngot "a/b/c", expected namespace/account',
  });
});
