/** The cost of changes of WasmPlugins, and the affected proxies. */
import assert from "node:assert/strict";
import { contents, Fixture, service, serviceAddress } from "./fixture.ts";

const COUNT = 20;
const AGENT = { PROXY_CONFIG: { stringValue: "{}" } };

function plugin(spec: object = {}, name = "a"): object {
  return {
    apiVersion: "extensions.istio.io/v1alpha1",
    kind: "WasmPlugin",
    metadata: { name, namespace: "x" },
    spec: { url: "example.com/a:1", ...spec },
  };
}

const of = (app: string) => ({ selector: { matchLabels: { app } } });

function world() {
  const fixture = new Fixture();
  fixture.put(
    ...Array.from({ length: COUNT }, (_, i) => service(i + 1, { port: { number: 9000 + i, protocol: "TCP" } })),
  );
  fixture.pipeline.flush();
  const states = Array.from({ length: COUNT }, (_, i) => {
    const name = `s${i + 1}`;
    return fixture.join({
      namespace: "x",
      address: serviceAddress(i + 1),
      name,
      labels: { app: name },
      metadata: AGENT,
    });
  });
  /** Listeners built by a change, and the names of the changed resources, by proxy. */
  const counted = (change: () => void) => {
    const { listeners, contributions, extensions } = fixture.pipeline.translator.caches.of;
    const built = () => [listeners, contributions].reduce((sum, { counts }) => sum + counts.built, 0);
    const before = { listeners: built(), extensions: extensions.counts.built, sent: states.map(contents) };
    change();
    fixture.pipeline.flush();
    assert.deepEqual(fixture.failures, []);
    const changed = Object.fromEntries(states.flatMap((state, i) => {
      const [had, has] = [before.sent[i]!, contents(state)];
      const names = [...new Set([...Object.keys(had), ...Object.keys(has)])].filter((name) => had[name] !== has[name]);
      return names.length === 0 ? [] : [[i, names]];
    }));
    return {
      listeners: built() - before.listeners,
      extensions: extensions.counts.built - before.extensions,
      changed: changed as Record<string, string[]>,
    };
  };
  return { fixture, counted };
}

const CONFIG = "extension/extensions.istio.io/wasmplugin/x.a";

Deno.test("a plugin with another module builds one configuration and no listener, and only this configuration is sent, only to the plugin's workload", () => {
  const { fixture, counted } = world();
  const first = counted(() => fixture.put(plugin({ ...of("s3"), match: [{ mode: "SERVER" }] })));
  assert.deepEqual(Object.keys(first.changed), ["2"]);
  assert.ok(first.changed["2"]!.includes(CONFIG) && first.changed["2"]!.includes("listener/virtualInbound"));
  assert.equal(first.listeners, 0, "outbound listeners do not have inbound plugins");
  const next = counted(() => fixture.put(plugin({ ...of("s3"), match: [{ mode: "SERVER" }], url: "example.com/a:2" })));
  assert.deepEqual(next, { listeners: 0, extensions: 1, changed: { 2: [CONFIG] } });
});

Deno.test("a plugin of the namespace builds each outbound listener and its configuration once for all its workloads", () => {
  const { fixture, counted } = world();
  const { listeners, extensions, changed } = counted(() => fixture.put(plugin({ type: "NETWORK" })));
  assert.deepEqual([listeners, extensions, Object.keys(changed).length], [COUNT, 1, COUNT]);
});

Deno.test("a removed plugin leaves no filter and no configuration, and the former listeners are not built again", () => {
  const { fixture, counted } = world();
  const { changed } = counted(() => fixture.put(plugin(of("s3"))));
  const after = counted(() => fixture.remove("WasmPlugin/x/a"));
  assert.deepEqual(after, { listeners: 0, extensions: 0, changed });
});

Deno.test("a plugin is a finding as long as a connected proxy cannot run it", () => {
  const fixture = new Fixture();
  fixture.put(service(1), plugin());
  fixture.pipeline.flush();
  const findings = () => fixture.pipeline.translator.warnings().map(({ name, message }) => `${name}: ${message}`);
  fixture.join({ namespace: "x", address: serviceAddress(1), metadata: AGENT });
  assert.deepEqual(findings(), []);
  const without = [{}, { ...AGENT, WASM_REMOTE_LOAD_CONVERSION: { stringValue: "false" } }];
  for (const [i, metadata] of without.entries()) {
    const state = fixture.join({ namespace: "x", address: `10.9.9.${i}`, metadata });
    assert.deepEqual(findings(), [
      "not-as-written: the proxy has no agent that fetches the module: everything is denied",
    ]);
    if (i + 1 < without.length) {
      fixture.pipeline.translator.leave(state);
      fixture.pipeline.translator.sweep();
      assert.deepEqual(findings(), []);
    }
  }
  fixture.put(plugin({ url: "file:///a.wasm" }));
  fixture.pipeline.flush();
  assert.deepEqual(findings(), []);
});
