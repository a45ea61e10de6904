/** The callers that each part of a server believes, by the settings of the server. */
import assert from "node:assert/strict";
import { failureText } from "../../lib/authenticators/caller.ts";
import { ServerAuthentication } from "../../lib/discovery/identity/authentication.ts";
import { pageAudience } from "../../lib/discovery/other_clients/page_callers.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { ANONYMOUS_TLS, caller } from "../authenticators/support/callers.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { withServer } from "./running.ts";

function authenticationOf(settings: Partial<SettingsOf<"pilot-discovery">>, trustDomain = "cluster.local") {
  const mesh = { ...defaultMeshConfig({ systemNamespace: "mesh-system" }), trustDomain };
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const state = { mesh, networks: { networks: {} } };
  return new ServerAuthentication(defaultSettings("pilot-discovery", settings), { state }, kernel);
}

const ruleOf = ({ url }: TestIssuer, audience: string) =>
  JSON.stringify({ issuer: url, jwksUri: `${url}/keys`, audiences: [audience] });

Deno.test("the authority believes TOKEN_ISSUER last, for AUDIENCE, else for TOKEN_AUDIENCES in both spellings", async () => {
  await using one = await TestIssuer.start();
  await using two = await TestIssuer.start();
  const verdict = async (settings: Partial<SettingsOf<"pilot-discovery">>, token: string) => {
    const authentication = await authenticationOf(settings).forAuthority();
    const result = await authentication.authenticate(caller({ authorization: `Bearer ${token}` }, ANONYMOUS_TLS));
    return "caller" in result ? result.caller.provenBy : failureText(result.failures);
  };
  const both = { JWT_RULE: ruleOf(one, "mesh-ca"), TOKEN_ISSUER: two.url };
  assert.equal(await verdict(both, await one.token()), "JWT_RULE");
  assert.equal(await verdict(both, await two.token()), "TOKEN_ISSUER");
  assert.equal(await verdict(both, await two.token({ aud: "istio-ca" })), "TOKEN_ISSUER");
  assert.match(
    await verdict(both, await two.token({ aud: "vault" })),
    /TOKEN_ISSUER: claim aud: got "vault", expected one of mesh-ca, istio-ca$/,
  );
  assert.equal(await verdict({ ...both, AUDIENCE: "vault" }, await two.token({ aud: "vault" })), "TOKEN_ISSUER");
  assert.match(await verdict({ ...both, AUDIENCE: "vault" }, await two.token()), /expected one of vault$/);
  assert.match(await verdict({}, await one.token()), /^client certificate: no certificate$/);
});

Deno.test("without TOKEN_ISSUER and AUDIENCE the issuer and audience of the server's own token apply", async () => {
  await using issuer = await TestIssuer.start();
  const folder = await Deno.makeTempDir();
  const file = `${folder}/token`;
  const verdict = async (token: string) => {
    const authentication = await authenticationOf({}).forAuthority([`${folder}/none`, file]);
    const result = await authentication.authenticate(caller({ authorization: `Bearer ${token}` }, ANONYMOUS_TLS));
    return "caller" in result ? result.caller.identity.serviceAccount : failureText(result.failures);
  };
  await Deno.writeTextFile(file, await issuer.token({ aud: ["vault", "other"], sub: "system:serviceaccount:a:b" }));
  assert.equal(await verdict(await issuer.token({ aud: "vault" })), "cart");
  assert.match(await verdict(await issuer.token({ aud: "other" })), /claim aud: got "other", expected one of vault$/);
  await Deno.writeTextFile(file, "junk");
  assert.equal(await verdict(await issuer.token()), "client certificate: no certificate");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("identities of tokens are in the mesh's trust domain of the moment", async () => {
  await using issuer = await TestIssuer.start();
  const authentication = authenticationOf({ JWT_RULE: ruleOf(issuer, "mesh-ca") }, "corp@example.com").forDiscovery();
  const shown = caller({ authorization: `Bearer ${await issuer.token()}` }, ANONYMOUS_TLS);
  const result = await authentication.authenticate(shown);
  assert.equal("caller" in result && result.caller.identity.trustDomain, "corp.example.com");
});

Deno.test("pages: this machine needs no proof, other machines need an identity, and only the system's identity sees everything", async () => {
  await using issuer = await TestIssuer.start();
  const audience = pageAudience(authenticationOf({ JWT_RULE: ruleOf(issuer, "mesh-ca") }).forPages(), "mesh-system");
  const ask = async (address: string, token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const sees = await audience({ headers, peer: { address } });
    return "status" in sees ? sees.status : sees.confined?.identity ?? "everything";
  };
  const [shop, system] = await Promise.all([
    issuer.token(),
    issuer.token({ sub: "system:serviceaccount:mesh-system:operator" }),
  ]);
  assert.deepEqual([await ask("127.0.0.1:1"), await ask("::1:1")], ["everything", "everything"]);
  assert.deepEqual([await ask("10.0.0.9:1"), await ask("10.0.0.9:1", "a.b.c")], [401, 401]);
  assert.equal(await ask("10.0.0.9:1", shop), "spiffe://cluster.local/ns/shop/sa/cart");
  assert.equal(await ask("10.0.0.9:1", system), "everything");
});

Deno.test("a debug page is shown to another machine with a token, and its index without one", async () => {
  const own = Deno.networkInterfaces().find(({ family, address }) => family === "IPv4" && !address.startsWith("127."));
  const host = own?.address ?? "127.0.0.1";
  await using issuer = await TestIssuer.start();
  await withServer({}, async ({ ports }) => {
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`http://${host}:${ports.http}${path}`, { headers });
      return { status: response.status, body: await response.text() };
    };
    assert.equal((await get("/debug")).status, 200);
    const refused = await get("/debug/registryz");
    if (own !== undefined) assert.equal(refused.status, 401);
    if (own !== undefined) {
      assert.match(refused.body, /^debug pages are for callers on the same machine.*JWT_RULE: no token\n$/);
    }
    const sub = "system:serviceaccount:mesh-system:operator";
    const headers = { authorization: `Bearer ${await issuer.token({ sub })}` };
    assert.deepEqual(await get("/debug/registryz", headers), { status: 200, body: "[]\n" });
  }, { options: { http: ":0" }, settings: { JWT_RULE: ruleOf(issuer, "mesh-ca") } });
});
