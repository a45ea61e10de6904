import assert from "node:assert/strict";
import { PipelineSource } from "../../lib/discovery/proxies/source.ts";
import { NameSet } from "../../lib/resource/name_set.ts";
import { ResourceSet } from "../../lib/resource/set.ts";
import type { ProxyView } from "../../lib/xds/protocol/source.ts";
import { CLUSTER, ENDPOINTS } from "../../lib/xds/protocol/types.ts";
import { calls } from "../xds/support/counting.ts";
import { type ClientSource, StreamClient } from "../xds/support/stream_client.ts";
import { Fixture } from "./fixture.ts";
import { TrappedRegistry } from "./trapped_registry.ts";

const BAD = "outbound|80||bad.example.com";
const node = { id: "sidecar~10.0.0.1~a.x~x.svc.cluster.local" };

/** A pipeline as the wire sees it, with a registry whose services may throw. */
async function connect(delta: boolean, failing: boolean, deaf = false) {
  const fixture = new Fixture();
  const registry = new TrappedRegistry();
  await fixture.pipeline.addRegistry(registry);
  registry.set("good", "10.0.0.2", 1);
  registry.set("bad", "10.0.0.1", 1, failing, /\/lib\/translate\/(?:cluster|endpoint)\//);
  fixture.pipeline.flush();
  const source = new PipelineSource(fixture.pipeline, fixture.nodes);
  const wire: ClientSource<ProxyView> = {
    table: fixture.pipeline.table,
    connect(request, control) {
      const view = source.connect(request, control) as ProxyView;
      return deaf ? Object.assign(view, { want: undefined }) : view;
    },
  };
  const client = new StreamClient(wire, delta, { request: { node } });
  source.onPush(() => client.stream.reconcile());
  return { fixture, registry, client };
}

for (const delta of [true, false]) {
  const variant = delta ? "incremental" : "state of the world";

  Deno.test(`${variant}: endpoints that could not be built are not reported as absent, and are sent when they are built`, async () => {
    const { fixture, registry, client } = await connect(delta, true);
    const asked = [BAD, "outbound|80||good.example.com"];
    client.ask(ENDPOINTS, { names: asked });
    const first = client.accept(ENDPOINTS, asked);
    assert.deepEqual([first.resources.size, first.removed], [1, []]);
    fixture.pipeline.pushAll();
    fixture.pipeline.flush();
    assert.equal(client.inbox.length, 0, "it fails again");
    registry.armed = false;
    fixture.pipeline.pushAll();
    fixture.pipeline.flush();
    const second = client.accept(ENDPOINTS, asked);
    assert.deepEqual([second.resources.size, second.removed], [1, []]);
    client.close();
    fixture.pipeline.stop();
  });
}

Deno.test("a name that does not exist is answered at once; while something fails, when all could be made", async () => {
  const asked = ["outbound|80||nobody.example.com"];
  for (const failing of [false, true]) {
    const { fixture, registry, client } = await connect(true, failing);
    client.ask(ENDPOINTS, { names: asked });
    assert.equal(client.inbox.length, failing ? 0 : 1);
    registry.armed = false;
    fixture.pipeline.pushAll();
    fixture.pipeline.flush();
    assert.deepEqual(client.accept(ENDPOINTS).removed, asked);
    assert.equal(client.inbox.length, 0);
    client.close();
    fixture.pipeline.stop();
  }
});

Deno.test("a client that left while names were pending is not answered", async () => {
  const { fixture, registry, client } = await connect(true, true);
  client.ask(ENDPOINTS, { names: [BAD] });
  client.close();
  registry.armed = false;
  fixture.pipeline.pushAll();
  fixture.pipeline.flush();
  assert.deepEqual(client.received, []);
  fixture.pipeline.stop();
});

Deno.test("without failures the question what a client wants costs one call for each request, and no look at a name", async () => {
  const cost = async (deaf: boolean) => {
    const { fixture, client } = await connect(true, false, deaf);
    const asks = deaf ? undefined : calls(client.view as Required<typeof client.view>, ["want"]);
    const looks = [
      calls(NameSet.prototype, ["has", Symbol.iterator]),
      calls(ResourceSet.prototype, ["get", "withAlias"]),
    ];
    client.ask(CLUSTER);
    client.ask(ENDPOINTS, { names: Array.from({ length: 1000 }, (_, i) => `n${i}`) });
    while (client.inbox.length > 0) client.accept();
    const counted = looks.reduce((sum, look) => sum + look.stop(), 0);
    client.close();
    fixture.pipeline.stop();
    return { asks: asks?.stop(), looks: counted };
  };
  const [deaf, hearing] = [await cost(true), await cost(false)];
  assert.ok(deaf.looks > 100, "looks are counted");
  assert.deepEqual(hearing, { asks: 2, looks: deaf.looks });
});
