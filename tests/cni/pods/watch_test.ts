/** A watch that goes on after every end of a connection. */
import assert from "node:assert/strict";
import { readPod } from "../../../lib/cni/pods/pod.ts";
import { RestPods } from "../../../lib/cni/pods/rest.ts";
import type { PodEvent } from "../../../lib/cni/pods/source.ts";
import { watchPods } from "../../../lib/cni/pods/watch.ts";

const pod = (name: string) => readPod({ metadata: { namespace: "shop", name } });
const event = (name: string): PodEvent => ({ type: "pod", pod: pod(name) });
const show = (e: PodEvent) => (e.type === "pod" ? e.pod.name : `gone ${e.name}`);

/** What one connection gives; an error ends it. */
interface Round {
  list?: string[] | Error;
  changes?: (PodEvent | Error)[];
}

/** Watches through some connections; resolves with the events, the reported errors and the waits. */
async function through(rounds: Round[]) {
  const stop = new AbortController();
  const [seen, reported, waits]: [string[], string[], number[]] = [[], [], []];
  let round = -1;
  const parts = {
    list: () => {
      const { list = [] } = rounds[++round] ?? {};
      if (round >= rounds.length) stop.abort();
      if (list instanceof Error) return Promise.reject(list);
      return Promise.resolve({ pods: list.map(pod), version: "1" });
    },
    async *changes() {
      for (const change of rounds[round]?.changes ?? []) {
        if (change instanceof Error) throw change;
        yield await Promise.resolve(change);
      }
    },
  };
  const sleep = (ms: number) => Promise.resolve(void waits.push(ms));
  const troubled = (error: unknown) => void reported.push((error as Error).message);
  for await (const e of watchPods(parts, stop.signal, troubled, sleep)) seen.push(show(e));
  return { seen, reported, waits };
}

Deno.test("a watch outlives connections that break, lines that cannot be read, and lists without an answer", async () => {
  const { seen, reported } = await through([
    { list: ["a"], changes: [event("b"), new TypeError("error reading a body from connection")] },
    { list: new Error("no answer") },
    { list: ["a"], changes: [new SyntaxError("Unexpected token")] },
    { list: ["c"] },
  ]);
  assert.deepEqual(seen, ["a", "b", "gone b", "a", "gone a", "c", "gone c"]);
  assert.deepEqual(reported, ["error reading a body from connection", "no answer", "Unexpected token"]);
});

Deno.test("troubles that last are waited for longer and longer; a connection that works makes it short again", async () => {
  const down: Round = { list: new Error("down") };
  const { waits } = await through([down, down, down, down, down, down, down, {
    changes: [event("a"), new Error("reset")],
  }, down]);
  assert.deepEqual(waits.slice(0, 9), [1000, 2000, 4000, 8000, 16000, 30000, 30000, 1000, 2000]);
});

Deno.test("connections that end at once, without an error, do not keep two machines busy", async () => {
  const { waits, reported } = await through([{ list: ["a"] }, { list: ["a"] }, { list: ["a"] }]);
  assert.deepEqual([waits.slice(0, 3), reported], [[1000, 1000, 1000], []]);
});

/** An API whose watch is answered by bytes as they are, after which the connection is cut. */
function rawApi(watch: string) {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const second = Promise.withResolvers<void>();
  let lists = 0;
  const body = `{"metadata":{"resourceVersion":"1"},"items":[]}`;
  const serve = async (connection: Deno.Conn) => {
    const buffer = new Uint8Array(4096);
    const write = (text: string) => connection.write(new TextEncoder().encode(text));
    for (let n; (n = await connection.read(buffer)) !== null;) {
      const asked = new TextDecoder().decode(buffer.subarray(0, n));
      if (!asked.includes("watch=true")) {
        if (++lists === 2) second.resolve();
        await write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        continue;
      }
      await write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${watch.length.toString(16)}\r\n${watch}\r\n`);
      break;
    }
    connection.close();
  };
  const served: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) served.push(serve(connection).catch(() => connection.close()));
  })();
  return {
    /** Resolves when the pods were listed a second time. */
    listedAgain: second.promise,
    server: `http://127.0.0.1:${listener.addr.port}`,
    async stop() {
      listener.close();
      await accepting.catch(() => {});
      await Promise.all(served);
    },
  };
}

const endings: [string, string, RegExp | undefined][] = [
  ["a connection that is cut off in a line", `{"type":`, /^watching pods: error reading a body/],
  ["a line that is no JSON", "{no\n", /^watching pods: .*JSON/],
  ["a refusal", `{"type":"ERROR","object":{"code":500,"message":"etcd is away"}}\n`, /was ended: 500: etcd is away/],
  ["a version that is too old", `{"type":"ERROR","object":{"code":410,"message":"expired"}}\n`, undefined],
];
for (const [what, line, reported] of endings) {
  Deno.test(`the API client's watch meets ${what}: it goes on${reported ? " and reports it" : " without a report"}`, async () => {
    const api = rawApi(line);
    const stop = new AbortController();
    const troubles: string[] = [];
    const pods = new RestPods(() => ({ server: api.server, ca: undefined, token: "x" }));
    const events = pods.watch({ labelSelector: "", fieldSelector: "" }, stop.signal, (error) => {
      troubles.push(error.message);
    });
    const watching = (async () => {
      for await (const e of events) assert.fail(show(e));
    })();
    await Promise.race([api.listedAgain, watching.then(() => assert.fail("the watch ended"))]);
    stop.abort();
    await watching;
    await api.stop();
    if (reported === undefined) assert.deepEqual(troubles, []);
    else assert.match(troubles.join(), reported);
  });
}
