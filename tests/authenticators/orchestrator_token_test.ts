import assert from "node:assert/strict";
import { Authentication } from "../../lib/authenticators/authentication.ts";
import { failureText, mayBeAccepted } from "../../lib/authenticators/caller.ts";
import {
  orchestratorTokenAuthenticator,
  type TokenReview,
  type TokenReviewer,
} from "../../lib/authenticators/orchestrator_token.ts";
import { ApiError } from "../../lib/orch/client/api_error.ts";
import { ANONYMOUS_TLS, caller } from "./support/callers.ts";
import { CART } from "./support/issuer.ts";

const GOOD: TokenReview = { authenticated: true, username: CART, groups: ["system:serviceaccounts"] };

async function verdict(review: TokenReviewer): Promise<string> {
  const domains = () => ({ own: "cluster.local", aliases: [] });
  const log = { error: (message: unknown) => assert.fail(String(message)) };
  const authenticators = [orchestratorTokenAuthenticator(review, ["mesh-ca"], domains)];
  const shown = caller({ authorization: "Bearer abc", clusterid: "east" }, ANONYMOUS_TLS);
  const result = await new Authentication(authenticators, { plaintext: false, log }).authenticate(shown);
  return "caller" in result ? JSON.stringify(result.caller) : failureText(result.failures);
}

Deno.test("the orchestrator is asked about a token with audiences and cluster, and its account is the identity", async () => {
  const asked: unknown[] = [];
  const answer = await verdict((...args) => {
    asked.push(args);
    return Promise.resolve(GOOD);
  });
  assert.deepEqual(JSON.parse(answer), {
    identity: { trustDomain: "cluster.local", namespace: "shop", serviceAccount: "cart" },
    provenBy: "orchestrator token",
  });
  assert.deepEqual(asked, [["abc", ["mesh-ca"], "east", "192.0.2.7:40000"]]);
});

Deno.test("a token that the orchestrator does not know, a user, and an orchestrator that is away prove nothing", async () => {
  const say = (changes: Partial<TokenReview>) => verdict(() => Promise.resolve({ ...GOOD, ...changes }));
  assert.equal(
    await say({ authenticated: false, error: "token has been invalidated" }),
    "orchestrator token: token has been invalidated",
  );
  assert.equal(await say({ authenticated: false }), "orchestrator token: the orchestrator does not know the token");
  assert.match(
    await say({ username: "admin", groups: ["system:masters"] }),
    /got user "admin", expected a service account/,
  );
  assert.match(await say({ username: "system:node:a" }), /got subject "system:node:a"/);
  const outcome = async (error: Error) => {
    const domains = () => ({ own: "cluster.local", aliases: [] });
    const log = { error: (message: unknown) => assert.fail(String(message)) };
    const authenticators = [orchestratorTokenAuthenticator(() => Promise.reject(error), ["mesh-ca"], domains)];
    const shown = caller({ authorization: "Bearer abc" }, ANONYMOUS_TLS);
    const result = await new Authentication(authenticators, { plaintext: false, log }).authenticate(shown);
    return "failures" in result && mayBeAccepted(result.failures);
  };
  assert.equal(await outcome(new ApiError("away", undefined)), true, "the same token may be accepted later");
  assert.equal(await outcome(new ApiError("busy", 429)), true);
  assert.equal(await outcome(new ApiError("forbidden", 403)), false);
  assert.equal(await outcome(new Error("cluster west is not known")), false);
  const away = verdict(() => Promise.reject(new Error("connection refused")));
  assert.equal(await away, "orchestrator token: the orchestrator cannot be asked: connection refused");
});
