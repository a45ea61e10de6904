/** The retry budget of an XBackendTrafficPolicy in a real Envoy. */
import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { envoyPath } from "../envoy/path.ts";
import { ask } from "./derive/traffic.ts";
import { backendService, document, edgeGateway, httpRoute, ruleTo } from "./folder_world.ts";
import { withFolder } from "./running_folder.ts";

const binary = envoyPath();

const REQUESTS = 10;

/** A backend that holds all first tries until the last of them arrived, and the further tries until it is opened. */
class FailingBackend {
  readonly #held: ServerResponse[] = [];
  #tries = 0;
  #isOpen = false;
  readonly server = createServer((_, answer) => {
    this.#held.push(answer);
    if (++this.#tries === REQUESTS || this.#isOpen) this.#fail();
  });

  get tries(): number {
    return this.#tries;
  }

  /** Fails the held tries, and every later one at once: a retry may still be on its way. */
  open(): void {
    this.#isOpen = true;
    this.#fail();
  }

  #fail(): void {
    for (const answer of this.#held.splice(0)) answer.writeHead(503).end();
  }
}

/** The number of tries of {@linkcode REQUESTS} requests at once, each with one retry. */
async function triesWith(policy: string, isLimited: boolean): Promise<number> {
  const backend = new FailingBackend();
  await new Promise<void>((ready) => backend.server.listen(0, "127.0.0.1", ready));
  const { port } = backend.server.address() as AddressInfo;
  const rule = { ...ruleTo("a"), retry: { codes: [503], attempts: 1, backoff: "1ms" } };
  const text = edgeGateway([{ name: "http", port: 80, protocol: "HTTP" }]) + httpRoute("all", [rule]) +
    backendService("a", port) + policy;
  try {
    await withFolder(binary!, text, { namespace: "shop", name: "edge" }, async ({ socket }) => {
      let answered = 0;
      const limited = Promise.withResolvers<void>();
      const asked = Array.from({ length: REQUESTS }, async () => {
        const { status } = await ask({ socket: socket(80) }, { host: "a.example", path: "/" });
        assert.equal(status, 503);
        if (++answered === REQUESTS - 1) limited.resolve();
      });
      // Without a limit every request waits for its retry, and the backend counts the retries.
      if (isLimited) await limited.promise;
      else while (backend.tries < 2 * REQUESTS) await new Promise((done) => backend.server.once("request", done));
      backend.open();
      await Promise.all(asked);
    }, { PILOT_ENABLE_ALPHA_GATEWAY_API: true });
  } finally {
    backend.server.closeAllConnections();
    backend.server.close();
  }
  return backend.tries;
}

Deno.test({
  name: "a retry constraint lets one retry through at once where without it each request is tried again",
  ignore: binary === undefined,
  async fn() {
    assert.equal(await triesWith("", false), 2 * REQUESTS);
    const policy = document({
      apiVersion: "gateway.networking.x-k8s.io/v1alpha1",
      kind: "XBackendTrafficPolicy",
      metadata: { name: "limit", namespace: "shop" },
      spec: {
        targetRefs: [{ group: "", kind: "Service", name: "a" }],
        retryConstraint: { budget: { percent: 0 }, minRetryRate: { count: 1 } },
      },
    });
    assert.equal(await triesWith(policy, true), REQUESTS + 1);
  },
});
