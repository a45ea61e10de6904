/**
 * The node agent's end of the socket process: starts it, tells it the node's pods, and starts it again if it ends. Pods
 * are kept here, so that a new process serves what the old one served.
 *
 * Permissions: run (nsenter, by which the program starts itself).
 *
 * @module
 */
import { enterWords } from "../../iptables/run.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { linesOf, type Order, readWord, type TunnelOutcome, type Word } from "./channel.ts";
import type { HeldPod } from "./session.ts";

/** A running socket process. */
export interface ZdsChild {
  readonly output: ReadableStream<Uint8Array>;
  /** Writes a line. A process that has ended takes none, silently. */
  write(line: string): void;
  /** Ends the process: its standard input ends. */
  end(): Promise<void>;
}

/** How a pod was handed to a tunnel. */
export interface HandedOver {
  readonly outcome: TunnelOutcome;
  /** The reason, for people; empty for success. */
  readonly why: string;
}

/** What tunnels do without being asked. */
export interface ZdsListeners {
  /** A tunnel answered about a pod in a snapshot. */
  answered(uid: string, handed: HandedOver): void;
  connected(count: number): void;
}

/** First wait before another start, milliseconds. Each further wait is twice as long, up to the longest. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 5000;

/** The pods of the node, in the hands of a socket process. */
export class ZdsClient {
  readonly #pods = new Map<string, HeldPod>();
  readonly #waiting = new Map<number, (handed: HandedOver) => void>();
  readonly #stopped = new AbortController();
  readonly #serving = Promise.withResolvers<void>();
  #child: ZdsChild | undefined;
  #running: Promise<void> | undefined;
  #serves = false;
  #last = 0;
  #connected = 0;

  readonly #start: () => ZdsChild;
  readonly #listeners: ZdsListeners;
  readonly #clock: Clock;
  readonly #log: Logger;

  /** @param start Starts a process. */
  constructor(start: () => ZdsChild, listeners: ZdsListeners, clock: Clock, log: Logger) {
    this.#start = start;
    this.#listeners = listeners;
    this.#clock = clock;
    this.#log = log;
  }

  /** Lets tunnels connect. Before, the node's pods should be held. Resolves when the socket is there. */
  serve(): Promise<void> {
    this.#serves = true;
    this.#order({ do: "serve" });
    this.#run();
    return this.#serving.promise;
  }

  /** Hands a pod over, now and to every tunnel to come. */
  hold(pod: HeldPod): Promise<HandedOver> {
    this.#pods.set(pod.uid, pod);
    return this.#ask((id) => ({ do: "hold", id, pod }));
  }

  /** Forgets a pod. Resolves when all tunnels have answered. */
  async release(uid: string): Promise<void> {
    if (this.#pods.delete(uid)) await this.#ask((id) => ({ do: "release", id, uid }));
  }

  /** Tunnels that have greeted and are connected. */
  get connected(): number {
    return this.#connected;
  }

  /** Ends the process, and starts no other. */
  async stop(): Promise<void> {
    this.#stopped.abort(new Error("stopped"));
    await this.#child?.end();
    await this.#running;
  }

  #ask(order: (id: number) => Order): Promise<HandedOver> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      if (this.#child === undefined) return resolve(NO_PROCESS);
      this.#waiting.set(id, resolve);
      this.#order(order(id));
    });
  }

  #order(order: Order): void {
    this.#child?.write(JSON.stringify(order) + "\n");
  }

  #run(): void {
    this.#running ??= (async () => {
      for (let wait = FIRST_WAIT_MS; !this.#stopped.signal.aborted;) {
        const began = this.#clock.monotonic();
        await this.#once();
        if (this.#stopped.signal.aborted) return;
        wait = this.#clock.monotonic() - began > LONGEST_WAIT_MS ? FIRST_WAIT_MS : wait;
        this.#log.error("the socket process of node tunnels ended; another is started", { wait });
        await this.#clock.sleep(wait, this.#stopped.signal).catch(() => {});
        wait = Math.min(2 * wait, LONGEST_WAIT_MS);
      }
    })();
  }

  /** One process, from its start to its end. */
  async #once(): Promise<void> {
    try {
      this.#child = this.#start();
    } catch (error) {
      this.#log.error("the socket process of node tunnels cannot be started", { error });
      return;
    }
    // Nobody waits for these answers: a process without tunnels has none.
    for (const pod of this.#pods.values()) this.#order({ do: "hold", id: 0, pod });
    if (this.#serves) this.#order({ do: "serve" });
    try {
      for await (const line of linesOf(this.#child.output)) {
        const word = readWord(line);
        if (word !== undefined) this.#take(word);
      }
    } finally {
      this.#child = undefined;
      for (const answer of [...this.#waiting.values()]) answer(NO_PROCESS);
      this.#waiting.clear();
      this.#count(0);
    }
  }

  #count(tunnels: number): void {
    if (tunnels === this.#connected) return;
    this.#connected = tunnels;
    this.#listeners.connected(tunnels);
  }

  #take(word: Word): void {
    switch (word.say) {
      case "serving":
        return this.#serving.resolve();
      case "tunnels":
        return this.#count(word.count);
      case "pod":
        return this.#listeners.answered(word.uid, { outcome: word.outcome, why: word.why });
      case "failed":
        return this.#log.error("the socket of node tunnels cannot be served", { why: word.why });
      case "left":
        return this.#log.info("a node tunnel's connection ended", { why: word.why });
      case "done": {
        const answer = this.#waiting.get(word.id);
        this.#waiting.delete(word.id);
        answer?.({ outcome: word.outcome, why: word.why });
      }
    }
  }
}

const NO_PROCESS: HandedOver = { outcome: "no tunnel", why: "the socket process is being started" };

/** Starts the program as the socket process, with a command line of the program's own. */
export function startZds(commandLine: readonly string[], socket: string, spawn: Spawn, log: Logger): ZdsChild {
  const child = spawn({
    // Some versions of nsenter start nothing without a namespace.
    args: [...enterWords("/proc/self/ns/net"), ...commandLine, "zds", "--ztunnel-uds-address", socket],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  const writer = child.stdin.getWriter();
  const complaints = (async () => {
    for await (const line of linesOf(child.stderr)) if (line.trim() !== "") log.warn("socket process", { line });
  })();
  return {
    output: child.stdout,
    write: (line) => void writer.write(new TextEncoder().encode(line)).catch(() => {}),
    end: async () => {
      await writer.close().catch(() => {});
      await Promise.all([child.status, complaints]);
    },
  };
}

/** Starts `nsenter`. */
export type Spawn = (options: Deno.CommandOptions) => Deno.ChildProcess;
