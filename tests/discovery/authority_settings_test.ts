import assert from "node:assert/strict";
import { selfSignedTimes } from "../../lib/discovery/identity/authority.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";

const HOUR = 3_600_000;

Deno.test("a self-signed root is made and renewed as the settings say", () => {
  assert.deepEqual(selfSignedTimes(defaultSettings("pilot-discovery")), {
    ...{ lifetime: 87_600 * HOUR, keyBits: 2048, graceRatio: 0.2, checkInterval: HOUR, jitter: true },
  });
  const changed = defaultSettings("pilot-discovery", {
    CITADEL_SELF_SIGNED_CA_CERT_TTL: 48 * HOUR,
    CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE: 4096,
    CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE: 50,
    CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL: 0,
    CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR: false,
  });
  assert.deepEqual(selfSignedTimes(changed), {
    ...{ lifetime: 48 * HOUR, keyBits: 4096, graceRatio: 0.5, checkInterval: 0, jitter: false },
  });
});
