/** Servers that take a connection and never answer: requests end in time. */
import assert from "node:assert/strict";
import { post } from "../../../lib/cni/plugin/report.ts";
import { QuickPods } from "../../../lib/cni/pods/lookup.ts";
import { NearPods } from "../../../lib/cni/pods/near.ts";
import { readPod } from "../../../lib/cni/pods/pod.ts";
import { PodSourceError } from "../../../lib/cni/pods/source.ts";
import { withinTime } from "../../../lib/cni/pods/within.ts";
import { PATIENCE } from "../../patience.ts";

/** Time given in these tests, and the longest time allowed, milliseconds. */
const [GIVEN, MOST] = [200, PATIENCE];

/** Fails when work takes too long. @returns the result of the work */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `not within ${MOST} ms` })), MOST);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

// The runtime keeps a read on a closed connection until the process ends.
const options = { sanitizeOps: false, sanitizeResources: false };

Deno.test({
  name: "an API that takes the connection and is silent is no answer, which may pass",
  ...options,
  async fn() {
    const api = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    for (const ca of [undefined, "a CA"]) {
      const pods = new QuickPods({ server: `http://127.0.0.1:${api.addr.port}`, ca, token: "x" }, GIVEN);
      await assert.rejects(
        inTime(pods.pod("shop", "cart-0")),
        (e) => e instanceof PodSourceError && e.transient && /no answer within 200 ms/.test(e.message),
      );
    }
    api.close();
  },
});

Deno.test({
  name: "a node agent that hangs is passed over, and its log costs a moment",
  ...options,
  async fn() {
    const dir = await Deno.makeTempDir({ prefix: "mcni-" });
    const agent = Deno.listen({ transport: "unix", path: `${dir}/log.sock` });
    const far = {
      pod: () => Promise.resolve(readPod({ metadata: { name: "from far" } })),
      namespaceLabels: () => Promise.resolve({ from: "far" }),
    };
    const near = new NearPods(`${dir}/log.sock`, far, GIVEN);
    assert.equal((await inTime(near.pod("shop", "cart-0")))?.name, "from far");
    assert.deepEqual(await inTime(near.namespaceLabels("shop")), { from: "far" });
    await assert.rejects(inTime(post(`${dir}/log.sock`, "/log", ["line"], GIVEN)), /no answer within 200 ms/);
    agent.close();
    await Deno.remove(dir, { recursive: true });
  },
});

Deno.test("a connection that comes too late is closed; one whose work ended too", async () => {
  const closed: string[] = [];
  const connection = (name: string) => ({ close: () => void closed.push(name) }) as unknown as Deno.Conn;
  const made = Promise.withResolvers<Deno.Conn>();
  await assert.rejects(inTime(withinTime(20, () => made.promise, () => Promise.resolve(1))), /no answer within 20 ms/);
  made.resolve(connection("late"));
  assert.equal(await withinTime(MOST, () => Promise.resolve(connection("good")), () => Promise.resolve(1)), 1);
  await assert.rejects(
    withinTime(MOST, () => Promise.resolve(connection("bad")), () => Promise.reject(new Error("work"))),
    /^Error: work$/,
  );
  assert.deepEqual(closed.toSorted(), ["bad", "good", "late"]);
});
