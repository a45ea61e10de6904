/**
 * The status of each kind of the mesh, in both spellings, and of the Gateway API is read and written by rights of the manifests. No right is
 * spare.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { isClusterWideKind, isGatewayApiKind, type Kind } from "../../../lib/config/kinds/kinds.ts";
import { versionsOfKind } from "../../../lib/config/spelling/spelling.ts";
import { GATEWAY_API_DEFINITIONS, KIND_DEFINITIONS, kindResource } from "../../../lib/orch/resources/definitions.ts";
import { changeStatus } from "../../../lib/status/write.ts";
import { openDefinition } from "../support/open_definition.ts";
import { everyRightIsNeeded, type Right } from "../support/server/one_right_less.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { PATIENCE } from "../../patience.ts";

const test = apiServerTests();

/** A spec accepted by the definition of a kind. */
function specOf(kind: Kind): unknown {
  // The definitions of the Gateway API here accept every object.
  if (isGatewayApiKind(kind)) return {};
  const path = new URL(`../../testdata/config/kinds/${kind}.yaml`, import.meta.url);
  const samples = parseAllDocuments(Deno.readTextFileSync(path))[0]!.toJS() as {
    readonly errors?: unknown;
    readonly meta?: unknown;
    readonly spec: unknown;
  }[];
  return samples.find(({ errors, meta }) => errors === undefined && meta === undefined)!.spec;
}

/** The definitions of kinds with a status. */
const WITH_STATUS = [...KIND_DEFINITIONS, ...GATEWAY_API_DEFINITIONS.filter(({ kind }) => kind !== "ReferenceGrant")];

test("of each kind, in our spelling, in Istio's and of the Gateway API, the status takes the rights to get the object and to patch its status, and no other", async ({ server, namespace }) => {
  for (const definition of manifests("definitions")) await server.objects.define(definition);
  for (const one of WITH_STATUS) {
    if (!one.own || isGatewayApiKind(one.kind)) await server.objects.define(openDefinition(one));
  }
  const places = await Promise.all(WITH_STATUS.map(async (one) => {
    const metadata = { namespace: isClusterWideKind(one.kind) ? "" : namespace, name: "a" };
    const [version = "v1"] = versionsOfKind(one.kind);
    const head = { apiVersion: `${one.group}/${version}`, kind: one.written, metadata };
    const { metadata: { uid } } = await server.objects.create({ ...head, spec: specOf(one.kind) });
    return { place: { resource: kindResource(one, version), ...metadata }, uid };
  }));
  const groups = new Set(WITH_STATUS.map(({ group }) => group));
  const writes = ({ group, resource, verb }: Right) =>
    groups.has(group) && (resource.endsWith("/status") || verb === "get");
  await everyRightIsNeeded(server, ["pilot-discovery"], writes, async ({ client, account }) => {
    const signal = AbortSignal.timeout(PATIENCE);
    for (const { place, uid } of places) {
      await changeStatus(client, place, uid, () => ({ changedBy: account }), signal);
    }
  });
  assert.equal(places.length, WITH_STATUS.length);
});
