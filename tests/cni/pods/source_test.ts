/**
 * The duties of any source of pods, on the API client with a stand-in for the API. The same suite is for the
 * orchestrator's own API.
 */
import assert from "node:assert/strict";
import { QuickPods } from "../../../lib/cni/pods/lookup.ts";
import { NearPods } from "../../../lib/cni/pods/near.ts";
import { parseAnswer } from "../../../lib/cni/pods/quick_get.ts";
import { RestPods } from "../../../lib/cni/pods/rest.ts";
import { servePlugin } from "../../../lib/cni/serve/servers.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { FakeOrch, injectedPod } from "../support/orch.ts";
import { lookupSuite, type Orchestrator, sourceSuite } from "./suite.ts";

/** A stand-in, for the suites. */
function standInOf(orch: FakeOrch): Orchestrator {
  const access = () => ({ server: orch.address, ca: undefined, token: "secret" });
  let stopped: Promise<void> | undefined;
  return {
    source: () => new RestPods(access),
    put: (pod) => Promise.resolve(orch.put(pod)),
    drop: (namespace, name) => Promise.resolve(orch.drop(`${namespace}/${name}`)),
    namespace: (name, labels) => Promise.resolve(void orch.namespaces.set(name, labels)),
    daemonSet: (namespace, name, set) => {
      if (set === undefined) orch.daemonSets.delete(`${namespace}/${name}`);
      else orch.daemonSets.set(`${namespace}/${name}`, set);
      return Promise.resolve();
    },
    get: (namespace, name) => Promise.resolve(orch.pods.get(`${namespace}/${name}`)),
    notes: () =>
      Promise.resolve(
        orch.events.map(({ reason, message, involvedObject: of }) => `${of.name}: ${reason}: ${message}`),
      ),
    interrupt: () => Promise.resolve(orch.breakWatches()),
    refuse: (status) => void (orch.refusal = status === undefined ? undefined : { status, body: "refused" }),
    stop: () => stopped ??= orch.stop(),
  };
}

/** The same stand-in with quick look-ups as the only source. */
function quickStandIn(): Orchestrator {
  const orch = new FakeOrch();
  const source = () => new QuickPods({ server: orch.address, ca: undefined, token: "secret" }) as never;
  return { ...standInOf(orch), source };
}

lookupSuite("API client", () => standInOf(new FakeOrch()), (o) => o.source());
lookupSuite("quick look-up", quickStandIn, (o) => o.source());
sourceSuite("API client", () => standInOf(new FakeOrch()));

Deno.test("answers in all shapes of HTTP, and half of them refused", () => {
  const parse = (text: string) => parseAnswer(new TextEncoder().encode(text));
  assert.deepEqual(parse("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), { status: 200, body: "{}" });
  assert.deepEqual(parse("HTTP/1.0 404 Not Found\r\n\r\nno"), { status: 404, body: "no" });
  const chunked =
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\n{"a\r\n6\r\n":"\u00e9"\r\n1\r\n}\r\n0\r\n\r\n';
  assert.deepEqual(parse(chunked), { status: 200, body: `{"a":"é"}` });
  for (const text of ["", "HTTP/1.1 200", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}"]) {
    assert.throws(() => parse(text), /the answer/);
  }
  for (let cut = chunked.indexOf("\r\n\r\n") + 4; cut < chunked.length - 4; cut++) {
    assert.throws(() => parse(chunked.slice(0, cut)));
  }
});

/** The stand-in behind a node agent's socket. */
function nearStandIn(): Orchestrator {
  const orch = new FakeOrch();
  const access = { server: orch.address, ca: undefined, token: "secret" };
  const dir = Deno.makeTempDirSync({ prefix: "mcni-" });
  const serving = servePlugin(`${dir}/log.sock`, silentLog().scope("x"), new RestPods(() => access));
  const near = new NearPods(`${dir}/log.sock`, new QuickPods(access));
  let stopped: Promise<void> | undefined;
  return {
    ...standInOf(orch),
    source: () =>
      ({
        pod: async (namespace: string, name: string) => (await serving, await near.pod(namespace, name)),
        namespaceLabels: async (name: string) => (await serving, await near.namespaceLabels(name)),
      }) as never,
    stop: () =>
      stopped ??= (async () => {
        await orch.stop();
        await (await serving).close();
        await Deno.remove(dir, { recursive: true });
      })(),
  };
}

lookupSuite("node agent first", nearStandIn, (o) => o.source());

Deno.test("with a node agent the plugin does not ask the orchestrator itself, without one it does", async () => {
  const orch = new FakeOrch();
  const far = new FakeOrch();
  const dir = Deno.makeTempDirSync({ prefix: "mcni-" });
  const access = (of: FakeOrch) => ({ server: of.address, ca: undefined, token: "secret" });
  const socket = await servePlugin(`${dir}/log.sock`, silentLog().scope("x"), new RestPods(() => access(orch)));
  const near = new NearPods(`${dir}/log.sock`, new QuickPods(access(far)));
  try {
    orch.put(injectedPod("shop", "a"));
    far.put(injectedPod("shop", "b"));
    assert.equal((await near.pod("shop", "a"))?.name, "a");
    assert.deepEqual([orch.asked.length, far.asked.length], [1, 0]);
    assert.equal(
      (await near.pod("shop", "b"))?.name,
      "b",
      "the orchestrator has the last word on pods that are not there",
    );
    await socket.close();
    assert.equal((await near.pod("shop", "b"))?.name, "b");
    assert.equal(orch.asked.length, 2);
  } finally {
    await orch.stop();
    await far.stop();
    await Deno.remove(dir, { recursive: true });
  }
});
