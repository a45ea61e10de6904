/**
 * A pod and a client: two network namespaces joined by a cable, with processes that open real sockets.
 *
 * Permissions: run, read.
 * @module
 */
import { sh } from "./tools.ts";

const script = new URL("./sockets.py", import.meta.url).pathname;

/** Addresses of the two, by family. */
export const addresses = {
  4: { pod: "10.77.0.2", client: "10.77.0.1", other: "10.77.0.3", net: "10.77.0.0/24" },
  6: { pod: "fd77::2", client: "fd77::1", other: "fd77::3", net: "fd77::/64" },
} as const;

/** User and group of a process. */
export interface User {
  readonly uid: number;
  readonly gid: number;
  /** Holds NET_ADMIN, like a proxy that keeps source addresses. */
  readonly netAdmin?: boolean;
}

/** The users in a pod. */
export const users = {
  root: { uid: 0, gid: 0 },
  app: { uid: 1000, gid: 1000 },
  proxy: { uid: 1337, gid: 1337, netAdmin: true },
  proxyGroup: { uid: 1001, gid: 1337 },
  other: { uid: 1002, gid: 5000 },
} as const satisfies Record<string, User>;

/** A listener's answer to a client. */
export interface Answer {
  readonly name: string;
  readonly peer: string;
  readonly local?: readonly [string, number];
  readonly original?: readonly [string, number] | null;
  readonly app?: Answer;
  readonly error?: string;
}

/** The outcome of dialling. */
export interface Dialled {
  readonly answer?: Answer | null;
  readonly error?: string;
}

/** A process in a namespace that opens sockets on command. */
export class Actor {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";
  #turn: Promise<unknown> = Promise.resolve();

  constructor(namespace: string, user: User) {
    const caps = user.netAdmin === true ? ["--inh-caps=+net_admin,+net_raw", "--ambient-caps=+net_admin,+net_raw"] : [];
    const as = ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", ...caps];
    this.#child = new Deno.Command("ip", {
      args: ["netns", "exec", namespace, ...as, "/usr/bin/python3", script],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Sends a command to the process; one command at a time. */
  ask<T>(command: Record<string, unknown>): Promise<T> {
    const turn = this.#turn.then(() => this.#exchange(command));
    this.#turn = turn.catch(() => {});
    return turn as Promise<T>;
  }

  async #exchange(command: Record<string, unknown>): Promise<unknown> {
    await this.#writer.write(new TextEncoder().encode(JSON.stringify(command) + "\n"));
    while (!this.#rest.includes("\n")) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error(`the process ended while it was asked ${JSON.stringify(command)}`);
      this.#rest += value;
    }
    const at = this.#rest.indexOf("\n");
    const line = this.#rest.slice(0, at);
    this.#rest = this.#rest.slice(at + 1);
    return JSON.parse(line);
  }

  /** Listens; connections are answered with {@link Answer}. */
  async listen(name: string, host: string, port: number, extra: Record<string, unknown> = {}): Promise<void> {
    const said = await this.ask<{ error?: string }>({ do: "listen", protocol: "tcp", name, host, port, ...extra });
    if (said.error !== undefined) throw new Error(`${name} on ${host} port ${port}: ${said.error}`);
  }

  /** Connects, or sends a datagram, and waits for the answer. */
  dial(host: string, port: number, extra: Record<string, unknown> = {}): Promise<Dialled> {
    return this.ask({ do: "dial", protocol: "tcp", host, port, ...extra });
  }

  /** Ends the process. */
  async end(): Promise<void> {
    await this.#writer.close().catch(() => {});
    await this.#reader.cancel();
    await this.#child.status;
  }
}

/** The two namespaces. */
export class Cable implements AsyncDisposable {
  readonly pod: string;
  readonly client: string;
  readonly #actors: Actor[] = [];

  private constructor() {
    const id = crypto.randomUUID().slice(0, 8);
    this.pod = `mesh-${id}-pod`;
    this.client = `mesh-${id}-cl`;
  }

  /** Makes the two namespaces, with addresses of both families and a route from the pod to everywhere by the client. */
  static async lay(): Promise<Cable> {
    const cable = new Cable();
    try {
      await cable.#make();
    } catch (error) {
      await cable[Symbol.asyncDispose]();
      throw error;
    }
    return cable;
  }

  async #make(): Promise<void> {
    await sh("ip", "netns", "add", this.pod);
    await sh("ip", "netns", "add", this.client);
    await sh(
      "ip",
      "link",
      "add",
      "eth0",
      "netns",
      this.pod,
      "type",
      "veth",
      "peer",
      "name",
      "eth0",
      "netns",
      this.client,
    );
    for (const [namespace, side] of [[this.pod, "pod"], [this.client, "client"]] as const) {
      await sh("ip", "-n", namespace, "link", "set", "lo", "up");
      await sh("ip", "-n", namespace, "addr", "add", `${addresses[4][side]}/24`, "dev", "eth0");
      await sh("ip", "-n", namespace, "addr", "add", `${addresses[6][side]}/64`, "dev", "eth0", "nodad");
      await sh("ip", "-n", namespace, "link", "set", "eth0", "up");
    }
    // A second address of the client, for ranges.
    await sh("ip", "-n", this.client, "addr", "add", `${addresses[4].other}/24`, "dev", "eth0");
    await sh("ip", "-n", this.client, "addr", "add", `${addresses[6].other}/64`, "dev", "eth0", "nodad");
    await sh("ip", "-n", this.pod, "route", "add", "default", "via", addresses[4].client);
    await sh("ip", "-n", this.pod, "-6", "route", "add", "default", "via", addresses[6].client);
  }

  /** Starts a process in one of the two namespaces. */
  actor(where: "pod" | "client", user: User): Actor {
    const actor = new Actor(this[where], user);
    this.#actors.push(actor);
    return actor;
  }

  /** Runs a command in one of the two namespaces. */
  exec(where: "pod" | "client", command: string, ...args: string[]): Promise<string> {
    return sh("ip", "netns", "exec", this[where], command, ...args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#actors.map((actor) => actor.end()));
    for (const namespace of [this.pod, this.client]) {
      await new Deno.Command("ip", { args: ["netns", "del", namespace], stdout: "null", stderr: "null" }).output();
    }
  }
}
