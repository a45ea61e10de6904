/** The socket process with real sockets, descriptors and network namespaces. */
import assert from "node:assert/strict";
import { ownCommandLine } from "../../../cmd/install-cni/own_command_line.ts";
import { startZds, ZdsClient, type ZdsListeners } from "../../../lib/cni/zds/client.ts";
import type { HeldPod } from "../../../lib/cni/zds/session.ts";
import { spawnNsenter } from "../../../lib/cni/plugin/enter.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { until } from "../../patience.ts";
import { must, namespaceTest, run } from "../support/commands.ts";
import { Tunnels } from "../support/tunnels.ts";

/** Namespaces, a socket's path and a client, all gone at the end. */
class Node implements AsyncDisposable {
  readonly #id = crypto.randomUUID().slice(0, 8);
  readonly #folder = Deno.makeTempDirSync({ prefix: "zds-" });
  readonly #names = new Set<string>();
  readonly #children: Deno.ChildProcess[] = [];
  readonly socket = `${this.#folder}/ztunnel.sock`;
  readonly answered: string[] = [];
  readonly counts: number[] = [];
  readonly client: ZdsClient;

  constructor() {
    const log = createLog([], { ...defaultLogOptions, targets: [] }).scope("cni-agent");
    const listeners: ZdsListeners = {
      answered: (uid, { outcome }) => this.answered.push(`${uid} ${outcome}`),
      connected: (count) => this.counts.push(count),
    };
    const spawn = (options: Deno.CommandOptions) => {
      const child = spawnNsenter(options);
      this.#children.push(child);
      return child;
    };
    const start = () => startZds(ownCommandLine(), this.socket, spawn, log);
    this.client = new ZdsClient(start, listeners, systemClock, log);
  }

  /** The process of the moment. */
  get pid(): number {
    return this.#children.at(-1)!.pid;
  }

  /** A pod with a namespace of its own. */
  async pod(uid: string): Promise<HeldPod> {
    const name = `zds-${this.#id}-${uid}`;
    await must("ip", ["netns", "add", name]);
    this.#names.add(name);
    const netns = `/run/netns/${name}`;
    const { dev, ino } = Deno.statSync(netns);
    return { uid, name: `pod-${uid}`, namespace: "shop", serviceAccount: "cart", netns, identity: `${dev}:${ino}` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.stop();
    for (const name of this.#names) await run("ip", ["netns", "del", name]);
    Deno.removeSync(this.#folder, { recursive: true });
  }
}

namespaceTest(
  "a tunnel gets the very namespaces of the pods, then changes; two at once, and one that reconnects",
  async () => {
    await using node = new Node();
    await using tunnels = new Tunnels();
    const [u1, u2, u3] = [await node.pod("u1"), await node.pod("u2"), await node.pod("u3")];
    await node.client.serve();
    assert.equal((await node.client.hold(u1)).outcome, "no tunnel");
    await tunnels.connect("old", node.socket);
    await tunnels.until("old", "add u1", "snapshot");
    assert.deepEqual(tunnels.messages("old").map(({ namespaces }) => namespaces), [[u1.identity], []]);
    assert.equal((await node.client.hold(u2)).outcome, "acked");
    await tunnels.until("old", "add u2");
    assert.deepEqual(tunnels.messages("old").at(-1), { said: "add u2", namespaces: [u2.identity] });
    await tunnels.connect("young", node.socket);
    await tunnels.until("young", "add u1", "add u2", "snapshot");
    await node.client.hold(u3);
    await node.client.release("u1");
    await tunnels.until("young", "add u3", "del u1");
    await tunnels.until("old", "add u2", "del u1");
    await tunnels.close("young");
    await tunnels.until("old", "del u1", "add u3");
    await tunnels.connect("again", node.socket);
    await tunnels.until("again", "add u2", "add u3", "snapshot");
    await until("both are counted", () => node.counts.at(-1) === 2);
  },
);

namespaceTest(
  "a path that became another namespace is not handed over; a refusal and a silent tunnel are told",
  async () => {
    await using node = new Node();
    await using tunnels = new Tunnels();
    const pod = await node.pod("u1");
    await node.client.serve();
    await tunnels.connect("t", node.socket);
    await tunnels.until("t", "snapshot");
    assert.equal((await node.client.hold({ ...pod, identity: "1:1" })).outcome, "lost");
    assert.equal((await node.client.hold({ ...pod, netns: "/run/netns/none-such" })).outcome, "lost");
    assert.deepEqual(tunnels.messages("t").map(({ said }) => said), ["snapshot"]);
    await tunnels.connect("refuses", node.socket, "no port");
    await tunnels.until("refuses", "snapshot");
    assert.deepEqual(await node.client.hold(pod), { outcome: "refused", why: "no port" });
    await tunnels.connect("silent", node.socket, "none");
    await until("the silent tunnel is the newest", () => node.counts.at(-1) === 3);
    const { outcome, why } = await node.client.hold(pod);
    assert.deepEqual([outcome, /no answer within/.test(why)], ["ended", true]);
    await tunnels.untilEnd("silent");
  },
);

namespaceTest(
  "a process that is killed is replaced, and serves the same pods; a process without its agent ends",
  async () => {
    await using node = new Node();
    await using tunnels = new Tunnels();
    const pod = await node.pod("u1");
    await node.client.serve();
    await node.client.hold(pod);
    await tunnels.connect("first", node.socket);
    await tunnels.until("first", "add u1", "snapshot");
    const before = node.pid;
    Deno.kill(before, "SIGKILL");
    await tunnels.untilEnd("first");
    await until("another process", () => node.pid !== before);
    await tunnels.connect("second", node.socket);
    await tunnels.until("second", "add u1", "snapshot");
    await node.client.stop();
    await tunnels.untilEnd("second");
  },
);
