import assert from "node:assert/strict";
import fc from "fast-check";
import {
  initialRelay,
  MAX_KEPT,
  type RelayEffect,
  type RelayEvent,
  stepRelay,
} from "../../../lib/agent/relay/machine.ts";
import { readResponse, type RelayVariant } from "../../../lib/agent/relay/messages.ts";
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";
import { runs } from "../../properties.ts";

const PREFIX = "type.googleapis.com/";
const NAMES = PREFIX + "istio.networking.nds.v1.NameTable";
const REQUESTED = ["envoy.config.cluster.v3.Cluster", "envoy.config.listener.v3.Listener"].map((name) => PREFIX + name);
const RESPONDED = [...REQUESTED, NAMES, PREFIX + "istio.mesh.v1alpha1.ProxyConfig"];

const request = (variant: RelayVariant, type: string) =>
  new MessageWriter().string(variant === "sotw" ? 4 : 2, type).finish();
const response = (type: string, nonce: string) => new MessageWriter().string(4, type).string(5, nonce).finish();

/** The surroundings of a machine: streams, connections and timers, each with its number, also after the end. */
class World {
  state = initialRelay([NAMES]);
  readonly streams: { readonly variant: RelayVariant; open: boolean; readonly said: Uint8Array[] }[] = [];
  readonly connections = new Map<number, { state: "dialing" | "open" | "over"; stream: number; sent: Uint8Array[] }>();
  readonly timers = new Set<number>();
  readonly down: { readonly stream: number; readonly bytes: Uint8Array }[] = [];
  readonly workedOff: RelayEvent[] = [];

  send(event: RelayEvent): RelayEffect[] {
    const { state, effects } = stepRelay(this.state, event);
    this.state = state;
    for (const effect of effects) this.#perform(effect);
    this.#check();
    return [...effects];
  }

  get live(): number | undefined {
    return this.state.session?.stream;
  }

  #perform(effect: RelayEffect): void {
    switch (effect.type) {
      case "dial":
        assert(![...this.connections.values()].some(({ state }) => state !== "over"), "one connection at a time");
        this.timers.delete(effect.connection);
        this.connections.set(effect.connection, { state: "dialing", stream: this.live!, sent: [] });
        return;
      case "dial later":
        // A new time replaces the time before.
        this.timers.clear();
        this.timers.add(effect.connection);
        return;
      case "send up": {
        const connection = this.connections.get(effect.connection);
        assert.equal(connection?.state, "open", "sent on an open connection");
        connection!.sent.push(effect.bytes);
        return;
      }
      case "close upstream":
        this.connections.get(effect.connection)!.state = "over";
        return;
      case "send down":
        assert(this.streams[effect.stream - 1]!.open, "sent on an open stream");
        this.down.push(effect);
        return;
      case "close downstream":
        assert(this.streams[effect.stream - 1]!.open, "an open stream is closed");
        this.streams[effect.stream - 1]!.open = false;
        return;
      case "work off": {
        const response = readResponse(effect.variant, effect.bytes);
        this.workedOff.push({ type: "worked off", connection: effect.connection, response });
      }
    }
  }

  #check(): void {
    const open = this.streams.flatMap((stream, i) => (stream.open ? [i + 1] : []));
    assert.deepEqual(open, this.live === undefined ? [] : [this.live], "one stream, the machine's");
    const active = [...this.connections].filter(([, { state }]) => state !== "over");
    if (this.live === undefined) assert.equal(active.length, 0, "no connection without a stream");
    else {
      const pending = this.timers.has(this.state.session!.connection) ? 1 : 0;
      assert(active.length + pending >= 1, "something will happen for every stream");
    }
    assert((this.state.session?.keptBytes ?? 0) <= MAX_KEPT);
    for (const [number, { state, stream, sent }] of this.connections) {
      const said = this.streams[stream - 1]!.said;
      const relayed = sent.filter((bytes) => said.includes(bytes));
      assert.deepEqual(relayed, said.slice(0, relayed.length), "requests in their order");
      if (state === "open" && number === this.state.session?.connection) assert.equal(relayed.length, said.length);
    }
  }
}

const number = fc.nat(5);
const command = fc.oneof(
  fc.record({ do: fc.constant("open" as const), delta: fc.boolean() }),
  fc.record({ do: fc.constant("say" as const), back: number, type: fc.nat(1) }),
  fc.record({ do: fc.constant("leave" as const), back: number }),
  fc.record({ do: fc.constant("time" as const), back: number }),
  fc.record({ do: fc.constant("connected" as const), back: number }),
  fc.record({ do: fc.constant("answer" as const), back: number, type: fc.nat(3) }),
  fc.record({ do: fc.constant("cut" as const), back: number }),
  fc.record({ do: fc.constant("work" as const), back: number }),
  fc.record({ do: fc.constant("health" as const) }),
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** A recent item of a list, mostly the very last item. */
function pick<T>(list: readonly T[], back: number): T | undefined {
  return list.at(-1 - Math.max(0, back - 2));
}

function run(world: World, next: Command, count: number): void {
  const connectionOf = (back: number) => pick([...world.connections.keys()], back);
  switch (next.do) {
    case "open":
      world.streams.push({ variant: next.delta ? "delta" : "sotw", open: true, said: [] });
      world.send({ type: "downstream opened", stream: world.streams.length, variant: next.delta ? "delta" : "sotw" });
      return;
    case "say": {
      const stream = pick(world.streams.map((_, i) => i + 1), next.back);
      if (stream === undefined) return;
      const { open, variant, said } = world.streams[stream - 1]!;
      const bytes = request(variant, REQUESTED[next.type]!);
      if (open) said.push(bytes);
      world.send({ type: "downstream message", stream, bytes });
      return;
    }
    case "leave": {
      const stream = pick(world.streams.map((_, i) => i + 1), next.back);
      if (stream === undefined) return;
      world.streams[stream - 1]!.open = false;
      world.send({ type: "downstream closed", stream });
      return;
    }
    case "time": {
      const connection = pick([...world.timers], next.back);
      if (connection !== undefined) world.send({ type: "time to dial", connection });
      return;
    }
    case "connected": {
      const connection = connectionOf(next.back);
      if (connection === undefined) return;
      const there = world.connections.get(connection)!;
      if (there.state === "dialing") there.state = "open";
      world.send({ type: "upstream opened", connection });
      return;
    }
    case "answer": {
      const connection = connectionOf(next.back);
      if (connection === undefined) return;
      const live = world.connections.get(connection)!.state === "open";
      const bytes = response(RESPONDED[next.type]!, String(count));
      const before = world.down.length;
      world.send({ type: "upstream message", connection, bytes });
      const passed = world.down.slice(before);
      if (live && next.type < 2) assert.deepEqual(passed, [{ type: "send down", stream: world.live, bytes }]);
      else assert.deepEqual(passed, [], "what is not the proxy's stays here, what is over too");
      return;
    }
    case "cut": {
      const connection = connectionOf(next.back);
      if (connection === undefined) return;
      world.connections.get(connection)!.state = "over";
      world.send({ type: "upstream closed", connection, reason: "cut" });
      return;
    }
    case "work": {
      const event = pick(world.workedOff, next.back);
      if (event !== undefined) world.send(event);
      return;
    }
    case "health":
      world.send({ type: "health", report: { healthy: false, reason: `health ${count}` } });
  }
}

Deno.test("under any order of events there is one connection for the newest stream, no request is lost, swapped or said twice, and no stream waits for nothing", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60, size: "max" }), (commands) => {
      const world = new World();
      commands.forEach((next, count) => run(world, next, count));
      world.send({ type: "stop" });
      assert(world.streams.every(({ open }) => !open));
      assert([...world.connections.values()].every(({ state }) => state === "over"));
    }),
    { numRuns: runs(500) },
  );
});
