/** An elector of client-go and our elector hand one lease to each other, and never lead together. */
import assert from "node:assert/strict";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { Election } from "../../../lib/orch/leader/election.ts";
import { buildGo, go } from "../../wire_conformance/support/go.ts";
import { quickClock } from "../support/scripted_api.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { kubeconfigOf } from "../support/server/kubeconfig.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();
const LOCK = "mesh-status-leader";

/** Gives our elector the times of client-go's elector: 9 s of a lease, of which the holder leads for 4.5 s. */
const clock = quickClock(10 / 3);

let built: Promise<string> | undefined;

/** The leaders, as the electors tell, in the order of the messages. */
class Story {
  readonly lines: string[] = [];
  #changed = Promise.withResolvers<void>();

  add(line: string): void {
    this.lines.push(line);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Resolves when a line has come. */
  async has(line: string): Promise<void> {
    while (!this.lines.includes(line)) await this.#changed.promise;
  }

  /** Begun and ended terms. Fails when two electors led at once. */
  terms(): string[] {
    const terms = this.lines.filter((line) => /: (leads|stopped)$/.test(line));
    let leading = 0;
    for (const line of terms) {
      leading += line.endsWith("leads") ? 1 : -1;
      assert.ok(leading <= 1, `two lead: ${terms.join(", ")}`);
    }
    return terms;
  }
}

/** An elector of client-go in a separate process, which leaves when disposed of. */
async function theirs(server: { readonly kubeconfig: string }, namespace: string, name: string, story: Story) {
  const child = new Deno.Command(await (built ??= buildGo(new URL("../elector/", import.meta.url))), {
    args: [server.kubeconfig, namespace, LOCK, name],
    ...{ stdin: "piped", stdout: "piped", stderr: "null" },
  }).spawn();
  const read = async () => {
    let text = "";
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (text + part).split("\n");
      text = lines.pop()!;
      for (const line of lines) story.add(`${name}: ${line}`);
    }
  };
  const ended = read();
  return {
    [Symbol.asyncDispose]: async () => {
      await child.stdin.close().catch(() => {});
      await child.status;
      await ended;
    },
  };
}

/** Our elector. Cut off, the elector gets no answers any more. */
class Ours implements AsyncDisposable {
  cut = false;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(server: ApiServer, namespace: string, identity: string, story: Story) {
    const current = () => {
      if (this.cut) throw new Error("cut off by the test");
      return server.access;
    };
    const client = new ApiClient({ clock, access: { current, refused: () => {} } });
    const election = new Election(client, { lock: LOCK, namespace, identity, key: "", log: silentLog().scope("orch") });
    this.#running = election.run(async (signal) => {
      story.add(`${identity}: leads`);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      story.add(`${identity}: stopped`);
    }, this.#stop.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** A way to the API server that a test can cut, and the file of its configuration. */
async function cuttable({ access, users }: ApiServer) {
  const { hostname, port } = new URL(access.server);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const admin = await users.byCertificate("admin", ["system:masters"]);
  const folder = await Deno.makeTempDir();
  const kubeconfig = `${folder}/kubeconfig`;
  await Deno.writeTextFile(kubeconfig, kubeconfigOf({ ...admin, server: `https://127.0.0.1:${listener.addr.port}` }));
  const pass = async (from: Deno.Conn, to: Deno.Conn) => {
    await from.readable.pipeTo(to.writable).catch(() => {});
    for (const one of [from, to]) open.delete(one);
  };
  const serving = (async () => {
    for await (const near of listener) {
      const far = await Deno.connect({ hostname, port: Number(port) });
      for (const one of [near, far]) open.add(one);
      void pass(near, far);
      void pass(far, near);
    }
  })();
  let isCut = false;
  const cut = () => {
    if (isCut) return;
    isCut = true;
    listener.close();
    for (const one of open) one.close();
  };
  return {
    kubeconfig,
    cut,
    [Symbol.asyncDispose]: async () => {
      cut();
      await serving.catch(() => {});
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function goTest(name: string, run: (server: ApiServer, namespace: string) => Promise<void>): void {
  if (go === undefined) Deno.test({ name: `${name} (ignored: no Go toolchain)`, ignore: true, fn() {} });
  else test(name, ({ server, namespace }) => run(server, namespace));
}

goTest("who leaves gives the lease to the other at once: theirs, ours, theirs", async (server, namespace) => {
  const story = new Story();
  await using stack = new AsyncDisposableStack();
  {
    await using _one = await theirs(server, namespace, "theirs-1", story);
    await story.has("theirs-1: leads");
    const ours = new Ours(server, namespace, "ours", story);
    stack.use(ours);
    stack.use(await theirs(server, namespace, "theirs-2", story));
    await story.has("theirs-2: holder theirs-1");
    assert.deepEqual(story.terms(), ["theirs-1: leads"]);
  }
  // Either of the two waiting electors.
  const second = await Promise.race(["ours", "theirs-2"].map((one) => story.has(`${one}: leads`).then(() => one)));
  assert.deepEqual(story.terms(), ["theirs-1: leads", "theirs-1: stopped", `${second}: leads`]);
});

goTest("a lease of ours that is given back is theirs at once, and theirs is ours", async (server, namespace) => {
  const story = new Story();
  {
    await using first = new Ours(server, namespace, "ours-1", story);
    await story.has("ours-1: leads");
    await using second = await theirs(server, namespace, "theirs", story);
    await story.has("theirs: holder ours-1");
    await first[Symbol.asyncDispose]();
    await story.has("theirs: leads");
    await using _third = new Ours(server, namespace, "ours-2", story);
    await second[Symbol.asyncDispose]();
    await story.has("ours-2: leads");
  }
  assert.deepEqual(story.terms(), [
    ...["ours-1: leads", "ours-1: stopped", "theirs: leads", "theirs: stopped"],
    ...["ours-2: leads", "ours-2: stopped"],
  ]);
});

goTest("a leader that is cut off stops before the other one leads, whichever it is", async (server, namespace) => {
  const story = new Story();
  await using way = await cuttable(server);
  {
    await using _theirs = await theirs(way, namespace, "theirs-1", story);
    await story.has("theirs-1: leads");
    await using ours = new Ours(server, namespace, "ours", story);
    way.cut();
    await story.has("ours: leads");
    // Whoever waits for our lease waits for the 30 s in the lease.
    await using _next = await theirs(server, namespace, "theirs-2", story);
    await story.has("theirs-2: holder ours");
    ours.cut = true;
    await story.has("theirs-2: leads");
    assert.deepEqual(story.terms(), [
      ...["theirs-1: leads", "theirs-1: stopped", "ours: leads", "ours: stopped", "theirs-2: leads"],
    ]);
  }
});
