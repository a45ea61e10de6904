import assert from "node:assert/strict";
import fc from "fast-check";
import { Code } from "../../lib/grpc/codes.ts";
import { FrameType } from "../../lib/grpc/h2/constants.ts";
import { frame } from "../../lib/grpc/h2/frames.ts";
import { XdsRefusal } from "../../lib/xds/protocol/source.ts";
import { CLUSTER, LISTENER } from "../../lib/xds/protocol/types.ts";
import { textResource } from "./support/memory_source.ts";
import { ConnectServer } from "./support/connect_server.ts";
import { runs } from "../properties.ts";

const STREAMS = [1, 3, 5];

const events = ["request", "request", "resolve", "refuse", "revoke", "push", "half-close", "reset"] as const;

/** An event on a stream, and whether all consequences happen before the next event. */
const step = fc.record({
  event: fc.constantFrom(...events),
  stream: fc.constantFrom(...STREAMS),
  settle: fc.boolean(),
});

/** Streams of HTTP/2 open in the order of their numbers. */
class World {
  readonly at = new ConnectServer();
  readonly over = new Set<number>();
  #opened = 0;
  #changes = 0;

  constructor(readonly atOnce: readonly number[]) {
    for (const stream of atOnce) this.at.source.atOnce.add(String(stream));
  }

  run({ event, stream }: { event: (typeof events)[number]; stream: number }): void {
    const { at } = this;
    const connect = at.source.connects.get(String(stream));
    switch (event) {
      case "request":
      case "half-close":
        if (this.over.has(stream) || stream > this.#opened + 2) return;
        this.#opened = Math.max(stream, this.#opened);
        at.ask(stream, this.#changes % 2 === 0 ? CLUSTER : LISTENER, event === "half-close" ? 1 : 0);
        if (event === "half-close") this.over.add(stream);
        return;
      case "reset":
        if (stream > this.#opened) return;
        at.client.send(frame(FrameType.RST_STREAM, 0, stream, new Uint8Array([0, 0, 0, 8])));
        return void this.over.add(stream);
      case "resolve":
        return connect?.resolve();
      case "refuse":
        return connect?.refuse(new XdsRefusal(Code.PERMISSION_DENIED, "no"));
      case "revoke":
        return connect?.control.revoke(Code.ABORTED, "gone");
      case "push":
        at.source.memory.change(CLUSTER, [textResource(CLUSTER, "c", `c=${++this.#changes}`)]);
        at.source.memory.push();
    }
  }

  /** Reads of sets by closed views. */
  readsOfClosed(): Map<string, number> {
    const { views, closed } = this.at.source.memory;
    return new Map(views.filter(({ id }) => closed.includes(id)).map(({ id, reads }) => [id, reads.count]));
  }
}

Deno.test("in any order of events each view is closed once, and nothing is sent after the end", async () => {
  const property = fc.asyncProperty(
    fc.subarray(STREAMS),
    fc.array(step, { maxLength: 25 }),
    async (atOnce, steps) => {
      const world = new World(atOnce);
      await using at = world.at;
      for (const step of steps) {
        const before = world.readsOfClosed();
        world.run(step);
        if (step.settle) await at.client.read();
        for (const [id, reads] of before) assert.equal(world.readsOfClosed().get(id), reads, `view ${id} is closed`);
      }
      await at.client.read();
      for (const stream of STREAMS) world.run({ event: "reset", stream });
      assert.equal(at.streams, 0);
      for (const stream of STREAMS) world.run({ event: "resolve", stream });
      await at.client.read();
      const { views, closed } = at.source.memory;
      assert.deepEqual(closed.toSorted(), views.map(({ id }) => id).sort());
      const logged = (text: string) => at.logged.filter((message) => message === text).length;
      assert.equal(logged("client gone"), logged("client connected"));
      assert.deepEqual([at.streams, at.client.late, at.errors, at.client.goAways], [0, 0, [], []]);
    },
  );
  await fc.assert(property, { numRuns: runs(300) });
});
