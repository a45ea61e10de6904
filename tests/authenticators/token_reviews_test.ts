/** How often the orchestrator is asked about tokens. */
import assert from "node:assert/strict";
import { TokenReviews } from "../../lib/authenticators/token_reviews.ts";
import { ApiClient } from "../../lib/orch/client/client.ts";
import { createFakeClock, type FakeClock } from "../../lib/kernel/time/fake_clock.ts";

/** An unsigned JWT: the stand-in for the API reads the subject alone. */
function token(subject: string, exp = 4_000_000_000): string {
  const part = (value: unknown) => btoa(JSON.stringify(value)).replaceAll("=", "");
  return `${part({ alg: "RS256" })}.${part({ sub: subject, exp })}.x`;
}

interface Asked {
  readonly reviews: TokenReviews;
  readonly clock: FakeClock;
  readonly tokens: string[];
}

/** @param answers Answers to the questions, in order; the last answer again and again. */
function reviewsOf(...answers: readonly (object | Error | Promise<object>)[]): Asked {
  const clock = createFakeClock();
  const tokens: string[] = [];
  const client = new ApiClient({
    access: { current: () => ({ server: "http://api.test" }), refused: () => {} },
    clock,
    exchange: async (_url, init) => {
      tokens.push(JSON.parse(String(init.body)).spec.token);
      const { signal } = init;
      const aborted = new Promise<never>((_, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true })
      );
      const answer = await Promise.race([answers[Math.min(tokens.length, answers.length) - 1]!, aborted]);
      if (answer instanceof Error) throw answer;
      return new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
    },
  });
  return { reviews: new TokenReviews(client, (name) => name === "east"), clock, tokens };
}

const user = { username: "system:serviceaccount:shop:cart", groups: ["system:serviceaccounts"] };
const KNOWN = { status: { authenticated: true, audiences: ["mesh-ca"], user } };

Deno.test("equal questions are one, for ten seconds; a refusal counts for one", async () => {
  const { reviews, clock, tokens } = reviewsOf(KNOWN, { status: { error: "no" } }, KNOWN);
  const ask = () => reviews.review(token("cart"), ["mesh-ca"], "east");
  const together = await Promise.all([ask(), ask(), ask()]);
  assert.deepEqual(together.map(({ username }) => username), Array(3).fill(user.username));
  await clock.advance(9999);
  await ask();
  assert.equal(tokens.length, 1);
  await clock.advance(2);
  assert.equal((await ask()).error, "no");
  await clock.advance(999);
  assert.equal((await ask()).authenticated, false);
  assert.equal(tokens.length, 2);
  await clock.advance(2);
  assert.equal((await ask()).authenticated, true);
});

Deno.test("an API that is away is asked again at once, and another audience is another question", async () => {
  const { reviews, tokens } = reviewsOf(new Error("away"), KNOWN);
  await assert.rejects(reviews.review(token("cart"), ["mesh-ca"], undefined), /away/);
  assert.equal((await reviews.review(token("cart"), ["mesh-ca"], undefined)).authenticated, true);
  assert.match((await reviews.review(token("cart"), ["vault"], undefined)).error!, /not for vault/);
  assert.equal(tokens.length, 3);
});

Deno.test("a token that expires is refused from then on, though the last answer would still count", async () => {
  const { reviews, clock, tokens } = reviewsOf(KNOWN);
  const text = token("cart", clock.now() / 1000 + 5);
  assert.equal((await reviews.review(text, ["mesh-ca"], "")).authenticated, true);
  await clock.advance(5000);
  assert.match((await reviews.review(text, ["mesh-ca"], "")).error ?? "", /expired/);
  assert.equal(tokens.length, 1);
});

Deno.test("an API that does not answer is waited for five seconds", async () => {
  const { reviews, clock } = reviewsOf(new Promise<object>(() => {}));
  const answer = reviews.review(token("cart"), ["mesh-ca"], "");
  answer.catch(() => {});
  await clock.advance(5000);
  await assert.rejects(answer, /no answer within 5 s/);
});

Deno.test("nobody is asked about what is no token, has expired, or is of another cluster", async () => {
  const { reviews, clock, tokens } = reviewsOf(KNOWN);
  const say = async (text: string) => (await reviews.review(text, ["mesh-ca"], "")).error;
  assert.match(await say("opaque") ?? "", /^expected a signed token \(JWT\), as the tokens of service accounts are$/);
  assert.match(await say(token("cart", clock.now() / 1000 - 1)) ?? "", /expired/);
  await assert.rejects(reviews.review(token("cart"), ["mesh-ca"], "west"), /cluster "west" is not known/);
  assert.deepEqual(tokens, []);
});

Deno.test("of many tokens of one address some are asked about at a time, and the others in turn", async () => {
  const answer = Promise.withResolvers<object>();
  const { reviews, tokens } = reviewsOf(answer.promise);
  const all = Array.from({ length: 100 }, (_, i) => reviews.review(token(`a${i}`), ["mesh-ca"], "", "10.0.0.1:5"));
  const outcomes = Promise.all(all);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(tokens.length, 16);
  answer.resolve(KNOWN);
  assert.deepEqual((await outcomes).filter(({ authenticated }) => !authenticated), []);
  assert.equal(tokens.length, 100);
});

Deno.test("a wait for a place counts, so that a token is answered in five seconds or not at all", async () => {
  const { reviews, clock } = reviewsOf(new Promise<object>(() => {}));
  const all = Array.from({ length: 20 }, (_, i) => reviews.review(token(`a${i}`), ["mesh-ca"], ""));
  const outcomes = Promise.allSettled(all);
  await clock.advance(5000);
  const reasons = (await outcomes).map((one) => one.status === "rejected" ? one.reason.message : "answered");
  assert.match([...new Set(reasons)].join(), /^[^,]*no answer within 5 s(?:,no answer within 5 s)?$/);
});

Deno.test("an answer of another form is an error that names the field", async () => {
  const { reviews } = reviewsOf({ status: { authenticated: "yes" } });
  await assert.rejects(
    reviews.review(token("cart"), ["mesh-ca"], ""),
    /status\.authenticated: got "yes", expected true or false/,
  );
});
