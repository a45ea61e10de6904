/** Secrets of registries in extension configurations: the streams with a secret, and the time of each sending. */
import assert from "node:assert/strict";
import { FactStore } from "../../lib/config/facts/store.ts";
import { readFact } from "../../lib/config/facts/read.ts";
import type { AnyFact } from "../../lib/config/facts/types.ts";
import type { Origin } from "../../lib/finding/origin.ts";
import { type CredentialReader, Credentials } from "../../lib/discovery/credentials/credentials.ts";
import { ProxyExtensions, PulledExtensions } from "../../lib/discovery/credentials/proxy_extensions.ts";
import type { SecretName, SecretRight } from "../../lib/discovery/credentials/secret_rights.ts";
import { ProxyStateView } from "../../lib/discovery/proxies/proxy_state_view.ts";
import { readable } from "../../lib/pb/reflect.ts";
import { encodeResource } from "../../lib/resource/encoded.ts";
import type { ResourceSet } from "../../lib/resource/set.ts";
import type { ProxyView } from "../../lib/xds/protocol/source.ts";
import { EXTENSION_CONFIG } from "../../lib/xds/protocol/types.ts";
import { inFile } from "../config/origins.ts";
import { type ClientSource, StreamClient } from "../xds/support/stream_client.ts";
import { Fixture } from "./fixture.ts";

const TYPE = "kubernetes.io/dockerconfigjson";
const API: Origin = { from: "api", source: "Orch", uid: "1" };
const AGENT = { PROXY_CONFIG: { stringValue: "{}" } };
const NAME = "extensions.istio.io/wasmplugin/shop.a";

function secret(
  content: string,
  { namespace = "shop", type = TYPE, key = ".dockerconfigjson", origin = API } = {},
): AnyFact {
  const tree = { apiVersion: "v1", kind: "Secret", type, metadata: { namespace, name: "registry" } };
  const read = readFact("Secret", { ...tree, stringData: { [key]: content } }, origin, {
    digestKey: new Uint8Array(32),
  });
  assert.ok(read.fact, JSON.stringify(read.findings));
  return read.fact;
}

function plugin(spec: object = {}, namespace = "shop"): object {
  return {
    apiVersion: "extensions.istio.io/v1alpha1",
    kind: "WasmPlugin",
    metadata: { name: "a", namespace },
    spec: { url: "example.com/a:1", imagePullSecret: "registry", ...spec },
  };
}

/** An API with rights to read Secrets, and a proxy of shop with an agent. */
function world(options: { readonly delta?: boolean; readonly reader?: Partial<CredentialReader> } = {}) {
  const fixture = new Fixture();
  const store = new FactStore();
  const source = store.addSource("test", 0);
  const api = {
    right: "allowed" as SecretRight,
    asked: [] as string[],
    waiting: new Set<() => void>(),
    of: (namespace: string, account: string, changed: () => void, named?: SecretName) => {
      api.asked.push(
        `${namespace}/${account} ${named === undefined ? "list" : `get ${named.namespace}/${named.name}`}`,
      );
      api.waiting.add(changed);
      return api.right;
    },
    leave: (changed: () => void) => void api.waiting.delete(changed),
    decide: (right: SecretRight) => {
      api.right = right;
      for (const changed of [...api.waiting]) changed();
    },
  };
  const refused: string[] = [];
  const credentials = new Credentials({
    facts: store,
    table: fixture.pipeline.table,
    rights: api,
    refused: (_reader, resource, why) => void refused.push(`${resource}: ${why}`),
  });
  const pulled = new PulledExtensions();
  const reader = { name: "proxy", namespace: "shop", account: "cart", ...options.reader };
  let view: ProxyView | undefined;
  const wire: ClientSource<ProxyView> = {
    table: fixture.pipeline.table,
    connect: (_request, control) => {
      const state = fixture.join({ namespace: "shop", address: "10.0.0.1", metadata: AGENT });
      const extensions = new ProxyExtensions({
        pulled,
        shared: () => ({ sets: state.resourceSets(EXTENSION_CONFIG)!, pullSecrets: state.pullSecrets }),
        open: (changed) => credentials.openRegistries(reader, changed),
        answered: (names) => control.answered(EXTENSION_CONFIG, names),
      });
      return view = new ProxyStateView(state, fixture.pipeline, control, new Map(), undefined, { extensions });
    },
  };
  const put = (...facts: readonly AnyFact[]) => source.apply({ upserted: [...facts], removed: [] });
  const connect = () => {
    fixture.pipeline.flush();
    const node = { id: "sidecar~10.0.0.1~a.shop~shop.svc.cluster.local" };
    return new StreamClient(wire, options.delta ?? true, { request: { node } });
  };
  const shown = () => secretIn(view!.shownSets!(EXTENSION_CONFIG)!);
  const sent = () => secretIn(view!.resourceSets(EXTENSION_CONFIG)!);
  return { fixture, api, refused, put, connect, shown, sent };
}

/** The secret inside the configuration; `none`: the configuration is not there. */
function secretIn(sets: readonly ResourceSet[], name = NAME): string {
  const resource = sets.findLast((set) => set.has(name))?.get(name);
  if (resource === undefined) return "none";
  const text = JSON.stringify(readable("envoy.config.core.v3.TypedExtensionConfig", resource.value));
  return /"ISTIO_META_WASM_IMAGE_PULL_SECRET":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? "no variable";
}

for (const delta of [true, false]) {
  const variant = delta ? "incremental" : "state of the world";

  Deno.test(`${variant}: a proxy gets the secret that its plugin names, again when it changes, and pages never show it`, () => {
    const { fixture, put, connect, shown, sent, refused, api } = world({ delta });
    fixture.put(plugin());
    put(secret("one"));
    const client = connect();
    client.ask(EXTENSION_CONFIG, { names: [NAME] });
    assert.equal(client.accept(EXTENSION_CONFIG, [NAME]).resources.size, 1);
    assert.deepEqual([sent(), shown(), refused], ["one", "", []]);
    assert.deepEqual(api.asked, ["shop/cart get shop/registry"]);
    put(secret("two"));
    assert.equal(sent(), "two");
    client.stream.reconcile();
    assert.equal(client.accept(EXTENSION_CONFIG, [NAME]).resources.size, 1);
    assert.deepEqual([sent(), shown()], ["two", ""]);
    client.close();
    assert.equal(api.waiting.size, 0);
  });

  Deno.test(`${variant}: while the API has not decided the right, the client gets nothing; then it gets the configuration with or without the secret`, () => {
    for (const right of ["allowed", "denied"] as const) {
      const { fixture, put, connect, sent, api } = world({ delta });
      fixture.put(plugin());
      put(secret("one"));
      api.right = "unknown";
      const client = connect();
      client.ask(EXTENSION_CONFIG, { names: [NAME] });
      assert.deepEqual([client.inbox.length, sent()], [0, "none"]);
      api.decide(right);
      client.stream.reconcile();
      assert.equal(client.accept(EXTENSION_CONFIG, [NAME]).resources.size, 1);
      assert.equal(sent(), right === "allowed" ? "one" : "");
      client.close();
    }
  });
}

const REFUSED: readonly (readonly [string, Parameters<typeof world>[0], readonly AnyFact[], RegExp])[] = [
  ["who has not proven who it is", { reader: { namespace: undefined } } as object, [secret("x")], /has not proven/],
  ["where there is no such secret", {}, [], /there is no Secret shop\/registry/],
  [
    "for a secret of another type",
    {},
    [secret("x", { type: "Opaque" })],
    /is not of type kubernetes.io\/dockerconfigjson/,
  ],
  ["for a secret without its key", {}, [secret("x", { key: "other" })], /has no .dockerconfigjson/],
];

for (const [name, options, facts, why] of REFUSED) {
  Deno.test(`the secret is empty ${name}, and the log says so`, () => {
    const { fixture, put, connect, sent, refused } = world(options);
    fixture.put(plugin());
    put(...facts);
    const client = connect();
    client.ask(EXTENSION_CONFIG, { names: [NAME] });
    client.accept(EXTENSION_CONFIG, [NAME]);
    assert.equal(sent(), "");
    assert.equal(refused.length, 1);
    assert.match(refused[0]!, why);
    client.close();
  });
}

Deno.test("of a secret of the root namespace the API is asked, too; one of a folder is for its own namespace alone", () => {
  const root = "extensions.istio.io/wasmplugin/mesh-system.a";
  for (const [origin, expected] of [[API, "x"], [inFile("test"), ""]] as const) {
    const { fixture, put, connect, api, refused } = world();
    fixture.put(plugin({}, "mesh-system"));
    put(secret("x", { namespace: "mesh-system", origin }));
    const client = connect();
    client.ask(EXTENSION_CONFIG, { names: [root] });
    const [resource = ""] = [...client.accept(EXTENSION_CONFIG, [root]).resources.keys()];
    assert.equal(resource, root);
    assert.deepEqual(api.asked, expected === "" ? [] : ["shop/cart get mesh-system/registry"]);
    if (expected === "") assert.match(refused.join(), /the Secret is of namespace mesh-system/);
    client.close();
  }
});

Deno.test("secrets are read only for plugins that the client requests and that have a secret", () => {
  const { fixture, put, connect, api, sent } = world();
  fixture.put(plugin(), { ...plugin({ imagePullSecret: "" }), metadata: { name: "b", namespace: "shop" } });
  put(secret("one"));
  const client = connect();
  client.ask(EXTENSION_CONFIG, { names: ["extensions.istio.io/wasmplugin/shop.b"] });
  client.accept(EXTENSION_CONFIG, ["extensions.istio.io/wasmplugin/shop.b"]);
  assert.deepEqual([api.asked, sent()], [[], ""]);
  client.ask(EXTENSION_CONFIG, { names: [NAME] });
  assert.deepEqual([api.asked, sent()], [["shop/cart get shop/registry"], "one"]);
  client.close();
});

Deno.test("a plugin that comes to name a secret keeps its configuration at the client until it is decided", () => {
  const { fixture, put, connect, api, sent } = world();
  fixture.put(plugin({ imagePullSecret: "" }));
  put(secret("one"));
  const client = connect();
  client.ask(EXTENSION_CONFIG, { names: [NAME] });
  client.accept(EXTENSION_CONFIG, [NAME]);
  api.right = "unknown";
  fixture.put(plugin());
  fixture.pipeline.flush();
  client.stream.reconcile();
  assert.deepEqual([client.inbox.length, sent()], [0, "none"]);
  api.decide("allowed");
  client.stream.reconcile();
  assert.equal(client.accept(EXTENSION_CONFIG, [NAME]).resources.size, 1);
  assert.equal(sent(), "one");
  client.close();
});

/** Counts walks over the whole map. */
class CountedMap extends Map<string, string> {
  walks = 0;

  override [Symbol.iterator](): MapIterator<[string, string]> {
    this.walks++;
    return super[Symbol.iterator]();
  }

  override keys(): MapIterator<string> {
    this.walks++;
    return super.keys();
  }
}

Deno.test("thousands of names that are asked for one by one cost themselves alone, however many plugins have a secret", () => {
  const table = new Fixture().pipeline.table;
  const config = (name: string) => encodeResource(EXTENSION_CONFIG, name, new Uint8Array());
  const pullSecrets = new CountedMap(
    Array.from({ length: 500 }, (_, i) => [`secret-${i}`, "kubernetes://shop/registry"]),
  );
  const sets = [table.from([...pullSecrets.keys()].map(config))];
  const extensions = new ProxyExtensions({
    ...{ pulled: new PulledExtensions(), answered: () => {}, shared: () => ({ sets, pullSecrets }) },
    open: () => assert.fail("no secret is asked for"),
  });
  assert.equal(extensions.sets[0], sets[0]);
  pullSecrets.walks = 0;
  for (let i = 0; i < 5000; i++) {
    assert.deepEqual(extensions.want([`name-${i}`]), []);
    assert.equal(extensions.sets[0], sets[0]);
  }
  for (let i = 0; i < 5000; i++) extensions.unwant([`name-${i}`]);
  assert.equal(extensions.sets[0], sets[0]);
  assert.equal(pullSecrets.walks, 0);
  extensions.close();
});
