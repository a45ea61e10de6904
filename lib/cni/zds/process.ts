/**
 * The socket process: `install-cni zds`. It holds the socket of node tunnels and passes descriptors of network
 * namespaces, and has no other right. The node agent, which has rights, has no foreign functions.
 *
 * It ends with its standard input, and with the socket: then the agent starts another.
 *
 * Permissions: ffi (the C library). The process gives all others up before it serves.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { linesOf, type Order, readOrder, type Word } from "./channel.ts";
import { type Handed, TunnelHub } from "./hub.ts";
import { Libc } from "./libc.ts";
import { MAX_MESSAGE } from "./messages.ts";
import type { HeldPod, SessionLink, TunnelSession } from "./session.ts";

/** Connections accepted in a second. A tunnel that fails at once must not keep the process busy. */
const ACCEPTS_PER_SECOND = 5;

/** The rights of the program that this process does not need. */
const NEEDLESS = ["net", "env", "run", "read", "write", "sys"] as const;

/** Serves until standard input ends. Resolves with the exit code. */
export async function zdsMain(socket: string): Promise<number> {
  const libc = Libc.open();
  await giveUpRights();
  const process = new SocketProcess(libc, socket);
  for await (const line of linesOf(Deno.stdin.readable)) {
    const order = readOrder(line);
    if (order !== undefined) process.take(order);
  }
  return 0;
}

/** @throws {Error} When a right cannot be given up: then the process must not serve. */
async function giveUpRights(): Promise<void> {
  for (const name of NEEDLESS) {
    const { state, partial } = await Deno.permissions.revoke({ name });
    if (state === "granted" || partial === true) throw new Error(`the right ${name} cannot be given up`);
  }
}

/** A connection with its session. */
interface OpenConnection {
  readonly fd: number;
  readonly session: TunnelSession;
}

class SocketProcess {
  readonly #libc: Libc;
  readonly #socket: string;
  readonly #hub: TunnelHub;
  readonly #connections = new Map<number, OpenConnection>();
  #accepted: number[] = [];

  constructor(libc: Libc, socket: string) {
    this.#libc = libc;
    this.#socket = socket;
    this.#hub = new TunnelHub({
      answered: (uid, answer) => say({ say: "pod", uid, outcome: answer.is, why: whyOf(answer) }),
      connected: (count) => say({ say: "tunnels", count }),
    });
  }

  take(order: Order): void {
    switch (order.do) {
      case "hold":
        return this.#hub.hold(order.pod, (handed) => done(order.id, handed));
      case "release":
        return this.#hub.release(order.uid, () => done(order.id, { is: "acked" }));
      case "serve":
        this.#serve().catch((error) => {
          say({ say: "failed", why: errorMessage(error) });
          Deno.exit(1);
        });
    }
  }

  /** One wait for the listener and all connections. Sessions change only by packets, so the wait is never cut short. */
  async #serve(): Promise<void> {
    const listener = this.#libc.listen(this.#socket);
    const waker = this.#libc.waker();
    say({ say: "serving" });
    for (;;) {
      const pause = this.#pause();
      if (pause > 0) setTimeout(() => this.#libc.wake(waker), pause);
      const waited = [waker, ...pause > 0 ? [] : [listener], ...this.#connections.keys()];
      for (const fd of await this.#libc.readable(waited)) {
        if (fd === waker) this.#libc.unwake(waker);
        else if (fd === listener) this.#accept(listener);
        else this.#receive(fd);
      }
    }
  }

  /** Milliseconds until the next accept. */
  #pause(): number {
    const now = performance.now();
    this.#accepted = this.#accepted.filter((at) => at > now - 1000);
    return this.#accepted.length < ACCEPTS_PER_SECOND ? 0 : Math.ceil(this.#accepted[0]! + 1000 - now);
  }

  #accept(listener: number): void {
    const fd = this.#libc.accept(listener);
    if (fd === undefined) return;
    this.#accepted.push(performance.now());
    this.#connections.set(fd, { fd, session: this.#hub.session(this.#link(fd)) });
  }

  #receive(fd: number): void {
    const session = this.#connections.get(fd)?.session;
    if (session === undefined) return;
    const packet = this.#libc.receive(fd, MAX_MESSAGE + 1);
    if (packet === "end") this.#hub.ended(session);
    else if (packet !== "none") this.#hub.packet(session, packet);
  }

  #link(fd: number): SessionLink {
    let timer: ReturnType<typeof setTimeout> | undefined;
    return {
      send: (packet, pod) => this.#send(fd, packet, pod),
      setDeadline: (ms) => {
        clearTimeout(timer);
        const session = () => this.#connections.get(fd)?.session;
        timer = ms === undefined ? undefined : setTimeout(() => {
          const late = session();
          if (late !== undefined) this.#hub.late(late);
        }, ms);
      },
      close: (why) => {
        clearTimeout(timer);
        const session = this.#connections.get(fd)?.session;
        if (!this.#connections.delete(fd)) return;
        this.#libc.hangUp(fd);
        say({ say: "left", why });
        // A session that closes itself is not in the hub's hands.
        if (session !== undefined) queueMicrotask(() => this.#hub.ended(session));
      },
    };
  }

  #send(fd: number, packet: Uint8Array, pod: HeldPod | undefined): "sent" | "no namespace" | "broken" {
    const bytes = Uint8Array.from(packet);
    if (pod === undefined) return this.#libc.send(fd, bytes) ? "sent" : "broken";
    const namespace = this.#libc.openFile(pod.netns);
    if (namespace === undefined) return "no namespace";
    try {
      if (this.#libc.identity(namespace) !== pod.identity) return "no namespace";
      return this.#libc.send(fd, bytes, namespace) ? "sent" : "broken";
    } finally {
      this.#libc.close(namespace);
    }
  }
}

function done(id: number, handed: Handed): void {
  say({ say: "done", id, outcome: handed.is, why: whyOf(handed) });
}

function whyOf(handed: Handed): string {
  return "why" in handed ? handed.why : "";
}

function say(word: Word): void {
  const line = new TextEncoder().encode(JSON.stringify(word) + "\n");
  for (let rest = line; rest.length > 0;) rest = rest.subarray(Deno.stdout.writeSync(rest));
}
