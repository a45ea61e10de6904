import assert from "node:assert/strict";
import { GoogleTokens } from "../../../lib/agent/tokens/google_tokens.ts";
import { tokenRoutes } from "../../../lib/agent/tokens/token_service.ts";
import { HttpServer } from "../../../lib/http/server.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { PATIENCE } from "../../patience.ts";
import { type CloudRequest, CloudServer, unsignedToken } from "../support/cloud_server.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT = "urn:ietf:params:oauth:token-type:jwt";
const TOKEN = unsignedToken(2_000_000_000);
const GOOD = { grant_type: GRANT, subject_token: TOKEN, subject_token_type: JWT };

/** A service with a stand-in for its provider, and a way to ask the service. */
async function service(
  answer: (request: CloudRequest) => Response | "silence" | undefined,
  options: { readonly projectNumber?: string; readonly now?: () => number; readonly timeout?: number } = {},
) {
  const google = new CloudServer(answer);
  const metrics = createMetrics("pilot-agent");
  const clock = { ...systemClock, ...(options.now === undefined ? {} : { now: options.now }) };
  const manager = new GoogleTokens({
    exchangeEndpoint: `http://${google.host}/exchange`,
    accessEndpoint: `http://${google.host}/accounts/service-{project_number}:access`,
    audience: "identitynamespace:cluster.local:cluster-url",
    projectNumber: options.projectNumber ?? "123",
    quotaProject: "billing",
    timeout: options.timeout ?? PATIENCE,
    ...{ clock, metrics },
  });
  const log = silentLog().scope("security");
  const server = new HttpServer({ routes: tokenRoutes(manager, () => clock.now(), log), log });
  const { port } = await server.listen("127.0.0.1:0");
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    ...{ google, metrics, send },
    async exchange(form: Readonly<Record<string, string>> | string, headers: Readonly<Record<string, string>> = {}) {
      const body = typeof form === "string" ? form : new URLSearchParams(form).toString();
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const response = await send("/token", { method: "POST", body, headers: { ...type, ...headers } });
      return { ...response, json: response.text.startsWith("{") ? JSON.parse(response.text) : undefined };
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await google[Symbol.asyncDispose]();
    },
  };
}

/** Google's two services, without faults. */
function google({ line }: CloudRequest): Response | undefined {
  if (line === "POST /exchange") return Response.json({ access_token: "federated", expires_in: 3600 });
  if (line !== "POST /accounts/service-123:access") return undefined;
  return Response.json({ accessToken: "access", expireTime: new Date(Date.now() + 1_800_000).toISOString() });
}

Deno.test("a workload's token becomes an access token by both of Google's services, once for as long as it is fresh", async () => {
  await using sts = await service(google);
  const { status, json, headers } = await sts.exchange({ ...GOOD, scope: "read write" });
  assert.equal(status, 200);
  assert.equal(headers.get("cache-control"), "no-store");
  assert.deepEqual({ ...json, expires_in: 0 }, {
    access_token: "access",
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
    token_type: "Bearer",
    expires_in: 0,
  });
  assert(json.expires_in > 1700 && json.expires_in <= 1800);
  const [first, second] = sts.google.requests.map(({ body, headers }) => ({ body: JSON.parse(body), headers }));
  assert.deepEqual(first!.body, {
    audience: "identitynamespace:cluster.local:cluster-url",
    grantType: GRANT,
    requestedTokenType: "urn:ietf:params:oauth:token-type:access_token",
    subjectTokenType: JWT,
    subjectToken: TOKEN,
    scope: "https://www.googleapis.com/auth/cloud-platform",
  });
  assert.deepEqual(second!.body, { scope: ["read", "write"], lifetime: "3600s" });
  assert.equal(second!.headers.get("authorization"), "Bearer federated");
  assert.deepEqual([first, second].map((one) => one!.headers.get("x-goog-user-project")), ["billing", "billing"]);
  await sts.exchange({ ...GOOD, scope: "read write" });
  assert.equal(sts.google.requests.length, 2);
  await sts.exchange({ ...GOOD, scope: "read" });
  await sts.exchange({ ...GOOD, scope: "read", subject_token: unsignedToken(2_000_000_000, "another") });
  assert.equal(sts.google.requests.length, 6, "another scope and another subject are other tokens");
  const rows = JSON.parse((await sts.send("/stsStatus")).text).tokens;
  const types = rows.map((row: { token_type: string }) => row.token_type);
  assert.deepEqual(types, ["federated token", "access token", "access token", "access token"]);
  assert(!JSON.stringify(rows).includes("Bearer") && !JSON.stringify(rows).includes(TOKEN));
});

Deno.test("twenty who ask for one token at once are one exchange, and an old token is replaced", async () => {
  let now = Date.now();
  await using sts = await service(google, { now: () => now });
  const answers = await Promise.all(Array.from({ length: 20 }, () => sts.exchange(GOOD)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(sts.google.requests.length, 2);
  now += 1_600_000;
  await sts.exchange(GOOD);
  assert.equal(sts.google.requests.length, 4, "less than five minutes were left");
});

Deno.test("a malformed request is refused with a code and the parameter, and nothing is sent on", async () => {
  await using sts = await service(google);
  const without = (name: string) => Object.fromEntries(Object.entries(GOOD).filter(([key]) => key !== name));
  const table: [Readonly<Record<string, string>> | string, string, RegExp][] = [
    ["", "invalid_request", /grant_type: got none/],
    [{ ...GOOD, grant_type: "password" }, "unsupported_grant_type", /grant_type: got password/],
    [without("subject_token"), "invalid_request", /subject_token: expected a JSON Web Token/],
    [{ ...GOOD, subject_token: "a b" }, "invalid_request", /subject_token/],
    [without("subject_token_type"), "invalid_request", /subject_token_type: got none/],
    [{ ...GOOD, subject_token_type: "saml" }, "invalid_request", /subject_token_type: got saml/],
    [{ ...GOOD, requested_token_type: "saml2" }, "invalid_request", /requested_token_type/],
    [{ ...GOOD, actor_token: TOKEN }, "invalid_request", /actor_token/],
    [{ ...GOOD, scope: 'a"b' }, "invalid_scope", /scope/],
    [`${new URLSearchParams(GOOD)}&scope=a&scope=b`, "invalid_request", /scope: given more than once/],
    ["%%%=&&&\u0000", "invalid_request", /grant_type/],
  ];
  for (const [form, error, description] of table) {
    const { status, json, headers } = await sts.exchange(form);
    assert.deepEqual([status, json.error], [400, error], JSON.stringify(form));
    assert.match(json.error_description, description);
    assert.match(json.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/);
    assert.equal(headers.get("content-type"), "application/json");
  }
  const json = await sts.exchange(JSON.stringify(GOOD), { "content-type": "application/json" });
  assert.match(json.json.error_description, /content-type: got application\/json/);
  assert.equal((await sts.exchange({ ...GOOD, extra: "x".repeat(70_000) })).status, 413);
  assert.equal((await sts.send("/token")).status, 405);
  assert.equal((await sts.exchange(GOOD, { origin: "http://evil.example" })).status, 403);
  assert.deepEqual(sts.google.requests, []);
});

Deno.test("a refusal by Google is the fault of the request or of the target; a failure at Google is tried again", async () => {
  const refusal = (status: number) => () => Response.json({ error_description: 'the "token" is old' }, { status });
  const denied = (request: CloudRequest) =>
    request.line === "POST /exchange"
      ? google(request)
      : Response.json({ error: { message: "no such account" } }, { status: 403 });
  const nonsense = () => new Response("federated secret");
  const table: [(request: CloudRequest) => Response | undefined, number, string, RegExp, number][] = [
    [refusal(400), 400, "invalid_request", /status 400.*: the 'token' is old/, 1],
    [denied, 400, "invalid_target", /status 403.*no such account/, 2],
    [refusal(500), 503, "temporarily_unavailable", /status 500/, 3],
    [refusal(429), 503, "temporarily_unavailable", /status 429/, 3],
    [nonsense, 503, "temporarily_unavailable", /expected JSON with a token, got something else/, 1],
  ];
  for (const [answer, status, error, description, calls] of table) {
    await using sts = await service(answer);
    const found = await sts.exchange(GOOD);
    assert.deepEqual([found.status, found.json.error], [status, error]);
    assert.match(found.json.error_description, description);
    assert.equal(sts.google.requests.length, calls);
    assert(!found.text.includes("secret") && !found.text.includes(TOKEN));
    assert.match(
      (await sts.metrics.scrape()).body,
      /num_failed_outgoing_requests\{request_type="token_exchange"\} [1-9]/,
    );
  }
  await using sts = await service(google, { projectNumber: "" });
  const found = await sts.exchange(GOOD);
  assert.deepEqual([found.status, found.json.error], [503, "temporarily_unavailable"]);
  assert.match(found.json.error_description, /CLOUD_METADATA/);
});

Deno.test("a provider that is silent is waited for once, and the next one who asks is served when it is there", async () => {
  let isSilent = true;
  await using sts = await service((request) => isSilent ? "silence" : google(request), { timeout: 5000 });
  const { status, json } = await sts.exchange(GOOD);
  assert.deepEqual([status, json.error], [503, "temporarily_unavailable"]);
  assert.match(json.error_description, /no answer within 5 s/);
  assert.equal(sts.google.requests.length, 1);
  isSilent = false;
  assert.equal((await sts.exchange(GOOD)).status, 200);
});
