/**
 * A Prometheus with answers that a test chooses, in the JSON of Prometheus' HTTP API.
 *
 * Permissions: net (loopback).
 *
 * @module
 */

/** A sample of an answer: labels and a rate. */
export interface FakeSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly rate: number;
}

/** The answer to a query as a whole. */
export type FakeAnswer = (query: string) => Response | Promise<Response>;

/** The answer to a query of a vector. */
export function vector(samples: readonly FakeSample[]): Response {
  const result = samples.map(({ labels, rate }) => ({ metric: labels, value: [1_790_000_000.123, String(rate)] }));
  return Response.json({ status: "success", data: { resultType: "vector", result } });
}

/** The answer to a query that Prometheus refuses. */
export function refusal(error: string): Response {
  return Response.json({ status: "error", errorType: "bad_data", error }, { status: 400 });
}

/** Labels of requests from a workload to a service, as a namespace's graph asks for them. */
export function ends(
  [namespace, workload, account]: readonly [namespace: string, workload: string, account: string],
  [targetNamespace, host]: readonly [namespace: string, host: string],
): Record<string, string> {
  return {
    source_workload_namespace: namespace,
    source_workload: workload,
    source_principal: account === "" ? "unknown" : `spiffe://cluster.local/ns/${namespace}/sa/${account}`,
    destination_service_namespace: targetNamespace,
    destination_service: host,
  };
}

export class FakePrometheus implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  /** The queries so far. */
  readonly queries: string[] = [];

  /** @param answer of every query */
  constructor(public answer: FakeAnswer) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      const url = new URL(request.url);
      if (url.pathname !== "/api/v1/query") return new Response("404 page not found", { status: 404 });
      const query = url.searchParams.get("query") ?? "";
      this.queries.push(query);
      return await this.answer(query);
    });
  }

  get address(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** Whether a query is about errors. */
export function isAboutErrors(query: string): boolean {
  return query.includes("response_code");
}
