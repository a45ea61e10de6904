/**
 * Applications that speak gRPC without a proxy, as processes, and their server.
 *
 * Permissions: net (loopback), run (deno).
 * @module
 */
import { GrpcServer } from "../../../lib/grpc/server.ts";
import { listen } from "../../../lib/sockets/listen/tcp.ts";
import { SocketTransport } from "../../../lib/sockets/transport/socket.ts";

/**
 * A server of `/test.Echo/Say`, which repeats a text behind the server's name, and of `/test.Echo/Wait`, which never
 * answers.
 *
 * @param name Default: none.
 */
export async function echoServer(name = ""): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = new GrpcServer([{
    name: "test.Echo",
    methods: [{
      ...{ name: "Say", input: "google.protobuf.Empty", output: "google.protobuf.Empty" },
      handle(call) {
        call.start({
          message(bytes) {
            call.send([new TextEncoder().encode(name), new Uint8Array(bytes)], false);
            call.end(0, "");
          },
        });
      },
    }, { ...{ name: "Wait", input: "google.protobuf.Empty", output: "google.protobuf.Empty" }, handle() {} }],
  }]);
  const listener = await listen({ host: "127.0.0.1", port: 0 }, (socket) => server.accept(new SocketTransport(socket)));
  return {
    port: listener.port,
    async [Symbol.asyncDispose]() {
      await listener.close();
      await server.stop(0);
    },
  };
}

/** A client as a process, with a target of xDS. */
export function startClient(bootstrap: string, target: string) {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...[
        "run",
        "--quiet",
        "--no-prompt",
        "--allow-env",
        "--allow-read",
        "--allow-write",
        "--allow-net",
        "--allow-sys",
      ],
      ...["--config", new URL("../../../deno.json", import.meta.url).pathname],
      new URL("grpc_client.ts", import.meta.url).pathname,
      target,
    ],
    env: { GRPC_XDS_BOOTSTRAP: bootstrap },
    ...{ stdin: "piped", stdout: "piped", stderr: "inherit" },
  }).spawn();
  const input = child.stdin.getWriter();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return {
    /** The answer to a text, or to an {@linkcode AskedCall} as JSON. */
    async call(text: string): Promise<string> {
      await input.write(new TextEncoder().encode(`${text}\n`));
      return (await output.read()).value?.trim() ?? "the client has ended";
    },
    async [Symbol.asyncDispose]() {
      await input.close().catch(() => {});
      await output.cancel();
      await child.status;
    },
  };
}
