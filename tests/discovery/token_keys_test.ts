/** Keys of token issuers from real servers: good, hostile, and vanishing servers. */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import { ServerTokenKeys } from "../../lib/discovery/lookups/server_token_keys.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { inFile } from "../config/origins.ts";
import { Fixture } from "./fixture.ts";

type Rule = Readonly<Record<string, unknown>>;

function policy(name: string, ...jwtRules: readonly Rule[]) {
  const metadata = { name, namespace: "x" };
  return { apiVersion: "security.mesh.io/v1", kind: "RequestAuthentication", metadata, spec: { jwtRules } };
}

/** A store with one policy and the server's fetcher of keys, after the first attempt. */
async function keysOf(
  rules: readonly Rule[],
  run: (keys: ServerTokenKeys, counts: () => Promise<[success: number, fail: number]>) => void | Promise<void>,
  given: Partial<SettingsOf<"pilot-discovery">> = {},
): Promise<void> {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const store = new ConfigStore();
  const { object, findings } = parseObject(policy("one", ...rules), inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  store.addSource("a", 0).apply({ upserted: [object], removed: [] });
  const keys = new ServerTokenKeys(defaultSettings("pilot-discovery", given), kernel, []);
  const counts = async (): Promise<[number, number]> => {
    const { body } = await kernel.metrics.scrape();
    const count = (name: string) => Number(new RegExp(`^${name} (\\d+)`, "m").exec(body)?.[1] ?? 0);
    return [
      count("pilot_jwks_resolver_network_fetch_success_total"),
      count("pilot_jwks_resolver_network_fetch_fail_total"),
    ];
  };
  try {
    await keys.follow(store, new Fixture().pipeline);
    await run(keys, counts);
  } finally {
    await kernel.stopper.stop();
  }
}

/** The finding about the keys of the only rule; undefined: no finding. */
function said(keys: ServerTokenKeys): string | undefined {
  const [found] = keys.findings();
  return found?.message;
}

Deno.test("a start waits for keys: by address, and by the issuer's OpenID configuration; fetches are counted", async () => {
  await using issuer = await TestIssuer.start();
  const rules = [{ issuer: issuer.url, jwksUri: `${issuer.url}/keys` }, { issuer: issuer.url }];
  await keysOf(rules, async ({ resolver }, counts) => {
    const byAddress = resolver.keysAt(`${issuer.url}/keys`);
    assert.match(byAddress ?? "", /"kid":"one"/);
    assert.equal(resolver.keysAt(`openid ${issuer.url}`), byAddress);
    assert.deepEqual(await counts(), [3, 0]);
    assert.deepEqual([...issuer.asked].sort(), ["/.well-known/openid-configuration", "/keys", "/keys"]);
  });
});

/** 64 MB, then nothing more. */
const endless = (parts = 0) =>
  new Response(
    new ReadableStream({
      pull: (to) => {
        if (++parts < 1000) to.enqueue(new Uint8Array(65_536).fill(91));
      },
    }),
  );

Deno.test("hostile servers of keys cost a bounded time and size, and every token is refused", async () => {
  await using issuer = await TestIssuer.start();
  await using elsewhere = await TestIssuer.start();
  const key = { kty: "oct", k: "AAAA" };
  const never = Promise.withResolvers<Response>();
  using _end = { [Symbol.dispose]: () => never.resolve(new Response()) };
  const cases: Record<string, readonly [() => Response | Promise<Response>, RegExp]> = {
    "an endless body": [() => endless(), /\/keys: more than 262144 bytes;/],
    "10 MB": [() => new Response("[".repeat(10_000_000)), /\/keys: more than 262144 bytes;/],
    "a redirect": [() => Response.redirect(`${elsewhere.url}/keys`), /\/keys: status 302, expected 200;/],
    "no answer": [() => never.promise, /\/keys: no answer within 0\.3 s;/],
    "a body that never ends": [
      () => new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array([91])) })),
      /\/keys: no answer within 0\.3 s;/,
    ],
    "no JSON": [() => new Response("<html>"), /expected a JSON Web Key Set, got text that is not JSON;/],
    "another document": [() => Response.json({ error: "no" }), /keys: got none, expected a list of keys;/],
    "a key without a type": [
      () => Response.json({ keys: [{ k: "AAAA" }] }),
      /expected a JSON Web Key Set whose keys have/,
    ],
    "too many keys": [() => Response.json({ keys: Array(101).fill(key) }), /expected at most 100 keys;/],
    "deep nesting": [() => new Response("[".repeat(200_000)), /got text that is not JSON;/],
    "an error": [() => new Response("down", { status: 500 }), /\/keys: status 500, expected 200;/],
  };
  for (const [name, [answer, reason]] of Object.entries(cases)) {
    issuer.answer = answer;
    const timeout = reason.source.includes("within") ? "0.3s" : "90s";
    const rule = { issuer: "https://a.example", jwksUri: `${issuer.url}/keys`, timeout };
    await keysOf([rule], async (keys, counts) => {
      assert.match(said(keys) ?? "", reason, name);
      assert.match(said(keys) ?? "", /^spec\.jwtRules\[0\]\.jwksUri: .*; every token of this issuer is refused$/);
      assert.equal(keys.resolver.keysAt(rule.jwksUri), undefined, name);
      assert.equal((await counts())[0] + (await counts())[1], 1, name);
    });
  }
  assert.deepEqual(elsewhere.asked, []);
});

Deno.test("an issuer's OpenID configuration cannot send the server to files, to another issuer's keys, or nowhere", async () => {
  await using issuer = await TestIssuer.start();
  const answers: readonly (readonly [object, RegExp])[] = [
    [
      { issuer: "https://other.example", jwks_uri: `${issuer.url}/keys` },
      /issuer: got "https:\/\/other\.example", expected/,
    ],
    [
      { issuer: issuer.url, jwks_uri: "file:///etc/passwd" },
      /jwks_uri: got "file:\/\/\/etc\/passwd", expected an address that begins/,
    ],
    [{ issuer: issuer.url, jwks_uri: "data:application/json,{}" }, /expected an address that begins with https/],
    [{ issuer: issuer.url, jwks_uri: `${issuer.url}/keys#x` }, /jwks_uri: got ".*#x", expected an address/],
    [{ issuer: issuer.url, jwks_uri: "http://u:secret@a/keys" }, /jwks_uri: got "http:\/\/\*\*\*@a\/keys", expected/],
    [{ issuer: issuer.url }, /jwks_uri: got none, expected the address of the keys/],
  ];
  for (const [answer, reason] of answers) {
    issuer.configuration = answer;
    await keysOf([{ issuer: issuer.url }], (keys) => {
      assert.match(said(keys) ?? "", reason);
      assert.match(said(keys) ?? "", /^spec\.jwtRules\[0\]\.issuer: /);
    });
  }
  await keysOf([{ issuer: "no address" }], (keys) => {
    assert.match(
      said(keys) ?? "",
      /issuer "no address" is not an address \(.*\), and the rule gives no address of the issuer's keys/,
    );
  });
});

Deno.test("an address of keys with a user, a password or a fragment is a warning, is not asked, and no token is let in", async () => {
  await using issuer = await TestIssuer.start();
  const host = issuer.url.slice("http://".length);
  for (const jwksUri of [`${issuer.url}/keys#x`, `http://user:secret@${host}/keys`]) {
    const rule = { issuer: "https://a.example", jwksUri };
    await keysOf([rule], (keys) => {
      assert.match(said(keys) ?? "", /expected an address that begins with .*; every token of this issuer is refused$/);
      assert.doesNotMatch(said(keys) ?? "", /expected.*secret/);
      assert.equal(keys.resolver.keysAt(jwksUri), undefined);
    });
  }
  for (const query of ["?", "?quit=", "#"]) {
    await keysOf([{ issuer: `${issuer.url}/quitquitquit${query}` }], (keys) => {
      assert.match(said(keys) ?? "", /^spec\.jwtRules\[0\]\.issuer: .* is not an address/);
    });
  }
  assert.deepEqual(issuer.asked, []);
});

Deno.test("where proxies fetch, the server does not, and reports the addresses that no proxy can reach", async () => {
  await using issuer = await TestIssuer.start();
  const rules = [{ issuer: issuer.url, jwksUri: `${issuer.url}/keys` }, { issuer: issuer.url }];
  await keysOf(rules, (keys) => {
    assert.deepEqual(issuer.asked, ["/.well-known/openid-configuration", "/keys"], "what only an issuer tells");
    assert.match(said(keys) ?? "", /^spec\.jwtRules\[0\]\.jwksUri: .*, expected a service of the mesh, .* is refused$/);
  }, { PILOT_JWT_ENABLE_REMOTE_JWKS: "proxy" });
});

Deno.test("a start does not wait for keys that were tried and failed, and the proxies' configuration has a provider for them", async () => {
  const rule = { issuer: "https://a.example", jwksUri: "http://127.0.0.1:9/keys" };
  await keysOf([rule], (keys) => {
    const [found] = keys.findings();
    assert.deepEqual([found?.name, found?.severity, found?.place.field], [
      "keys-not-fetched",
      "error",
      "spec.jwtRules[0].jwksUri",
    ]);
  });
});
