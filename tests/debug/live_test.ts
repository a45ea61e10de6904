import assert from "node:assert/strict";
import type { FileOrigin } from "../../lib/finding/origin.ts";
import { live as livePage } from "../../lib/debug/live.ts";
import type { DebugView } from "../../lib/debug/view.ts";
import type { HttpRequest } from "../../lib/http/message.ts";
import { PushLedger } from "../../lib/xds/ledger.ts";
import { page, withServer } from "../discovery/running.ts";
import { TestProxy } from "./proxy.ts";
import { inFile } from "../config/origins.ts";

const entry = (name: string, port: number | string) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1 }]
`;

/** A finding in the form of the page. */
interface FoundInFile {
  readonly place: { readonly origin: FileOrigin; readonly line: number; readonly field: string };
}

interface Live {
  readonly status: number;
  readonly object: string;
  readonly hash: string;
  readonly origin: FileOrigin;
  readonly push?: number;
  readonly live: number;
  readonly total: number;
  readonly noProxy: boolean;
  readonly everywhere: boolean;
  readonly goneEverywhere?: boolean;
  readonly why: readonly string[];
  readonly refused: readonly FoundInFile[];
  readonly unnamed?: readonly FoundInFile[];
}

async function live(port: number, query: string): Promise<Live> {
  const { status, body } = await page(port, `/debug/live?object=${query}`);
  return { ...JSON.parse(body), status };
}

const A = "ServiceEntry/x/a";

/** No test waits for so long: the answers come earlier. */
const LONG = "wait=90s";

Deno.test("live with wait is about the text that was written just before, every time", async () => {
  await withServer({ "a.yaml": entry("a", 1000) }, async ({ ports, pipeline }, folder) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    let before = await live(ports.http, `${A}&${LONG}`);
    assert.equal(before.everywhere, true, before.why.join());
    for (let port = 1001; port < 1010; port++) {
      Deno.writeTextFileSync(`${folder}/a.yaml`, entry("a", port));
      const now = await live(ports.http, `${A}&${LONG}`);
      assert.deepEqual([now.status, now.live, now.total, now.everywhere, now.why], [200, 1, 1, true, []]);
      assert.notEqual(now.hash, before.hash, "another content");
      assert.ok(now.push! > before.push!, "another push");
      assert.equal(now.push, pipeline.pushes);
      const service = [...pipeline.aggregate.services()][0];
      assert.equal(service?.ports[0]?.port, port);
      before = now;
    }
    // An edit without a change is not a push: the object is in force as before.
    Deno.writeTextFileSync(`${folder}/a.yaml`, `# a remark\n${entry("a", 1009)}`);
    const same = await live(ports.http, `${A}&${LONG}`);
    assert.deepEqual([same.hash, same.push, same.everywhere], [before.hash, before.push, true]);
    assert.deepEqual(same.origin, { ...inFile("a.yaml", 2), source: folder });
  });
});

Deno.test("live with wait knows an object that did not exist before, and a removed object", async () => {
  await withServer({}, async ({ ports }, folder) => {
    using proxy = await TestProxy.attach(ports.grpc);
    Deno.writeTextFileSync(`${folder}/a.yaml`, entry("a", 80));
    const made = await live(ports.http, `${A}&${LONG}`);
    assert.deepEqual([made.status, made.live, made.everywhere], [200, 1, true]);
    proxy.hold();
    Deno.removeSync(`${folder}/a.yaml`);
    const asked = live(ports.http, `${A}&${LONG}`);
    await proxy.received();
    const early = await live(ports.http, A);
    assert.deepEqual([early.status, early.everywhere, early.goneEverywhere], [404, false, false]);
    proxy.release();
    const gone = await asked;
    assert.deepEqual([gone.status, gone.everywhere, gone.goneEverywhere], [404, false, true]);
  });
});

Deno.test("live waits for the acknowledgement, and names the proxies without one when time is over", async () => {
  await withServer({ "a.yaml": entry("a", 80) }, async ({ ports }, folder) => {
    using proxy = await TestProxy.attach(ports.grpc);
    proxy.hold();
    Deno.writeTextFileSync(`${folder}/a.yaml`, entry("a", 81));
    await proxy.received();
    const late = await live(ports.http, `${A}&wait=1s`);
    assert.deepEqual([late.live, late.total, late.everywhere], [0, 1, false]);
    assert.deepEqual(late.why, ["1 of 1 proxies have not acknowledged it"]);
    proxy.release();
    const now = await live(ports.http, `${A}&${LONG}`);
    assert.deepEqual([now.live, now.total, now.everywhere, now.push], [1, 1, true, late.push]);
  });
});

Deno.test("live does not mistake an earlier push for the push of an edit that is still debounced", async () => {
  await withServer({ "a.yaml": entry("a", 80) }, async ({ ports }, folder) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    Deno.writeTextFileSync(`${folder}/a.yaml`, entry("a", 81));
    const late = await live(ports.http, `${A}&wait=3s`);
    assert.deepEqual([late.push, late.live, late.everywhere], [undefined, 0, false]);
    assert.deepEqual(late.why, ["the last change waits for its push"]);
  }, { settings: { PILOT_DEBOUNCE_AFTER: 60_000, PILOT_DEBOUNCE_MAX: 60_000 } });
});

Deno.test("live after a start knows that proxies have the objects of the start", async () => {
  await withServer({ "a.yaml": entry("a", 80) }, async ({ ports }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    const now = await live(ports.http, `${A}&${LONG}`);
    assert.deepEqual([now.live, now.total, now.everywhere], [1, 1, true]);
  });
});

Deno.test("live: an object whose newest version is refused is not in force, with the findings that refuse it", async () => {
  await withServer({ "a.yaml": entry("a", 80) }, async ({ ports }, folder) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    const good = await live(ports.http, `${A}&${LONG}`);
    Deno.writeTextFileSync(`${folder}/a.yaml`, `\n${entry("a", 800_000)}`);
    const bad = await live(ports.http, `${A}&${LONG}`);
    assert.deepEqual([bad.status, bad.everywhere, bad.hash, bad.live], [200, false, good.hash, 1]);
    assert.deepEqual(bad.refused.map(({ place }) => [place.origin.file, place.field]), [[
      "a.yaml",
      "spec.ports[0].number",
    ]]);
    assert.ok(bad.refused[0]!.place.line >= 2, "a line of the object");
    assert.deepEqual(bad.why, ["the newest version is refused"]);
    assert.equal((await live(ports.http, A)).everywhere, false, "without wait too");

    // A text without even the name of its object.
    Deno.writeTextFileSync(`${folder}/a.yaml`, "{ what: [\n");
    const unreadable = await live(ports.http, `${A}&${LONG}`);
    assert.deepEqual([unreadable.status, unreadable.everywhere], [200, false]);
    assert.deepEqual(unreadable.refused.map(({ place }) => place.origin.file), ["a.yaml"]);

    // The same object in a second file is refused as well.
    Deno.writeTextFileSync(`${folder}/a.yaml`, entry("a", 80));
    Deno.writeTextFileSync(`${folder}/b.yaml`, entry("a", 81));
    const twice = await live(ports.http, `${A}&${LONG}`);
    assert.deepEqual([twice.everywhere, twice.refused.map(({ place }) => place.origin.file)], [false, ["b.yaml"]]);

    Deno.removeSync(`${folder}/b.yaml`);
    const corrected = await live(ports.http, `${A}&${LONG}`);
    assert.deepEqual([corrected.everywhere, corrected.refused, corrected.hash], [true, [], good.hash]);
  });
});

Deno.test("live: an object that was refused from the first is 404 with the findings that refuse it", async () => {
  const files = {
    "a.yaml": entry("a", 800_000),
    "b.yaml": "apiVersion: networking.mesh.io/v1\nkind: ServiceEntry\nmetadata: [\n",
    "c.yaml": entry("c", 0),
  };
  await withServer(files, async ({ ports }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    for (const query of [A, `${A}&${LONG}`]) {
      const never = await live(ports.http, query);
      assert.deepEqual([never.status, never.everywhere, never.goneEverywhere], [404, false, false]);
      assert.deepEqual(never.refused.map(({ place }) => [place.origin.file, place.field]), [[
        "a.yaml",
        "spec.ports[0].number",
      ]]);
      assert.deepEqual(
        never.unnamed?.map(({ place }) => place.origin.file),
        ["b.yaml"],
        "it may be in a text without a name",
      );
    }
    const none = await live(ports.http, "ServiceEntry/x/none");
    assert.deepEqual([none.status, none.refused], [404, []]);
  });
});

Deno.test("live: without a proxy an object does not count as live", async () => {
  await withServer({ "a.yaml": entry("a", 80) }, async ({ ports }, folder) => {
    Deno.writeTextFileSync(`${folder}/a.yaml`, entry("a", 81));
    const alone = await live(ports.http, `${A}&${LONG}`);
    assert.deepEqual([alone.live, alone.total, alone.noProxy, alone.everywhere], [0, 0, true, false]);
    assert.deepEqual(alone.why, ["no proxy is connected"]);
    using _proxy = await TestProxy.attach(ports.grpc);
    const now = await live(ports.http, `${A}&${LONG}`);
    assert.deepEqual([now.live, now.total, now.noProxy, now.everywhere], [1, 1, false, true]);
  });
});

Deno.test("live names the mistakes in a request", async () => {
  await withServer({}, async ({ ports }) => {
    const cases: Readonly<Record<string, RegExp>> = {
      "": /^query object is missing, expected kind\/namespace\/name\n$/,
      "?object=hello": /^query object: got "hello", expected kind\/namespace\/name\n$/,
      "?object=VirtualServise/x/a":
        /^query object: got "VirtualServise\/x\/a", expected kind\/namespace\/name, with a kind of .*; did you mean VirtualService\?\n$/,
      "?object=VirtualService/x/a&wait=soon": /^query wait: got "soon", expected 0s to 300s\n$/,
      "?object=VirtualService/x/a&wait=301": /^query wait: got "301", expected 0s to 300s\n$/,
      "?objct=VirtualService/x/a&wait=-1s":
        /^query "objct": .*, expected one of object, wait, pretty; did you mean object\?\nquery wait: got "-1s", .*\n$/,
      "?object=VirtualService/x/a&object=x": /^query object: got it 2 times, expected it once\n/,
    };
    for (const [query, expected] of Object.entries(cases)) {
      const { status, body } = await page(ports.http, `/debug/live${query}`);
      assert.equal(status, 400, query);
      assert.match(body, expected);
    }
    const { object } = await live(ports.http, "EnvoyFilter/x/a");
    assert.equal(object, "ProxyFilter/x/a");
  });
});

/** A page request of a client that goes away on the test's command. */
function leaving(wait: string) {
  const client = new AbortController();
  const query = new URLSearchParams({ object: A, wait });
  // The page reads only these fields of a request.
  const request = { query, signal: client.signal } as unknown as HttpRequest;
  return { client, request };
}

/** A view in which one kind of wait lasts for ever, and the number of listeners for pushes. */
function stillView(waitsFor: "the folder" | "the push" | "the acknowledgement") {
  const ledger = new PushLedger();
  ledger.latest = 1;
  ledger.join("proxy", () => false);
  const listeners = new Set<() => void>();
  const view = {
    xds: { ledger },
    store: { get: () => undefined },
    settled: () => waitsFor === "the folder" ? new Promise<void>(() => {}) : Promise.resolve(),
    findings: () => [],
    analysis: { settled: () => Promise.resolve() },
    isWaiting: () => waitsFor === "the push",
    leftOut: () => undefined,
    changedIn: () => 2,
    rollouts: () => [],
    onPush: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as DebugView;
  return { view, ledger, listeners };
}

for (const waitsFor of ["the folder", "the push", "the acknowledgement"] as const) {
  Deno.test(`a wait for ${waitsFor} ends when its client goes away, and leaves no timer and no listener`, async () => {
    for (const when of ["before", "while"] as const) {
      const { view, ledger, listeners } = stillView(waitsFor);
      const { client, request } = leaving("300s");
      if (when === "before") client.abort();
      const page = livePage(request, view);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      if (when === "while") {
        assert.deepEqual(
          [ledger.waiting, listeners.size],
          [waitsFor === "the acknowledgement" ? 1 : 0, waitsFor === "the push" ? 1 : 0],
        );
        client.abort();
      }
      assert.equal((await page).status, 404);
      assert.deepEqual([ledger.waiting, listeners.size], [0, 0]);
    }
    // A left-over timer fails this test.
  });
}

Deno.test("a client that closes its connection ends its wait", async () => {
  await withServer({ "a.yaml": entry("a", 80) }, async ({ ports, xds }, folder) => {
    using proxy = await TestProxy.attach(ports.grpc);
    proxy.hold();
    Deno.writeTextFileSync(`${folder}/a.yaml`, entry("a", 81));
    const leaving = new AbortController();
    const url = `http://127.0.0.1:${ports.http}/debug/live?object=${A}&wait=300s`;
    const asked = fetch(url, { signal: leaving.signal }).then(() => "answered", () => "gone");
    const until = async (waiting: number) => {
      while (xds.ledger.waiting !== waiting) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await until(1);
    leaving.abort();
    await until(0);
    assert.equal(await asked, "gone");
  });
});
