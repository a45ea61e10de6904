/** Questions among the other requests of connections. */
import assert from "node:assert/strict";
import { CLUSTER } from "../../../lib/xds/protocol/types.ts";
import type { DebugAnswers, DebugQuestion } from "../../../lib/xds/protocol/questions.ts";
import { ConnectServer } from "../support/connect_server.ts";

const DEBUG = "istio.io/debug";

function answers(identified: string[] = []): DebugAnswers & { readonly asked: DebugQuestion[] } {
  const asked: DebugQuestion[] = [];
  return {
    asked,
    identify: ({ node }) => {
      identified.push(node.id!);
      return Promise.resolve("spiffe://cluster.local/ns/a/sa/b");
    },
    sees: () => true,
    answer: (question) => {
      asked.push(question);
      return Promise.resolve([{ name: "syncz", typeUrl: DEBUG, runs: [new Uint8Array(3)] }]);
    },
  };
}

Deno.test("a stream of questions is no proxy: no view is made; with the first other request it becomes one", async () => {
  const identified: string[] = [];
  await using server = new ConnectServer();
  server.server.answerQuestions(answers(identified));
  server.source.atOnce.add("1");
  server.ask(1, DEBUG, 0, ["syncz"]);
  await server.client.until(() => server.received(1).length === 1);
  assert.deepEqual([server.received(1), identified], [[DEBUG], ["1"]]);
  assert.deepEqual([server.streams, server.source.connects.size, server.server.ledger.live(0).total], [0, 0, 0]);
  server.askWithoutNode(1, CLUSTER);
  await server.client.until(() => server.received(1).length === 2);
  assert.deepEqual(server.received(1), [DEBUG, CLUSTER]);
  assert.equal(server.streams, 1);
});

Deno.test("on a proxy's stream its view says who asks; without an identity the stream goes on", async () => {
  const pages = answers();
  await using server = new ConnectServer();
  server.server.answerQuestions(pages);
  server.source.atOnce.add("1");
  server.ask(1, CLUSTER);
  server.ask(1, DEBUG, 0, ["syncz"]);
  await server.client.until(() => server.received(1).length === 2);
  assert.deepEqual([server.received(1), pages.asked], [[CLUSTER, DEBUG], []]);
  assert.equal(server.end(1)[0], undefined);
});

Deno.test("a due answer is sent to a client that has ended its side of the stream, and then the stream ends", async () => {
  await using server = new ConnectServer();
  server.server.answerQuestions(answers());
  server.ask(1, DEBUG, 1, ["syncz"]);
  await server.client.until(() => server.client.ends.has(1));
  assert.deepEqual([server.received(1), server.end(1)[0]], [[DEBUG], "status 0"]);
});

Deno.test("a server without pages refuses, and types that only begin alike are resources", async () => {
  await using server = new ConnectServer();
  server.ask(1, DEBUG, 0, ["syncz"]);
  await server.client.until(() => server.client.ends.has(1));
  assert.equal(server.end(1)[0], "status 12");
  server.source.atOnce.add("3");
  server.ask(3, "istio.io/debugger");
  await server.client.read();
  assert.equal(server.streams, 1);
});
