/**
 * A guard that was never valid is not in force, and every page and metric tells so. A guard once valid stays in force.
 */
import assert from "node:assert/strict";
import { page, withServer } from "./running.ts";
import { until } from "../patience.ts";

interface Guard {
  readonly kind: string;
  readonly good: string;
  readonly bad: string;
  /** The wrong field. */
  readonly field: RegExp;
}

const GUARDS: readonly Guard[] = [
  {
    kind: "AuthorizationPolicy",
    good: "{ action: DENY, rules: [{ to: [{ operation: { paths: [/admin] } }] }] }",
    bad: "{ action: DENNY, rules: [{ to: [{ operation: { paths: [/admin] } }] }] }",
    field: /spec\.action: "DENNY"/,
  },
  {
    kind: "RequestAuthentication",
    good: "{ jwtRules: [{ issuer: https://i.example.com, jwks: '{\"keys\":[]}' }] }",
    bad: "{ jwtRules: [{ issuer: 3 }] }",
    field: /spec\.jwtRules\[0\]\.issuer: 3/,
  },
  {
    kind: "PeerAuthentication",
    good: "{ mtls: { mode: STRICT } }",
    bad: "{ mtls: { mode: STRICKT } }",
    field: /STRICKT/,
  },
];

const text = ({ kind }: Guard, spec: string) => `
apiVersion: security.mesh.io/v1
kind: ${kind}
metadata: { name: guard, namespace: x }
spec: ${spec}
`;

interface Answer {
  readonly everywhere: boolean;
  readonly why: readonly string[];
  readonly refused: readonly { readonly message: string; readonly severity: string }[];
}

for (const guard of GUARDS) {
  Deno.test(`${guard.kind}: never valid is in force nowhere and is an error; the last valid text stays in force`, async () => {
    await withServer({ "guard.yaml": text(guard, guard.bad) }, async ({ ports, configuration }, folder) => {
      const live = async () => {
        const { status, body } = await page(ports.http, `/debug/live?object=${guard.kind}/x/guard&wait=90s`);
        return { status, ...JSON.parse(body) as Answer };
      };
      const never = await live();
      assert.deepEqual([never.status, never.everywhere, never.why.includes("no version is in force here")], [
        ...[404, false, true],
      ]);
      assert.deepEqual(never.refused.map(({ severity }) => severity), ["error"]);
      assert.match(never.refused[0]!.message, guard.field);
      const problems = (await page(ports.http, "/debug/problemz")).body;
      assert.match(problems, /guard/);

      await Deno.writeTextFile(`${folder}/guard.yaml`, text(guard, guard.good));
      await configuration.settled();
      assert.equal((await live()).status, 200);
      const { hash } = JSON.parse((await page(ports.http, `/debug/live?object=${guard.kind}/x/guard`)).body);
      await Deno.writeTextFile(`${folder}/guard.yaml`, text(guard, guard.bad));
      await until("the refusal", async () => (await live()).refused.length > 0);
      const kept = JSON.parse((await page(ports.http, `/debug/live?object=${guard.kind}/x/guard`)).body);
      assert.deepEqual([kept.hash, kept.everywhere], [hash, false], "the last good version guards");
    });
  });
}
