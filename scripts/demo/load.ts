/**
 * A client that never stops asking, and counts its answers.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import http from "node:http";

/** Answers by their text, and failures by their reason: a status that is not 200 with its text, or why no answer came. */
export interface LoadCounts {
  readonly answers: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
}

/** Clients on connections that they keep, beside one that opens a new one each time. */
const KEEPING = 3;

/** A load on one port of this machine, for one host. */
export class Load implements AsyncDisposable {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: KEEPING });
  readonly #clients: Promise<void>[];
  #answers: Record<string, number> = {};
  #failures: Record<string, number> = {};
  #asked = 0;
  #waiting: (() => void)[] = [];
  #over = false;

  /** Begins. */
  constructor(port: number, host: string) {
    const agents = [...Array(KEEPING).fill(this.#agent), false as const];
    this.#clients = agents.map((agent) => this.#client({ host: "127.0.0.1", port, headers: { host }, agent }));
  }

  /** The counts since the last call. */
  take(): LoadCounts {
    const counts = { answers: this.#answers, failures: this.#failures };
    [this.#answers, this.#failures] = [{}, {}];
    return counts;
  }

  /** Resolves when so many more requests have been asked from now on and have ended. */
  async more(count: number): Promise<void> {
    // Those that are under way now were asked before.
    const end = this.#asked + count + KEEPING + 1;
    while (this.#asked < end && !this.#over) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    }
  }

  async #client(options: http.RequestOptions): Promise<void> {
    while (!this.#over) {
      const { status, text } = await ask(options);
      this.#asked++;
      this.#waiting.splice(0).forEach((resolve) => resolve());
      const counts = status === 200 ? this.#answers : this.#failures;
      const key = status === 200 ? text : status === 0 ? `no answer: ${text}` : `${status} ${text}`;
      counts[key] = (counts[key] ?? 0) + 1;
      // Others share the machine, the servers under load among them.
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    await Promise.all(this.#clients);
    this.#agent.destroy();
  }
}

/** One request; status 0 where no answer came, and why. */
function ask(options: http.RequestOptions): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve } = Promise.withResolvers<{ status: number; text: string }>();
  const failed = (error: Error) => resolve({ status: 0, text: error.message });
  const request = http.get(options, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part) => text += part).on("error", failed);
    response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
  });
  request.on("error", failed);
  return promise;
}

/**
 * One request: the text of the answer, its status where that is not 200, or `refused`.
 *
 * @param agent Whose connections it may use. Default: a connection of its own.
 */
export async function oneRequest(port: number, host: string, agent: http.Agent | false = false): Promise<string> {
  const { status, text } = await ask({ host: "127.0.0.1", port, headers: { host }, agent });
  return status === 200 ? text : status === 0 ? "refused" : `${status}`;
}
