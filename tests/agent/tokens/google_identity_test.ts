import assert from "node:assert/strict";
import { GoogleIdentity } from "../../../lib/agent/tokens/google_identity.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { CloudServer, unsignedToken } from "../support/cloud_server.ts";
import { PATIENCE, until } from "../../patience.ts";

/** A machine with a stand-in for its metadata server. */
function machine(answer: () => Response | undefined, stored: (token: string) => void = () => {}) {
  const clock = createFakeClock();
  const server = new CloudServer(answer);
  const identity = new GoogleIdentity({
    ...{ server: `http://${server.host}`, audience: "mesh.example", deadline: PATIENCE, clock },
    log: silentLog().scope("cloudcred"),
    store: (token) => Promise.resolve(token).then(stored),
  });
  return { clock, server, identity, asked: () => server.requests.length };
}

Deno.test("the machine's token is for the trust domain, is used until half of its life is over, and is renewed then", async () => {
  const stored: string[] = [];
  let exp = 0;
  const { clock, server, identity, asked } = machine(
    () => new Response(unsignedToken(exp, `until ${exp}`)),
    (token) => stored.push(token),
  );
  await using _server = server;
  exp = clock.now() / 1000 + 3600;
  identity.start();
  await until("it is kept", () => stored.length === 1);
  assert.equal(
    server.requests[0]!.line,
    "GET /computeMetadata/v1/instance/service-accounts/default/identity?audience=mesh.example&format=full",
  );
  assert.equal(server.requests[0]!.headers.get("metadata-flavor"), "Google");
  const first = await identity.token();
  assert.equal(asked(), 1);
  exp += 1800;
  await clock.advance(1_800_000);
  await until("it is renewed", () => stored.length === 2);
  assert.notEqual(await identity.token(), first);
  assert.deepEqual(stored, [first, await identity.token()]);
  identity.stop();
});

Deno.test("without the metadata server the token is used until it expires; then there is no token until a later attempt succeeds", async () => {
  let exp = 0;
  let isUp = true;
  const { clock, server, identity } = machine(() => isUp ? new Response(unsignedToken(exp)) : undefined);
  await using _server = server;
  exp = clock.now() / 1000 + 3600;
  const first = await identity.token();
  isUp = false;
  await clock.advance(3_500_000);
  assert.equal(await identity.token(), first);
  await clock.advance(200_000);
  await assert.rejects(identity.token(), /127\.0\.0\.1.*status 404/);
  isUp = true;
  exp += 3600;
  assert.notEqual(await identity.token(), first);
});

Deno.test("a token that cannot be kept in its file is used all the same", async () => {
  const { server, identity } = machine(() => new Response(unsignedToken(2_000_000_000)), () => {
    throw new Error("no space left on device");
  });
  await using _server = server;
  assert.match(await identity.token(), /^[\w-]+\.[\w-]+\.[\w-]+$/);
});
