/**
 * While the API is away nobody gets a certificate. Callers hear that the trouble may pass, and get certificates when the API
 * is back.
 */
import assert from "node:assert/strict";
import { quickClock } from "../support/scripted_api.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { rootsOf, signerOf, withSigners } from "../support/signer_server.ts";
import { TestSigner } from "../support/test_signer.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();

test("a request while the API is away, or before the signer has answered, ends with UNAVAILABLE; a later request gets a certificate", async ({ server, namespace }) => {
  const SIGNER = signerOf(namespace);
  await using signer = await TestSigner.start(server.client, SIGNER);
  const settings = { EXTERNAL_CA: "ISTIOD_RA_ORCH_API", ORCH_SIGNER: SIGNER } as const;
  const mesh = rootsOf([SIGNER, signer.rootPem]);
  await withSigners(server, namespace, settings, mesh, async ({ ask }) => {
    const chain = await ask();
    assert.ok(Array.isArray(chain), String(chain));
    const usual = signer.answer;
    signer.answer = () => Promise.resolve(undefined);
    const before = signer.seen.length;
    const left = ask({}, { chain });
    await until("the signer has the request", () => signer.seen.length > before);
    await server.stop("at once");
    assert.match(String(await left), /^UNAVAILABLE: signer .*: no certificate: no answer within 60 s: /);
    // A caller with a certificate needs the API for signing alone. A caller with a token needs the API for the token,
    // too.
    assert.match(String(await ask({}, { chain })), /^UNAVAILABLE: signer .*certificatesigningrequests/);
    assert.match(String(await ask()), /^UNAVAILABLE: the caller proved no identity/);
    await server.start();
    signer.answer = usual;
    await until("a certificate", async () => Array.isArray(await ask({}, { chain })));
  }, quickClock(10));
});
