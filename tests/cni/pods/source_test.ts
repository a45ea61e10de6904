/**
 * What any source of pods must do: run on the API client with a stand-in for the API; the same suite is for the
 * orchestrator's own API.
 */
import assert from "node:assert/strict";
import { QuickPods } from "../../../lib/cni/pods/lookup.ts";
import { parseAnswer } from "../../../lib/cni/pods/quick_get.ts";
import { RestPods } from "../../../lib/cni/pods/rest.ts";
import { FakeOrch } from "../support/orch.ts";
import { lookupSuite, type Orchestrator, sourceSuite } from "./suite.ts";

/** The stand-in as the suites want it. */
function standIn(): Orchestrator {
  const orch = new FakeOrch();
  const access = () => ({ server: orch.address, ca: undefined, token: "secret" });
  return {
    source: () => new RestPods(access),
    put: (pod) => Promise.resolve(orch.put(pod)),
    drop: (namespace, name) => Promise.resolve(orch.drop(`${namespace}/${name}`)),
    namespace: (name, labels) => Promise.resolve(void orch.namespaces.set(name, labels)),
    daemonSet: (namespace, name, set) =>
      Promise.resolve(
        void (set ? orch.daemonSets.set(`${namespace}/${name}`, set) : orch.daemonSets.delete(`${namespace}/${name}`)),
      ),
    get: (namespace, name) => Promise.resolve(orch.pods.get(`${namespace}/${name}`)),
    notes: () =>
      Promise.resolve(
        orch.events.map(({ reason, message, involvedObject }) => `${involvedObject.name}: ${reason}: ${message}`),
      ),
    interrupt: () => Promise.resolve(orch.breakWatches()),
    refuse: (status) => void (orch.refusal = status === undefined ? undefined : { status, body: "refused" }),
    stop: () => orch.stop(),
  };
}

lookupSuite("API client", standIn, (o) => o.source());
lookupSuite("quick look-up", () => {
  const orch = new FakeOrch();
  const base = standIn();
  return {
    ...base,
    source: () => new QuickPods({ server: orch.address, ca: undefined, token: "secret" }) as never,
    put: (pod) => Promise.resolve(orch.put(pod)),
    namespace: (name, labels) => Promise.resolve(void orch.namespaces.set(name, labels)),
    refuse: (status) => void (orch.refusal = status === undefined ? undefined : { status, body: "refused" }),
    stop: async () => {
      await orch.stop();
      await base.stop();
    },
  };
}, (o) => o.source());
sourceSuite("API client", standIn);

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
