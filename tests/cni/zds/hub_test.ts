/** Pods and node tunnels: the order of messages on each connection, and which tunnel hears what. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type Handed, TunnelHub } from "../../../lib/cni/zds/hub.ts";
import { addMessage, MAX_MESSAGE, MessageError, readHello, readResponse } from "../../../lib/cni/zds/messages.ts";
import type { HeldPod, TunnelSession } from "../../../lib/cni/zds/session.ts";

const HELLO = Uint8Array.of(8, 1);
const ACK = Uint8Array.of(10, 0);
const nack = (text: string) => Uint8Array.of(10, text.length + 2, 10, text.length, ...new TextEncoder().encode(text));

function pod(uid: string): HeldPod {
  return { uid, name: `pod-${uid}`, namespace: "shop", serviceAccount: "cart", netns: `/n/${uid}`, identity: "1:2" };
}

/** What a message says: `add u1`, `keep u1`, `del u1`, `snapshot`. */
function said(packet: Uint8Array): string {
  const text = new TextDecoder("latin1").decode(packet);
  const uid = /u\d+/.exec(text)?.[0] ?? "";
  const kind = { 10: "add", 18: "del", 26: "snapshot", 42: "keep" }[packet[0] ?? 0];
  return `${kind} ${uid}`.trim();
}

/** A tunnel that is driven by hand. */
class Tunnel {
  readonly got: string[] = [];
  closed: string | undefined;
  deadline: number | undefined;
  readonly lost = new Set<string>();
  readonly session: TunnelSession;
  constructor(readonly hub: TunnelHub) {
    this.session = hub.session({
      send: (packet, held) => {
        if (held !== undefined && this.lost.has(held.uid)) return "no namespace";
        this.got.push(said(packet) + (held === undefined ? "" : " +fd"));
        return "sent";
      },
      setDeadline: (ms) => void (this.deadline = ms),
      close: (why) => void (this.closed = why),
    });
  }
  say(packet: Uint8Array): void {
    this.hub.packet(this.session, packet);
  }
  /** Greets, and acknowledges everything. */
  greet(): this {
    this.say(HELLO);
    return this.ackAll();
  }
  ackAll(): this {
    for (let seen = -1; seen !== this.got.length;) {
      seen = this.got.length;
      if (this.deadline !== undefined) this.say(ACK);
    }
    return this;
  }
}

function world() {
  const answers: string[] = [];
  const counts: number[] = [];
  const hub = new TunnelHub({
    answered: (uid, answer) => answers.push(`${uid} ${answer.is}`),
    connected: (count) => counts.push(count),
  });
  const hold = (uid: string) => {
    const handed: Handed[] = [];
    hub.hold(pod(uid), (one) => handed.push(one));
    return handed;
  };
  return { hub, answers, counts, hold };
}

Deno.test("a snapshot names each pod, one message at a time, with the descriptor, and ends; then come changes", () => {
  const { hub, answers, hold } = world();
  assert.deepEqual([...hold("u1"), ...hold("u2")], [{ is: "no tunnel" }, { is: "no tunnel" }]);
  const tunnel = new Tunnel(hub);
  assert.deepEqual(tunnel.got, [], "the tunnel speaks first");
  tunnel.say(HELLO);
  assert.deepEqual(tunnel.got, ["add u1 +fd"]);
  tunnel.say(ACK);
  tunnel.say(nack("ports"));
  assert.deepEqual(answers, ["u1 acked", "u2 refused"]);
  tunnel.say(ACK);
  assert.deepEqual(tunnel.got, ["add u1 +fd", "add u2 +fd", "snapshot"]);
  const handed = hold("u3");
  assert.deepEqual(handed, []);
  tunnel.say(ACK);
  assert.deepEqual(handed, [{ is: "acked" }]);
  let released = false;
  hub.release("u1", () => (released = true));
  assert.deepEqual(tunnel.got.slice(3), ["add u3 +fd", "del u1"]);
  assert(!released);
  tunnel.say(ACK);
  assert(released);
});

Deno.test("a pod that a tunnel has, or is about to answer about, is not given again: the tunnel's answer counts", () => {
  const { hub, answers, hold } = world();
  hold("u1");
  const tunnel = new Tunnel(hub);
  tunnel.say(HELLO);
  // The agent looks at the pod again before it hears of the tunnel's answer.
  const [before, again] = [hold("u1"), hold("u1")];
  tunnel.say(ACK);
  assert.deepEqual([before, again, answers], [[{ is: "acked" }], [{ is: "acked" }], ["u1 acked"]]);
  tunnel.ackAll();
  assert.deepEqual(hold("u1"), [{ is: "acked" }]);
  assert.deepEqual(tunnel.got, ["add u1 +fd", "snapshot"]);
  const late = hold("u2");
  const alsoLate = hold("u2");
  tunnel.say(nack("busy"));
  assert.deepEqual([late, alsoLate].map(([one]) => one?.is), ["refused", "refused"]);
  hold("u2");
  assert.deepEqual(tunnel.got.slice(2), ["add u2 +fd", "add u2 +fd"], "a refused pod is given again");
  hub.hold({ ...pod("u1"), identity: "1:3" }, () => {});
  tunnel.ackAll();
  assert.deepEqual(tunnel.got.slice(4), ["add u1 +fd"], "another namespace is given");
  hub.release("u1", () => {});
  tunnel.ackAll();
  hold("u1");
  assert.deepEqual(tunnel.got.slice(5), ["del u1", "add u1 +fd"], "a pod that was taken back is given again");
});

Deno.test("during a snapshot a new pod goes first, and a pod that ends is not named any more", () => {
  const { hub, hold } = world();
  ["u1", "u2", "u3"].forEach(hold);
  const tunnel = new Tunnel(hub);
  tunnel.say(HELLO);
  hold("u4");
  hub.release("u2", () => {});
  hub.release("u1", () => {});
  tunnel.ackAll();
  assert.deepEqual(tunnel.got, ["add u1 +fd", "add u4 +fd", "add u3 +fd", "snapshot", "del u1"]);
});

Deno.test("a namespace that cannot be opened is kept in a snapshot, and refused later", () => {
  const { hub, answers, hold } = world();
  hold("u1");
  const tunnel = new Tunnel(hub);
  tunnel.lost.add("u1");
  tunnel.greet();
  assert.deepEqual(tunnel.got, ["keep u1", "snapshot"]);
  assert.deepEqual(answers, ["u1 lost"]);
  assert.deepEqual(hold("u1"), [{ is: "lost" }]);
});

Deno.test("two tunnels: new pods go to the newest, ends to both, and the older takes over what only the newest had", () => {
  const { hub, answers, counts, hold } = world();
  hold("u1");
  const old = new Tunnel(hub).greet();
  const young = new Tunnel(hub).greet();
  hold("u2");
  young.ackAll();
  assert.deepEqual(old.got, ["add u1 +fd", "snapshot"]);
  assert.deepEqual(young.got, ["add u1 +fd", "snapshot", "add u2 +fd"]);
  hub.release("u1", () => {});
  assert.equal(old.got.at(-1), "del u1");
  assert.equal(young.got.at(-1), "del u1");
  old.ackAll();
  hub.ended(young.session);
  assert.equal(old.got.at(-1), "add u2 +fd");
  old.ackAll();
  assert.equal(answers.at(-1), "u2 acked");
  assert.deepEqual(counts, [1, 2, 1]);
});

Deno.test("a tunnel that does not answer, or speaks out of turn, is left; its requests are answered, and others go on", () => {
  const { hub, hold } = world();
  const silent = new Tunnel(hub).greet();
  const handed = hold("u1");
  let released = false;
  hub.release("u1", () => (released = true));
  const other = new Tunnel(hub).greet();
  assert.deepEqual(other.got, ["snapshot"], "an end that waits at one tunnel holds up no other");
  hub.late(silent.session);
  assert.match(silent.closed ?? "", /no answer within 5000 ms/);
  assert.deepEqual(handed.map(({ is }) => is), ["ended"]);
  assert(released);
  other.say(ACK);
  assert.match(other.closed ?? "", /expected none without a request/);
  const early = new Tunnel(hub);
  early.say(Uint8Array.of(8, 2));
  assert.match(early.closed ?? "", /ZdsHello.version: got 2, expected 1/);
});

Deno.test("messages beyond the limit and broken bytes are refused", () => {
  assert.throws(() => addMessage({ ...pod("u1"), name: "x".repeat(MAX_MESSAGE) }), MessageError);
  assert.throws(() => readHello(new Uint8Array(MAX_MESSAGE + 1)), MessageError);
  assert.throws(() => readResponse(Uint8Array.of(10, 200)), MessageError);
  assert.throws(() => readResponse(new Uint8Array()), /ack: got none/);
  assert.equal(readResponse(nack("no")), "no");
});

Deno.test("whatever happens, the open tunnels together were given every pod, and no pod that ended", () => {
  const event = fc.record({ what: fc.constantFrom("hold", "release", "greet", "end", "ack"), n: fc.nat(5) });
  fc.assert(fc.property(fc.array(event, { maxLength: 60 }), (events) => {
    const { hub, hold } = world();
    const held = new Set<string>();
    let tunnels: Tunnel[] = [];
    for (const { what, n } of events) {
      const uid = `u${n}`;
      const tunnel = tunnels[n % Math.max(1, tunnels.length)];
      if (what === "hold") held.add((hold(uid), uid));
      else if (what === "release") hub.release((held.delete(uid), uid), () => {});
      else if (what === "greet") {
        tunnels.push(new Tunnel(hub));
        tunnels.at(-1)!.say(HELLO);
      } else if (tunnel !== undefined && what === "ack" && tunnel.deadline !== undefined) tunnel.say(ACK);
      else if (tunnel !== undefined && what === "end") {
        hub.ended(tunnel.session);
        tunnels = tunnels.filter((one) => one !== tunnel);
      }
    }
    tunnels.forEach((tunnel) => tunnel.ackAll());
    if (tunnels.length === 0) return;
    const knows = (tunnel: Tunnel) => {
      const known = new Set<string>();
      for (const line of tunnel.got) {
        const [kind, uid = ""] = line.split(" ");
        if (kind === "add") known.add(uid);
        if (kind === "del") known.delete(uid);
      }
      return known;
    };
    const known = new Set(tunnels.flatMap((tunnel) => [...knows(tunnel)]));
    assert.deepEqual([...known].sort(), [...held].sort());
  }));
});
