/**
 * An application that speaks gRPC without a proxy: it finds its server by the bootstrap that `GRPC_XDS_BOOTSTRAP` names,
 * and calls the target that is its argument with each line of its input; an answer is a line of its output.
 *
 * Permissions: env, read (the bootstrap), net (the server), write (the agent's socket).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { Client, credentials } from "@grpc/grpc-js";
import { register } from "@grpc/grpc-js-xds";

register();
const client = new Client(Deno.args[0]!, credentials.createInsecure());

function call(request: string): Promise<string> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      "/test.Echo/Say",
      (text: string) => Buffer.from(text),
      (answer: Buffer) => answer.toString(),
      request,
      { deadline: Date.now() + 20_000 },
      (error, answer) => resolve(error === null ? `answer ${answer}` : `error ${error.message}`),
    );
  });
}

const decoder = new TextDecoder();
for await (const part of Deno.stdin.readable) {
  for (const line of decoder.decode(part).split("\n").filter((one) => one !== "")) console.log(await call(line));
}
client.close();
Deno.exit(0);
