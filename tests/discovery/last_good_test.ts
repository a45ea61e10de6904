/**
 * A proxy's last good resources of a host stay in force while the host fails to translate, also when the proxy comes
 * into another class.
 */
import assert from "node:assert/strict";
import { contents, Fixture, type TestNode } from "./fixture.ts";
import { TrappedRegistry } from "./trapped_registry.ts";

const apiVersion = "networking.mesh.io/v1";
const sidecar = (namespace: string, name: string, hosts: string[]) => ({
  apiVersion,
  kind: "Sidecar",
  metadata: { namespace, name },
  spec: { egress: [{ hosts }] },
});
const gateway = (name: string, port: number) => ({
  apiVersion,
  kind: "Gateway",
  metadata: { namespace: "x", name },
  spec: {
    selector: { app: "gw" },
    servers: [{ port: { number: port, name: "http", protocol: "HTTP" }, hosts: ["*"] }],
  },
});
const app: TestNode = { namespace: "x", address: "172.16.0.9", labels: { app: "p" } };

/** A pipeline with the services `good` and `bad`; translation of `bad` throws from `spring` on. */
async function world() {
  const fixture = new Fixture();
  const registry = new TrappedRegistry();
  await fixture.pipeline.addRegistry(registry);
  registry.set("good", "10.0.0.1", 1);
  registry.set("bad", "10.0.0.2", 1);
  fixture.pipeline.flush();
  const spring = () => {
    registry.set("bad", "10.0.0.3", 2, true);
    fixture.pipeline.flush();
    assert.ok(registry.sprung > 1, "clusters and endpoints met the trap");
  };
  return { fixture, registry, spring };
}

function of(host: string, found: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(found).filter(([name]) => name.includes(`${host}.example.com`)));
}

Deno.test("a host that cannot be built keeps its last version for a sidecar whose Sidecar changes, and goes when a Sidecar hides the host", async () => {
  const { fixture, registry, spring } = await world();
  const state = fixture.join(app);
  const second = fixture.join({ ...app, address: "172.16.0.10", labels: { app: "q" } });
  const before = of("bad", contents(state));
  assert.ok("cluster/outbound|80||bad.example.com" in before && "virtualHost/80/bad.example.com:80" in before);
  spring();
  for (let i = 0; i < 3; i++) {
    fixture.put(sidecar("x", `s${i}`, ["x/*", `y${i}/*`]));
    fixture.pipeline.flush();
    for (const one of [state, second]) {
      assert.deepEqual(of("bad", contents(one)), before, `after change ${i}`);
      assert.ok("cluster/outbound|80||good.example.com" in contents(one));
    }
    assert.equal(state.failing, true);
  }
  assert.equal(state.proxyClass, second.proxyClass, "proxies that come from one class stay in one");
  const hides = sidecar("x", "s0", ["x/good.example.com"]);
  fixture.put(hides);
  fixture.pipeline.flush();
  assert.deepEqual(of("bad", contents(state)), {});
  assert.equal(state.failing, false);
  fixture.remove("Sidecar/x/s0", "Sidecar/x/s1", "Sidecar/x/s2");
  registry.armed = false;
  fixture.pipeline.flush();
  assert.notDeepEqual(of("bad", contents(state)), before);
  assert.deepEqual(contents(state), contents(fixture.join(app)));
});

Deno.test("a host that cannot be built keeps its last version for a gateway when a Gateway comes", async () => {
  const { fixture, spring } = await world();
  fixture.put(gateway("a", 80));
  fixture.pipeline.flush();
  const state = fixture.join({ namespace: "x", address: "172.16.0.9", type: "router", labels: { app: "gw" } });
  const before = of("bad", contents(state));
  assert.ok("cluster/outbound|80||bad.example.com" in before);
  spring();
  fixture.put(gateway("b", 81));
  fixture.pipeline.flush();
  assert.deepEqual(of("bad", contents(state)), before);
  assert.ok("listener/0.0.0.0_81" in contents(state), "what can be made comes");
});

Deno.test("the first proxy of a class gets nothing of a host that cannot be built: the version of others may not be for it", async () => {
  const { fixture, spring } = await world();
  fixture.put(sidecar("elsewhere", "s", ["x/*"]));
  fixture.pipeline.flush();
  const state = fixture.join(app);
  spring();
  const stranger = fixture.join({ namespace: "elsewhere", address: "172.16.0.11" });
  assert.deepEqual(of("bad", contents(stranger)), {});
  assert.ok("cluster/outbound|80||good.example.com" in contents(stranger));
  assert.ok("cluster/outbound|80||bad.example.com" in contents(state));
});
