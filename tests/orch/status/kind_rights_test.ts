/**
 * The status of each kind of the mesh, in both spellings, is read and written by rights of the manifests. No right is
 * spare.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import type { Kind } from "../../../lib/config/kinds/kinds.ts";
import { KIND_DEFINITIONS, kindResource } from "../../../lib/orch/resources/definitions.ts";
import { changeStatus } from "../../../lib/status/write.ts";
import { openDefinition } from "../support/open_definition.ts";
import { everyRightIsNeeded, type Right } from "../support/server/one_right_less.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { PATIENCE } from "../../patience.ts";

const test = apiServerTests();

/** A spec accepted by the definition of a kind. */
function specOf(kind: Kind): unknown {
  const path = new URL(`../../testdata/config/kinds/${kind}.yaml`, import.meta.url);
  const samples = parseAllDocuments(Deno.readTextFileSync(path))[0]!.toJS() as {
    readonly errors?: unknown;
    readonly meta?: unknown;
    readonly spec: unknown;
  }[];
  return samples.find(({ errors, meta }) => errors === undefined && meta === undefined)!.spec;
}

test("of each kind, in our spelling and in Istio's, the status takes the rights to get the object and to patch its status, and no other", async ({ server, namespace }) => {
  for (const definition of manifests("definitions")) await server.objects.define(definition);
  for (const one of KIND_DEFINITIONS) if (!one.own) await server.objects.define(openDefinition(one));
  const places = await Promise.all(KIND_DEFINITIONS.map(async (one) => {
    const metadata = { namespace, name: "a" };
    const head = { apiVersion: `${one.group}/v1`, kind: one.written, metadata };
    const { metadata: { uid } } = await server.objects.create({ ...head, spec: specOf(one.kind) });
    return { place: { resource: kindResource(one, "v1"), ...metadata }, uid };
  }));
  const groups = new Set(KIND_DEFINITIONS.map(({ group }) => group));
  const writes = ({ group, resource, verb }: Right) =>
    groups.has(group) && (resource.endsWith("/status") || verb === "get");
  await everyRightIsNeeded(server, ["pilot-discovery"], writes, async ({ client, account }) => {
    const signal = AbortSignal.timeout(PATIENCE);
    for (const { place, uid } of places) {
      await changeStatus(client, place, uid, () => ({ changedBy: account }), signal);
    }
  });
  assert.equal(places.length, KIND_DEFINITIONS.length);
});
