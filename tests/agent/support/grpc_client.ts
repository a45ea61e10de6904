/**
 * An application that speaks gRPC without a proxy. The application finds its server by the bootstrap in
 * `GRPC_XDS_BOOTSTRAP`, and calls the target in its argument with each line of its input. An answer is a line of the
 * output. A line is a text, or a call with method and metadata as JSON.
 *
 * Permissions: env, read (the bootstrap), net (the server), write (the agent's socket).
 * @module
 */
import { Buffer } from "node:buffer";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { register } from "@grpc/grpc-js-xds";
import { PATIENCE } from "../../patience.ts";

register();
const client = new Client(Deno.args[0]!, credentials.createInsecure());

/** A call. */
interface AskedCall {
  /** Default: Say. */
  readonly method?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly text: string;
}

function call(line: string): Promise<string> {
  const { method = "Say", metadata = {}, text: request }: AskedCall = line.startsWith("{")
    ? JSON.parse(line)
    : { text: line };
  const headers = new Metadata();
  for (const [key, value] of Object.entries(metadata)) headers.set(key, value);
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/test.Echo/${method}`,
      (text: string) => Buffer.from(text),
      (answer: Buffer) => answer.toString(),
      request,
      headers,
      { deadline: Date.now() + PATIENCE },
      (error, answer) => resolve(error === null ? `answer ${answer}` : `error ${error.message.replaceAll("\n", " ")}`),
    );
  });
}

const decoder = new TextDecoder();
for await (const part of Deno.stdin.readable) {
  for (const line of decoder.decode(part).split("\n").filter((one) => one !== "")) console.log(await call(line));
}
client.close();
Deno.exit(0);
