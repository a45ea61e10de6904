import assert from "node:assert/strict";
import { CLUSTER } from "../../lib/xds/types.ts";
import { MemorySource, textResource } from "../xds/support/memory_source.ts";
import { serve } from "./support/mesh.ts";

const go = await findGo();

/** Path of the Go toolchain: the variable `GO`, else `go` on the path. */
async function findGo(): Promise<string | undefined> {
  for (const path of [Deno.env.get("GO"), "go", "/usr/local/go/bin/go"]) {
    if (path === undefined) continue;
    try {
      if ((await new Deno.Command(path, { args: ["version"], stdout: "null", stderr: "null" }).output()).success) {
        return path;
      }
    } catch { /* not there */ }
  }
  return undefined;
}

let built: Promise<string> | undefined;

/** Builds the client once. */
function build(): Promise<string> {
  return built ??= (async () => {
    const out = `${await Deno.makeTempDir()}/wireclient`;
    const cwd = new URL("go/", import.meta.url).pathname;
    const { success, stderr } = await new Deno.Command(go!, { args: ["build", "-o", out, "."], cwd, stderr: "piped" })
      .output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return out;
  })();
}

interface Event {
  event: "response" | "end";
  resources?: number;
  removed?: number;
  bytes?: number;
  code?: string;
}

/** A running client; its events come one by one. */
class GoClient {
  readonly #lines: ReadableStreamDefaultReader<string>;
  private constructor(private readonly process: Deno.ChildProcess) {
    this.#lines = process.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(splitLines()).getReader();
  }

  static async start(port: number, ...args: string[]): Promise<GoClient> {
    const command = new Deno.Command(await build(), {
      args: ["-target", `127.0.0.1:${port}`, "-type", CLUSTER, ...args],
      stdin: "piped",
      stdout: "piped",
    });
    return new GoClient(command.spawn());
  }

  async next(): Promise<Event> {
    const { value } = await this.#lines.read();
    assert.ok(value !== undefined, "the client ended");
    return JSON.parse(value);
  }

  async stop(): Promise<void> {
    await this.process.stdin.close();
    while (!(await this.#lines.read()).done) { /* the last events */ }
    await this.process.status;
  }
}

function splitLines(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) controller.enqueue(line);
    },
  });
}

function source(): MemorySource {
  const filler = "x".repeat(1000);
  return new MemorySource().change(
    CLUSTER,
    Array.from({ length: 2000 }, (_, i) => textResource(CLUSTER, `c${i}`, filler)),
  );
}

for (const args of [[], ["-gzip"], ["-delta"], ["-delta", "-gzip"]]) {
  Deno.test({
    name: `Go client ${args.join(" ") || "plain"}: 2 MB arrive whole, a change follows, and after a restart it goes on`,
    ignore: go === undefined,
    fn: async () => {
      const delta = args.includes("-delta");
      const from = source();
      const { server, port } = await serve(from);
      const client = await GoClient.start(port, ...args);
      const first = await client.next();
      assert.deepEqual([first.event, first.resources], ["response", 2000]);
      assert.ok(first.bytes! > 2_000_000);
      const [connection] = [...server.grpc.connections];
      assert.equal(
        connection!.socket.bytesWritten < 300_000,
        args.includes("-gzip"),
        "compressed if offered, only then",
      );
      from.change(CLUSTER, [textResource(CLUSTER, "c5", "changed")], ["c6"]);
      from.push();
      const change = await client.next();
      assert.deepEqual([change.resources, change.removed ?? 0], delta ? [1, 1] : [1999, 0]);

      await server.stop(2000);
      assert.deepEqual(await client.next(), { event: "end", code: "Unavailable", message: "server is shutting down" });
      const again = await serve(from, {}, port);
      let event = await client.next();
      while (event.event === "end") event = await client.next();
      assert.deepEqual(
        [event.event, event.resources ?? 0],
        ["response", delta ? 0 : 1999],
        "by its versions it has all",
      );
      await client.stop();
      await again.server.stop(1000);
    },
  });
}

Deno.test({
  name: "Go client: at the maximum age it moves to a new connection and goes on",
  ignore: go === undefined,
  fn: async () => {
    const from = source();
    const { server, port } = await serve(from, { maxConnectionAge: 500, maxConnectionAgeGrace: 200 });
    const client = await GoClient.start(port, "-delta");
    for (let i = 0; i < 3; i++) {
      const response = await client.next();
      assert.deepEqual([response.event, response.resources ?? 0], ["response", i === 0 ? 2000 : 0]);
      const end = await client.next();
      assert.deepEqual([end.event, end.code], ["end", "Unavailable"]);
    }
    await client.stop();
    await server.stop(1000);
  },
});

for (const version of ["v1", "v1alpha"]) {
  Deno.test({
    name: `Go client: reflection ${version} describes the service with all its messages`,
    ignore: go === undefined,
    fn: async () => {
      const { server, port } = await serve(source());
      const client = await GoClient.start(port, "-reflect", version);
      const events = [await client.next(), await client.next(), await client.next()];
      const service = "envoy.service.discovery.v3";
      assert.deepEqual(events, [
        {
          event: "method",
          resources: 7,
          code: `${service}.DiscoveryRequest`,
          message: `${service}.AggregatedDiscoveryService.StreamAggregatedResources`,
        },
        {
          event: "method",
          resources: 9,
          code: `${service}.DeltaDiscoveryRequest`,
          message: `${service}.AggregatedDiscoveryService.DeltaAggregatedResources`,
        },
        { event: "error", message: "not found: no/such.proto" },
      ]);
      await client.stop();
      await server.stop(1000);
    },
  });
}
