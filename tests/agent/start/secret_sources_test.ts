/** Settings of secrets in files, each one on the sources of an agent. */
import assert from "node:assert/strict";
import type { AgentSecret } from "../../../lib/agent/secrets/agent_secret.ts";
import { orderCertificate } from "../../../lib/agent/secrets/issued_certificate.ts";
import { writeWhole } from "../../../lib/agent/secrets/output_files.ts";
import { secretSource } from "../../../lib/agent/start/secret_sources.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { agentInput } from "../support/agent_input.ts";
import { TestAuthority } from "../support/authority.ts";
import { until } from "../../patience.ts";

/** A fake clock that keeps the times of all timers. */
function notedClock() {
  const clock = createFakeClock();
  const waits: number[] = [];
  return { ...clock, waits, after: (ms: number, fire: () => void) => (waits.push(ms), clock.after(ms, fire)) };
}

Deno.test("FILE_DEBOUNCE_DURATION: files of a burst are read once, so long after the last change", async () => {
  const authority = await TestAuthority.make();
  const order = {
    ...{ uri: "spiffe://cluster.local/ns/shop/sa/cart", key: { type: "EC", curve: "P-256" } as const },
    ...{ ttl: 60_000, pkcs8: true, now: () => Date.now() },
  };
  const pair = () => orderCertificate(order, (csr, ttl) => authority.sign(csr, ttl));
  const folder = await Deno.makeTempDir();
  const [chainFile, keyFile] = [`${folder}/chain.pem`, `${folder}/key.pem`];
  try {
    for (const debounce of [100, 700]) {
      const [old, fresh] = [await pair(), await pair()];
      await writeWhole(chainFile, old.chain, 0o644);
      await writeWhole(keyFile, old.key, 0o600);
      const [clock, metrics] = [notedClock(), createMetrics("pilot-agent")];
      const parts = { clock, metrics, log: silentLog() };
      const input = agentInput(folder, { settings: { FILE_DEBOUNCE_DURATION: debounce } });
      const secrets: AgentSecret[] = [];
      const stop = secretSource({ from: "another program" }, undefined, input, parts)
        .watch(`file-cert:${chainFile}~${keyFile}`, { secret: (one) => void secrets.push(one), failed: assert.fail });
      try {
        await until("the first pair is there", () => secrets.length === 1);
        await writeWhole(chainFile, fresh.chain, 0o644);
        await until("the chain's change is seen", () => clock.waits.length === 1);
        await clock.advance(debounce - 1);
        await writeWhole(keyFile, fresh.key, 0o600);
        await until("the key's change is seen", () => clock.waits.length === 2);
        await clock.advance(debounce - 1);
        assert.equal(secrets.length, 1);
        await clock.advance(1);
        assert.deepEqual(secrets[1], { kind: "certificate", chain: fresh.chain, key: fresh.key });
        assert.deepEqual(clock.waits, [debounce, debounce]);
        // A look in between finds a key unlike the chain's.
        assert.doesNotMatch((await metrics.scrape()).body, /^num_file_secret_failures_total [1-9]/m);
      } finally {
        stop?.();
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
