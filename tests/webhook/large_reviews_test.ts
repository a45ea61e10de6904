/** Large reviews: the limit of size, the reading thread, and a failing thread. */
import assert from "node:assert/strict";
import type { HttpRequest } from "../../lib/http/message.ts";
import { createFakeClock, type FakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { LARGE_REVIEW, LargeReviews, ReviewNotSeen, type ReviewThread } from "../../lib/webhook/large_reviews.ts";
import { lookAtReview, type ReviewLook } from "../../lib/webhook/look.ts";
import type { ReviewQuestion } from "../../lib/webhook/review_worker.ts";
import { webhookRoute } from "../../lib/webhook/route.ts";

/** Threads of a test, the latest last. */
class Threads {
  readonly made: (ReviewThread & { readonly asked: ReviewQuestion[]; ended: boolean })[] = [];

  readonly start = (): ReviewThread => {
    const asked: ReviewQuestion[] = [];
    const thread = {
      ...{ asked, ended: false, onmessage: null, onerror: null },
      postMessage: (question: ReviewQuestion) => void asked.push(question),
      terminate() {
        thread.ended = true;
      },
    };
    this.made.push(thread);
    return thread;
  };

  get last() {
    return this.made.at(-1)!;
  }

  answer(look: ReviewLook): void {
    this.last.onmessage?.call(this.last as unknown as Worker, { data: look } as MessageEvent);
  }

  fail(message: string): void {
    const event = { message, preventDefault: () => {} };
    this.last.onerror?.call(this.last as unknown as Worker, event as unknown as ErrorEvent);
  }
}

const freeTurns = { enter: () => Promise.resolve(), leave: () => {} };
const question: ReviewQuestion = { subject: "object", body: new Uint8Array(1) };
const small: ReviewLook = { say: "small" };
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
const { signal } = new AbortController();

function started(turns = freeTurns) {
  const [clock, threads] = [createFakeClock(), new Threads()];
  return { clock, threads, reviews: new LargeReviews(clock, turns, threads.start) };
}

Deno.test("a thread answers one review after the other, and ends when nobody has asked for a minute", async () => {
  const { clock, threads, reviews } = started();
  for (let i = 0; i < 2; i++) {
    const look = reviews.look(question, "10.0.0.1:1", signal);
    await settled();
    threads.answer(small);
    assert.equal(await look, small);
    await clock.advance(59_000);
  }
  assert.equal(threads.made.length, 1);
  await clock.advance(1000);
  assert(threads.last.ended);
  const again = reviews.look(question, "10.0.0.1:1", signal);
  await settled();
  threads.answer(small);
  await again;
  assert.equal(threads.made.length, 2);
});

Deno.test("a review without an answer is refused, and its thread ends, so that its answer meets no other question", async () => {
  const ends: Record<string, (threads: Threads, clock: FakeClock, client: AbortController) => unknown> = {
    "within 10 s": (_, clock) => clock.advance(10_000),
    "out of memory": (threads) => threads.fail("out of memory"),
    "the client is gone": (_, __, client) => client.abort(),
  };
  for (const [expected, end] of Object.entries(ends)) {
    const { clock, threads, reviews } = started();
    const client = new AbortController();
    const refused = assert.rejects(reviews.look(question, "10.0.0.1:1", client.signal), (error) => {
      return error instanceof ReviewNotSeen && error.message.includes(expected);
    });
    await settled();
    await end(threads, clock, client);
    await refused;
    assert(threads.last.ended, expected);
    const next = reviews.look(question, "10.0.0.1:1", signal);
    await settled();
    assert.equal(threads.made.length, 2, expected);
    threads.answer(small);
    assert.equal(await next, small);
  }
});

Deno.test("a review without a turn is refused", async () => {
  const full = { enter: () => Promise.reject(new RangeError("full")), leave: () => {} };
  await assert.rejects(started(full).reviews.look(question, "10.0.0.1:1", signal), /too many large reviews wait/);
});

Deno.test("the server's own thread reads no review that is large, whoever asks", async () => {
  const asked: number[] = [];
  const read: string[] = [];
  const review = (object: object) =>
    JSON.stringify({
      ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
      request: { uid: "1", operation: "CREATE", resource: { group: "g", version: "v1", resource: "r" }, object },
    });
  const { handle } = webhookRoute("/x", {
    ...{ subject: "object", failed: () => {} },
    answer: ({ uid }) => (read.push(uid), { causes: [], warnings: [] }),
    judged: (_, verdict) => verdict,
  }, {
    look: ({ subject, body }) => {
      asked.push(body.length);
      return Promise.resolve(lookAtReview(subject, new TextDecoder().decode(body)));
    },
  });
  const answer = async (text: string) => {
    const request = { headers: { "content-type": "application/json" }, body: new TextEncoder().encode(text), signal };
    const { status, body } = await handle({ ...request, path: "/x", peer: { address: "" } } as unknown as HttpRequest);
    return [status, status === 200 ? JSON.parse(body as string).response.allowed : undefined];
  };
  const padded = (length: number) => review({ a: "x".repeat(length - review({ a: "" }).length) });
  assert.deepEqual(await answer(padded(LARGE_REVIEW)), [200, true]);
  assert.deepEqual([read.length, asked], [1, []]);
  assert.deepEqual(await answer(padded(LARGE_REVIEW + 1)), [200, false], "no object of the mesh");
  assert.deepEqual([read.length, asked], [1, [LARGE_REVIEW + 1]]);
  assert.deepEqual(await answer("[".repeat(LARGE_REVIEW + 1)), [400, undefined]);
  assert.equal(read.length, 1);
});
