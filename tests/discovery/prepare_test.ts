/** The first proxy of a large mesh: parts shared by all proxies are built in steps before the proxy joins. */
import assert from "node:assert/strict";
import { PipelineSource } from "../../lib/discovery/proxies/source.ts";
import type { ConnectControl, ConnectRequest, ProxyView } from "../../lib/xds/protocol/source.ts";
import { contents, Fixture, service } from "./fixture.ts";

/** The services lie in four namespaces. */
const spread = (i: number, number = 80) => service(i, { namespace: `n${i % 4}`, port: { number } });

const MANY = 400;

function world(services: number): Fixture {
  const fixture = new Fixture();
  fixture.put(...Array.from({ length: services }, (_, i) => spread(i)));
  fixture.pipeline.flush();
  return fixture;
}

const NODE = { namespace: "n0", address: "10.1.0.1" };

/** The steps of preparation for a proxy. */
function stepsFor(
  { nodes, pipeline }: Fixture,
  type = "sidecar",
  metadata: Readonly<Record<string, string>> = {},
): Generator<void, void> | undefined {
  const id = `${type}~10.1.0.1~app.n0~n0.svc.cluster.local`;
  const fields = Object.fromEntries(Object.entries(metadata).map(([name, stringValue]) => [name, { stringValue }]));
  return pipeline.translator.prepare(nodes.read({ id, metadata: { fields } }, true, pipeline.mesh));
}

function builtForHosts({ pipeline: { translator: { caches } } }: Fixture): number {
  return [caches.of.clusters, caches.of.assignments, caches.of.contributions, caches.of.virtualHosts]
    .reduce((sum, { counts }) => sum + counts.built, 0);
}

Deno.test("results prepared host by host are not built again when the first proxy joins, and equal results built without preparation", () => {
  const fixture = world(MANY);
  const steps = [...stepsFor(fixture)!];
  assert.equal(steps.length, MANY, "there is a step a host");
  const built = builtForHosts(fixture);
  assert.equal(built, 4 * MANY);
  const state = fixture.join(NODE);
  assert.equal(builtForHosts(fixture), built);
  assert.deepEqual(contents(state), contents(world(MANY).join(NODE)));
});

Deno.test("a change during the preparation reaches the proxy", () => {
  const fixture = world(MANY);
  const steps = stepsFor(fixture)!;
  for (let i = 0; i < MANY / 2; i++) steps.next();
  fixture.put(spread(0, 81), spread(MANY - 1, 82), spread(MANY));
  fixture.remove("ServiceEntry/n1/s1", `ServiceEntry/n${(MANY - 2) % 4}/s${MANY - 2}`);
  fixture.pipeline.flush();
  while (!steps.next().done);
  const state = fixture.join(NODE);
  assert.deepEqual(fixture.failures, []);
  const fresh = new Fixture();
  const changed = new Map([[0, 81], [MANY - 1, 82]]);
  for (let i = 0; i <= MANY; i++) if (i !== 1 && i !== MANY - 2) fresh.put(spread(i, changed.get(i)));
  fresh.pipeline.flush();
  assert.deepEqual(contents(state), contents(fresh.join(NODE)));
});

Deno.test("names are prepared for the first proxy whose agent asks for them, and are not built again", () => {
  for (const [type, asks] of [["sidecar", "DNS_CAPTURE"], ["router", "ENABLE_DNS_SERVER"]] as const) {
    const fixture = world(MANY);
    const { translator } = fixture.pipeline;
    const { counts } = translator.caches.of.names;
    fixture.join(NODE);
    assert.equal(stepsFor(fixture, type), undefined, "its agent asks for none");
    const steps = stepsFor(fixture, type, { [asks]: "true" })!;
    assert.equal(stepsFor(fixture, type, { [asks]: "true" }), undefined, "twice");
    assert.equal([...steps].length, MANY, "there is a step a host");
    assert.equal(counts.built, MANY, asks);
    const state = fixture.join({ ...NODE, address: "10.1.0.2", metadata: { [asks]: { stringValue: "true" } } });
    const table = [...translator.nameTable(state)];
    assert.equal(counts.built, MANY, "the table finds them");
    assert.equal(table.length, 1);
    assert.equal(stepsFor(fixture, type, { [asks]: "true" }), undefined, "there is a table");
  }
});

Deno.test("nothing is prepared for a gateway, in a small mesh, twice, or when there is a proxy already", () => {
  assert.equal(stepsFor(world(20)), undefined, "small");
  const fixture = world(MANY);
  assert.equal(stepsFor(fixture, "router"), undefined, "gateway");
  assert.notEqual(stepsFor(fixture), undefined);
  assert.equal(stepsFor(fixture), undefined, "twice");
  const other = world(MANY);
  other.join(NODE);
  assert.equal(stepsFor(other), undefined, "there is a proxy");
});

/** Opens a view of the source, as the wire does. */
function connect(source: PipelineSource, name: string, signal = new AbortController().signal) {
  const said: string[] = [];
  const control = {
    signal,
    comes: () => said.push("it comes"),
    waitsFor: (what: string) => said.push(what),
    answered() {},
  } as unknown as ConnectControl;
  const node = { id: `sidecar~10.1.0.1~${name}.n0~n0.svc.cluster.local`, metadata: { fields: {} } };
  const request = { node, delta: true, peer: { address: "127.0.0.1:1" } } as unknown as ConnectRequest;
  return { view: source.connect(request, control), said };
}

Deno.test("proxies that come during the preparation wait and join one a turn; a departed proxy does not join", async () => {
  const { nodes, pipeline } = world(MANY);
  const source = new PipelineSource(pipeline, nodes);
  const gone = new AbortController();
  const first = connect(source, "a");
  const left = connect(source, "b", gone.signal);
  const last = connect(source, "c");
  assert.deepEqual([first.said, last.said], [["it comes"], ["it comes"]]);
  gone.abort(new Error("left"));
  await assert.rejects(left.view as Promise<ProxyView>, /left/);
  const a = await first.view;
  assert.equal(pipeline.translator.counts.proxies, 1, "the last one has to wait for another turn");
  const c = await last.view;
  assert.equal(pipeline.translator.counts.proxies, 2);
  assert.ok(!("then" in connect(source, "d").view), "later ones do not wait");
  for (const view of [a, c]) view.close();
});
