/**
 * Who may call what: real requests of two identities to a strict Envoy, admitted or refused by AuthorizationPolicies.
 */
import assert from "node:assert/strict";
import { openssl } from "../certificates.ts";
import { withGuarded } from "./support/guarded.ts";
import { envoyPath } from "./support/mesh.ts";
import { allow, deny, no, ok, POLICY_CASES, to, when } from "./support/policy_cases.ts";
import { until } from "../patience.ts";

const ignore = envoyPath() === undefined || !openssl;

Deno.test({
  name: "requests and connections are admitted and refused as the policies say, switched live",
  ignore,
  fn: () =>
    withGuarded(
      { meshConfig: () => ({ pathNormalization: { normalization: "DECODE_AND_MERGE_SLASHES" } }) },
      async ({ check, envoy, ports: { http, tcp } }) => {
        for (const one of POLICY_CASES) await check(one);
        const ports = (port: number) => deny(to({ ports: [String(port)] }));
        await check({ name: "ports", policies: [ports(http)], asked: [...no({}), ...ok({ tcp: true })] });
        await check({ name: "ports", policies: [ports(tcp)], asked: [...ok({}), ...no({ tcp: true })] });
        const port = when("destination.port", [String(tcp)]);
        await check({ name: "conditions of ports", policies: [allow(port)], asked: [...no({}), ...ok({ tcp: true })] });
        const stats = await envoy.admin("stats?filter=istio_dry_run");
        assert.match(stats!, /istio_dry_run_deny_\.shadow_denied: [1-9]/);
        assert.match(stats!, /istio_dry_run_allow_\.shadow_denied: [1-9]/);
      },
    ),
});

Deno.test({
  name: "a policy in force is live at its proxies; one for nobody is live nowhere",
  ignore,
  fn: () =>
    withGuarded({}, async ({ check, mesh }) => {
      const other = { name: "other", spec: { selector: { matchLabels: { app: "another" } } } };
      await check({ name: "two", policies: [{ ...allow({}), name: "own" }, other], asked: ok({}) });
      const live = (name: string) =>
        mesh.page<{ total?: number; everywhere: boolean }>(`live?object=AuthorizationPolicy/demo/${name}`);
      const { total, everywhere } = await live("own&wait=90s");
      assert.deepEqual([total, everywhere], [1, true]);
      assert.equal((await live("other")).total ?? 0, 0);
      await until("no warning says that it is not enforced", async () => {
        const warnings = JSON.stringify(await mesh.page<unknown>("warningz"));
        return !/not enforced|not built/.test(warnings);
      });
    }),
});
