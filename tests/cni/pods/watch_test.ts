/** A watch that goes on after every end of a connection. */
import assert from "node:assert/strict";
import { RestPods } from "../../../lib/cni/pods/rest.ts";
import type { PodEvent } from "../../../lib/cni/pods/source.ts";

const show = (e: PodEvent) => (e.type === "pod" ? e.pod.name : `gone ${e.name}`);

/** An API that answers a watch by raw bytes, and then cuts the connection. */
function rawApi(watch: string) {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const second = Promise.withResolvers<void>();
  let asks = 0;
  const body = `{"metadata":{"resourceVersion":"1"},"items":[]}`;
  const serve = async (connection: Deno.Conn) => {
    const buffer = new Uint8Array(4096);
    const write = (text: string) => connection.write(new TextEncoder().encode(text));
    for (let n; (n = await connection.read(buffer)) !== null;) {
      const asked = new TextDecoder().decode(buffer.subarray(0, n));
      if (++asks === 3) second.resolve();
      if (!asked.includes("watch=true")) {
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
    /** Resolves at a request after the end of the watch. */
    askedAgain: second.promise,
    server: `http://127.0.0.1:${listener.addr.port}`,
    async stop() {
      listener.close();
      await accepting.catch(() => {});
      await Promise.all(served);
    },
  };
}

const endings: [string, string, RegExp | undefined][] = [
  ["a connection that is cut off in a line", `{"type":`, /^watching pods: .*error reading a body/],
  ["a line that is no JSON", "{no\n", /^watching pods: a line of the watch is not an event: {no/],
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
    await Promise.race([api.askedAgain, watching.then(() => assert.fail("the watch ended"))]);
    stop.abort();
    await watching;
    await api.stop();
    if (reported === undefined) assert.deepEqual(troubles, []);
    else assert.match(troubles.join(), reported);
  });
}
