import assert from "node:assert/strict";
import {
  DEFAULT_TLS_POLICY,
  FIPS_TLS_POLICY,
  policyOfSuites,
  suitesNotThere,
} from "../../lib/sockets/listen/tls_policy.ts";

Deno.test("suites decide about versions: one without a wanted suite is not offered", () => {
  assert.equal(policyOfSuites([]), DEFAULT_TLS_POLICY);
  const versions = (...suites: string[]) => {
    const { minVersion, maxVersion } = policyOfSuites(suites);
    return [minVersion, maxVersion];
  };
  assert.deepEqual(versions("TLS_AES_128_GCM_SHA256"), ["TLSv1.3", "TLSv1.3"]);
  assert.deepEqual(versions("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"), ["TLSv1.2", "TLSv1.2"]);
  assert.deepEqual(versions("TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"), ["TLSv1.2", "TLSv1.3"]);
  assert.deepEqual(versions("TLS_RSA_WITH_RC4_128_SHA", "TLS_AES_128_GCM_SHA256"), ["TLSv1.3", "TLSv1.3"]);
});

Deno.test("a list without any supported suite is refused with the supported suites; single unsupported suites are named", () => {
  assert.throws(() => policyOfSuites(["TLS_RSA_WITH_RC4_128_SHA"]), {
    name: "TypeError",
    message: /^got TLS_RSA_WITH_RC4_128_SHA, expected one at least that this runtime has: TLS_ECDHE_ECDSA_WITH_AES_128/,
  });
  assert.deepEqual(suitesNotThere(["TLS_RSA_WITH_RC4_128_SHA", "TLS_AES_128_GCM_SHA256"]), [
    "TLS_RSA_WITH_RC4_128_SHA",
  ]);
});

Deno.test("the policy of FIPS 140-2 is TLS 1.2 and four suites", () => {
  const { minVersion, maxVersion, cipherSuites } = FIPS_TLS_POLICY;
  assert.deepEqual([minVersion, maxVersion], ["TLSv1.2", "TLSv1.2"]);
  assert.deepEqual([...cipherSuites!].sort(), [
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
  ]);
});
