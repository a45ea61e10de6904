/**
 * A client that sends requests without pause, and counts the answers.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import http from "node:http";

/**
 * Answers by text, and failures by reason: a status other than 200 with its text, or the reason for a missing answer.
 */
export interface LoadCounts {
  readonly answers: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
}

/** Number of clients on kept connections. Another client opens a new connection per request. */
const KEEPING = 3;

/** A load on a port of this machine, for a single host. */
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
    // Requests under way now were sent before.
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
      // Other programs share the machine, including the servers under load.
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    await Promise.all(this.#clients);
    this.#agent.destroy();
  }
}

/** A request. Status 0 without an answer, with the reason. */
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
 * A request: the text of the answer, a status other than 200, or `refused`.
 *
 * @param agent Its connections may be used. Default: a new connection.
 */
export async function oneRequest(port: number, host: string, agent: http.Agent | false = false): Promise<string> {
  const { status, text } = await ask({ host: "127.0.0.1", port, headers: { host }, agent });
  return status === 200 ? text : status === 0 ? "refused" : `${status}`;
}
