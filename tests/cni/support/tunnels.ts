/** Node tunnels' ends of the socket: connect, and what came over each connection. */
import { PATIENCE, until } from "../../patience.ts";
import { readRequest } from "../../tunnel/node/agent_socket.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** What a message says, with the namespaces whose descriptors came with it. */
export interface Message {
  /** `add u1`, `keep u1`, `del u1`, `snapshot`; a uid is a word. */
  readonly said: string;
  readonly namespaces: readonly string[];
}

interface Event {
  readonly name: string;
  readonly event: "connected" | "refused" | "end" | "message";
  readonly bytes?: string;
  readonly namespaces?: readonly string[];
}

/** A process with any number of tunnels. */
export class Tunnels implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  readonly #events: Event[] = [];

  constructor() {
    const words = ["run", "--quiet", "--no-prompt", "--cached-only", "--no-check", `--config=${ROOT}deno.json`];
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...words, "--allow-ffi", "--allow-read", `${ROOT}tests/cni/support/tunnel_ends.ts`],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const part of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#events.push(JSON.parse(line));
    }
  }

  async #order(order: Record<string, unknown>): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(JSON.stringify(order) + "\n"));
  }

  /** Connects a tunnel of a new name, again and again until the socket is there. It greets, and answers each message. */
  async connect(name: string, path: string, answer = "ack"): Promise<void> {
    const end = performance.now() + PATIENCE;
    for (let tries = 1;; tries++) {
      await this.#order({ do: "connect", name, path, answer });
      const answers = () => this.#of(name).filter(({ event }) => event === "connected" || event === "refused").length;
      await until(`an answer to connection ${tries} of ${name}`, () => answers() >= tries);
      if (this.#of(name).some(({ event }) => event === "connected")) return;
      if (performance.now() > end) throw new Error(`${path}: no connection`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async say(name: string, bytes: string): Promise<void> {
    await this.#order({ do: "say", name, bytes });
  }

  async close(name: string): Promise<void> {
    await this.#order({ do: "close", name });
  }

  /** The messages of a tunnel so far. */
  messages(name: string): Message[] {
    return this.#of(name).filter(({ event }) => event === "message").map(({ bytes = "", namespaces = [] }) => ({
      said: said(Uint8Array.fromHex(bytes)),
      namespaces,
    }));
  }

  hasEnded(name: string): boolean {
    return this.#of(name).some(({ event }) => event === "end");
  }

  /** Resolves when a tunnel has got these messages as its last. */
  async until(name: string, ...last: string[]): Promise<void> {
    const got = () => this.messages(name).map(({ said }) => said);
    const holds = () => got().slice(-last.length).join() === last.join();
    await until(`tunnel ${name} gets ${last.join(", ")} at the end`, holds);
  }

  async untilEnd(name: string): Promise<void> {
    await until(`the end of tunnel ${name}`, () => this.hasEnded(name));
  }

  #of(name: string): Event[] {
    return this.#events.filter((event) => event.name === name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close().catch(() => {});
    await Promise.all([this.#reading, this.#child.status]);
  }
}

function said(bytes: Uint8Array): string {
  const request = readRequest(bytes);
  return request.do === "snapshot sent" ? "snapshot" : `${request.do} ${request.uid}`;
}
