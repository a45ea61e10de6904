/** Questions on a stream: answers by identity, refusals, and a bound on waiting answers. */
import assert from "node:assert/strict";
import { Code } from "../../../lib/grpc/codes.ts";
import { RpcError } from "../../../lib/grpc/status.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { encode } from "../../../lib/pb/codec.ts";
import { concatBytes } from "../../../lib/resource/block.ts";
import { InternedNames } from "../../../lib/resource/names.ts";
import { readRequest } from "../../../lib/xds/ads/request.ts";
import type { DebugAnswers, DebugQuestion, DebugResource } from "../../../lib/xds/protocol/questions.ts";
import { QuestionPlaces } from "../../../lib/xds/questions/places.ts";
import { StreamQuestions } from "../../../lib/xds/questions/stream_questions.ts";

const text = new TextDecoder();
const IDENTITY = "spiffe://cluster.local/ns/shop/sa/cart";

interface Response {
  readonly type_url: string;
  readonly nonce: string;
  // deno-lint-ignore no-explicit-any -- the two variants differ, the fields read here are checked by the tests
  readonly resources: any[];
}

/** A stream without a network, and pages that answer on the test's command. */
class Asker {
  readonly names = new InternedNames();
  readonly asked: DebugQuestion[] = [];
  readonly sent: Response[] = [];
  /** How responses are taken, in order. */
  readonly taken: (() => void)[] = [];
  readonly failures: unknown[] = [];
  readonly errors: unknown[] = [];
  answer: (question: DebugQuestion, signal: AbortSignal) => Promise<readonly DebugResource[]> = ({ names, typeUrl }) =>
    Promise.resolve([{ name: names[0]!, typeUrl, runs: ["a ", "page"].map((part) => new TextEncoder().encode(part)) }]);
  identity: string | undefined = IDENTITY;
  /** The asker sees only its own pages. */
  isConfined = false;
  identified = 0;
  readonly questions: StreamQuestions;

  constructor(
    readonly options: { delta?: boolean; proxy?: { identity: string | undefined }; off?: boolean } = {},
    places = new QuestionPlaces(),
  ) {
    const answers: DebugAnswers = {
      identify: () => {
        this.identified++;
        return Promise.resolve(this.identity);
      },
      sees: () => !this.isConfined,
      answer: (question, signal) => {
        this.asked.push(question);
        return this.answer(question, signal);
      },
    };
    const { delta = false, proxy, off = false } = options;
    this.questions = new StreamQuestions({
      delta,
      client: () => ({ node: { id: "a" }, delta, peer: { address: "" }, metadata: {} }),
      proxy: () => proxy,
      send: (parts, taken) => {
        const variant = delta ? "DeltaDiscoveryResponse" : "DiscoveryResponse";
        this.sent.push(decode(`envoy.service.discovery.v3.${variant}`, concatBytes(parts)));
        this.taken.push(taken);
      },
      fail: (error) => this.failures.push(error),
      onError: (error) => this.errors.push(error),
    }, { answers: off ? undefined : answers, places });
  }

  async ask(names: readonly string[] = ["syncz"], more: object = {}): Promise<void> {
    const { delta = false } = this.options;
    const request = delta
      ? encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", {
        ...{ type_url: "istio.io/debug", resource_names_subscribe: names, ...more },
      })
      : encode("envoy.service.discovery.v3.DiscoveryRequest", {
        ...{ type_url: "istio.io/debug", resource_names: names, ...more },
      });
    this.questions.ask(readRequest(request, delta, this.names));
    // All awaited events have happened: only turns of promises are left.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }

  /** Codes of refusals at the end of the stream. */
  get refused(): (Code | undefined)[] {
    return this.failures.map((error) => error instanceof RpcError ? error.code : undefined);
  }
}

Deno.test("a page is one resource with the page's bytes in both variants, and an acknowledgement asks for nothing", async () => {
  const sotw = new Asker();
  await sotw.ask(["config_dump?proxyID=a"]);
  const [{ type_url, nonce, resources } = assert.fail()] = sotw.sent;
  assert.equal(type_url, "istio.io/debug");
  assert.deepEqual(resources.map((one) => [one.type_url, text.decode(one.value)]), [["istio.io/debug", "a page"]]);
  sotw.taken[0]!();
  await sotw.ask(["config_dump?proxyID=a"], { response_nonce: nonce });
  const delta = new Asker({ delta: true });
  await delta.ask(["syncz"]);
  const [one] = delta.sent[0]!.resources;
  assert.deepEqual([one.name, one.resource.type_url, text.decode(one.resource.value)], [
    ...["syncz", "istio.io/debug", "a page"],
  ]);
  delta.taken[0]!();
  await delta.ask([], { resource_names_unsubscribe: ["syncz"] });
  assert.deepEqual([sotw.asked.length, delta.asked.length], [1, 1]);
  assert.deepEqual(sotw.asked[0], {
    ...{ typeUrl: "istio.io/debug", names: ["config_dump?proxyID=a"], identity: IDENTITY },
  });
});

Deno.test("a question may come with a nonce of the client's own, as istioctl sends the time; one of an earlier answer asks for nothing", async () => {
  const asker = new Asker();
  await asker.ask(["syncz"], { response_nonce: "2025-05-28 10:11:12.123 +0000 UTC m=+0.1" });
  assert.equal(asker.sent.length, 1);
  asker.taken[0]!();
  await asker.ask(["syncz"], { response_nonce: asker.sent[0]!.nonce });
  await asker.ask(["syncz"], { response_nonce: "question-17" });
  assert.equal(asker.asked.length, 1);
});

Deno.test("without an identity no question is answered, not even on streams of proxies, and a server without pages refuses", async () => {
  const stranger = new Asker();
  stranger.identity = undefined;
  await stranger.ask();
  assert.deepEqual([stranger.refused, stranger.asked, stranger.sent], [[Code.UNAUTHENTICATED], [], []]);
  const off = new Asker({ off: true });
  await off.ask();
  assert.deepEqual([off.refused, off.sent], [[Code.UNIMPLEMENTED], []]);
  const proxy = new Asker({ proxy: { identity: undefined } });
  await proxy.ask();
  assert.deepEqual([proxy.asked, proxy.failures], [[], []]);
  assert.match(text.decode(proxy.sent[0]!.resources[0].value), /^questions are for clients that prove an identity/);
});

Deno.test("a refusal ends a stream of questions, and is the answer's text on a proxy's stream; errors tell nothing", async () => {
  const refuse = () => Promise.reject(new RpcError(Code.PERMISSION_DENIED, "not for you"));
  const alone = new Asker();
  alone.answer = refuse;
  await alone.ask();
  assert.deepEqual(alone.refused, [Code.PERMISSION_DENIED]);
  const proxy = new Asker({ proxy: { identity: IDENTITY } });
  proxy.answer = refuse;
  await proxy.ask();
  proxy.taken[0]!();
  proxy.answer = () => Promise.reject(new Error("secret path"));
  await proxy.ask();
  assert.deepEqual(proxy.sent.map(({ resources: [{ value }] }) => text.decode(value)), [
    ...["not for you\n", "internal error\n"],
  ]);
  assert.deepEqual([proxy.failures, proxy.errors.length], [[], 1]);
});

Deno.test("a client that asks on and on without reading gets one answer and one refusal", async () => {
  for (const identity of [IDENTITY, undefined]) {
    const proxy = new Asker({ proxy: { identity } });
    for (let i = 0; i < 100; i++) await proxy.ask();
    assert.equal(proxy.sent.length, 2);
    for (const taken of proxy.taken.splice(0)) taken();
    await proxy.ask();
    assert.equal(proxy.sent.length, 3, "it reads again");
  }
});

Deno.test("two questions of an identity and eight in all are answered at a time, until their clients have the answers or are gone", async () => {
  const places = new QuestionPlaces();
  const askers = Array.from({ length: 12 }, (_, at) => {
    const asker = new Asker({}, places);
    asker.identity = `spiffe://cluster.local/ns/n/sa/${at < 4 ? "same" : at}`;
    return asker;
  });
  for (const asker of askers) await asker.ask();
  const answered = () => askers.map(({ sent }) => sent.length);
  assert.deepEqual(answered(), [1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0]);
  assert.deepEqual(askers[2]!.refused, [Code.RESOURCE_EXHAUSTED]);
  askers[0]!.taken[0]!();
  askers[1]!.questions.close();
  askers[1]!.questions.close();
  const again = [0, 1, 2].map(() => new Asker({}, places));
  for (const asker of again) await asker.ask();
  assert.deepEqual(again.map(({ sent }) => sent.length), [1, 1, 0]);
});

Deno.test("workloads that see their own proxies alone have half of the places, however many identities they have", async () => {
  const places = new QuestionPlaces();
  const asker = async (identity: string, isConfined: boolean) => {
    const made = new Asker({}, places);
    Object.assign(made, { identity, isConfined });
    await made.ask();
    return made;
  };
  const workloads = [];
  for (let at = 0; at < 6; at++) workloads.push(await asker(`spiffe://cluster.local/ns/n/sa/${at}`, true));
  assert.deepEqual(workloads.map(({ sent }) => sent.length), [1, 1, 1, 1, 0, 0]);
  for (const name of ["a", "b"]) for (const _ of "12") assert.equal((await asker(name, false)).sent.length, 1);
  workloads[0]!.taken[0]!();
  assert.equal((await asker("another", true)).sent.length, 1);
});

Deno.test("a client proves once who it is, however much it asks", async () => {
  const asker = new Asker();
  for (let at = 0; at < 100; at++) {
    await asker.ask();
    asker.taken.at(-1)!();
  }
  assert.deepEqual([asker.sent.length, asker.identified], [100, 1]);
});

Deno.test("the work for a client that goes away is called off, and its answer goes nowhere", async () => {
  const asker = new Asker();
  const { promise, resolve } = Promise.withResolvers<readonly DebugResource[]>();
  let signal: AbortSignal | undefined;
  asker.answer = (_, given) => {
    signal = given;
    return promise;
  };
  await asker.ask();
  let isIdle = false;
  asker.questions.whenIdle(() => isIdle = true);
  assert.deepEqual([signal!.aborted, isIdle], [false, false]);
  asker.questions.close();
  assert.deepEqual([signal!.aborted, isIdle], [true, true]);
  resolve([]);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual([asker.sent, asker.failures], [[], []]);
});
