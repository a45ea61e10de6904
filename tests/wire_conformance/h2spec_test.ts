import assert from "node:assert/strict";
import { H2Connection } from "../../lib/grpc/h2/connection.ts";
import { SendBudget } from "../../lib/grpc/h2/outbound.ts";
import type { H2Stream } from "../../lib/grpc/h2/stream.ts";
import { GrpcServer } from "../../lib/grpc/server.ts";
import { listen } from "../../lib/sockets/listen/tcp.ts";
import { SocketTransport } from "../../lib/sockets/transport/socket.ts";
import type { Transport } from "../../lib/sockets/transport/transport.ts";
import { buildGo, go } from "./support/go.ts";

/** Cases of the suite that the server fails, and why the server may. */
const EXCUSED: Readonly<Record<string, string>> = {
  "Sends HEADERS frame that depend on itself": "RFC 9113, section 5.3.2: priorities are deprecated, and ignored here",
  "Sends PRIORITY frame that depend on itself": "RFC 9113, section 5.3.2: priorities are deprecated, and ignored here",
};

let built: Promise<string> | undefined;

/** Runs the suite against a port. @returns the number of cases, and the names of failed cases */
async function runSuite(port: number): Promise<{ cases: number; failed: string[] }> {
  const program =
    await (built ??= buildGo(new URL("./h2spec/", import.meta.url), "github.com/summerwind/h2spec/cmd/h2spec"));
  const report = await Deno.makeTempFile({ suffix: ".xml" });
  // Only a failing case waits for the whole timeout.
  const args = ["--host", "127.0.0.1", "--port", String(port), "--timeout", "5", "--junit-report", report];
  const { stdout } = await new Deno.Command(program, { args, stdout: "piped", stderr: "piped" }).output();
  const text = await Deno.readTextFile(report);
  await Deno.remove(report);
  const cases = [...text.matchAll(/<testcase [^>]*classname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g)];
  assert.ok(cases.length > 0, new TextDecoder().decode(stdout));
  const failed = cases.filter((match) => /<(?:failure|error|skipped)/.test(match[2] ?? "")).map((match) => match[1]!);
  return { cases: cases.length, failed };
}

/** Answers each request some time after its end. */
function delaying(budget: SendBudget): (transport: Transport) => void {
  const answer = (stream: H2Stream) => {
    stream.respond({ ":status": "200" });
    stream.write(new TextEncoder().encode("hello, world"));
    stream.end();
  };
  const open = (stream: H2Stream) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => timer = setTimeout(() => answer(stream), 100);
    stream.listener = { data() {}, end, close: () => clearTimeout(timer) };
  };
  return (transport) =>
    void new H2Connection(transport, budget, { maxConcurrentStreams: 100 }, { stream: open, close() {} });
}

const server = new GrpcServer([]);
const TARGETS: Readonly<Record<string, (transport: Transport) => void>> = {
  "a gRPC server": (transport) => server.accept(transport),
  "a handler that delays its answers": delaying(new SendBudget()),
};
Deno.test.afterAll(() => server.stop(0));

for (const [what, accept] of Object.entries(TARGETS)) {
  Deno.test({
    name: `h2spec against ${what}: all 145 cases pass but two that RFC 9113 has dropped`,
    ignore: go === undefined,
    fn: async () => {
      const transports = new Set<Transport>();
      const listener = await listen({ host: "127.0.0.1", port: 0 }, (socket) => {
        const transport = new SocketTransport(socket);
        transports.add(transport);
        accept(transport);
      });
      const { cases, failed } = await runSuite(listener.port);
      for (const transport of transports) transport.destroy();
      await listener.close();
      assert.equal(cases, 145);
      assert.deepEqual(failed, Object.keys(EXCUSED));
    },
  });
}
