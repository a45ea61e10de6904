/** Keys of token issuers over TLS: the authorities accepted for an issuer's server. */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import { ServerTokenKeys } from "../../lib/discovery/lookups/server_token_keys.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { Authority, openssl } from "../certificates.ts";
import { inFile } from "../config/origins.ts";
import { Fixture } from "../discovery/fixture.ts";

interface Fetched {
  readonly has: boolean;
  readonly said: string;
}

/** Fetches the keys of an issuer found by discovery, with the given authorities. */
async function fetched(issuer: string, unchecked: boolean, authorities: readonly string[]): Promise<Fetched> {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const metadata = { name: "one", namespace: "x" };
  const tree = {
    apiVersion: "security.mesh.io/v1",
    kind: "RequestAuthentication",
    metadata,
    spec: { jwtRules: [{ issuer }] },
  };
  const { object } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  const store = new ConfigStore();
  store.addSource("a", 0).apply({ upserted: [object!], removed: [] });
  const settings = defaultSettings("pilot-discovery", { JWKS_RESOLVER_INSECURE_SKIP_VERIFY: unchecked });
  const keys = new ServerTokenKeys(settings, kernel, authorities);
  try {
    await keys.follow(store, new Fixture().pipeline);
    const has = keys.resolver.keysAt(`openid ${issuer}`) !== undefined;
    return { has, said: [...keys.findings()].map(({ message }) => message).join() };
  } finally {
    await kernel.stopper.stop();
  }
}

Deno.test({
  name: "keys come over TLS from a server that an authority vouches for, and from any if that is asked for",
  ignore: !openssl,
  async fn() {
    const authority = await Authority.make("issuers");
    const other = await Authority.make("other");
    try {
      const { certificate: cert, key } = await authority.sign("issuer", 1, [["IP", "127.0.0.1"]]);
      await using issuer = await TestIssuer.start({ cert, key });
      const unknown = await fetched(issuer.url, false, ["/nowhere/extra.pem"]);
      assert.equal(unknown.has, false);
      assert.match(unknown.said, /openid-configuration: .*certificate.*; every token of this issuer is refused$/);
      assert.equal((await fetched(issuer.url, false, [other.file])).has, false);
      assert.deepEqual(await fetched(issuer.url, false, ["/nowhere/extra.pem", authority.file]), {
        has: true,
        said: "",
      });
      assert.deepEqual(await fetched(issuer.url, true, []), { has: true, said: "" });
      issuer.configuration = { issuer: issuer.url, jwks_uri: "http://127.0.0.1:9/keys" };
      const down = await fetched(issuer.url, true, []);
      assert.match(down.said, /jwks_uri: got "http:\/\/127\.0\.0\.1:9\/keys", expected an https:\/\/ address;/);
      issuer.configuration = undefined;
      issuer.answer = () => Response.redirect("http://127.0.0.1:9/keys");
      assert.match((await fetched(issuer.url, true, [])).said, /\/keys: status 302, expected 200;/);
    } finally {
      await authority.remove();
      await other.remove();
    }
  },
});
