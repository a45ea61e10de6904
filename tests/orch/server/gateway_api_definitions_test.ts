/**
 * The definitions of the Gateway API v1.6.1 and of its Inference Extension v1.6.0 on a real API server. The server judges the samples of the kinds as a second
 * opinion beside validation.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { GATEWAY_API_KINDS, type GatewayApiKind, isClusterWideKind } from "../../../lib/config/kinds/kinds.ts";
import { versionsOfKind } from "../../../lib/config/spelling/spelling.ts";
import { ApiError } from "../../../lib/orch/client/api_error.ts";
import { objectPath } from "../../../lib/orch/informer/resource.ts";
import { GATEWAY_API_DEFINITIONS, kindResource } from "../../../lib/orch/resources/definitions.ts";
import { definitionFiles, inferencePoolDefinition } from "../../conformance/support/definitions.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import type { ObjectDraft, ObjectId } from "../support/server/objects.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();

/** What a file of cases says of a spec. */
interface SpecSample {
  readonly case: string;
  readonly errors?: readonly string[];
  readonly spec: unknown;
}

/** Samples that validation refuses and definitions take, with the reason. */
const ONLY_VALIDATION: Readonly<Record<string, string>> = {
  "HTTPRoute: a path's expression that does not compile": "definitions do not read regular expressions",
  "HTTPRoute: a header's expression that does not compile": "definitions do not read regular expressions",
  "HTTPRoute: a query parameter's expression that does not compile": "definitions do not read regular expressions",
  "GRPCRoute: a service's expression that does not compile": "definitions do not read regular expressions",
  "GRPCRoute: a method's expression that does not compile": "definitions do not read regular expressions",
};

/** Samples that validation takes and definitions refuse, with the reason. */
const ONLY_DEFINITIONS: Readonly<Record<string, string>> = {
  "HTTPRoute: retries that are switched off": "definitions before v1.4 take 0",
  "XBackend: a name of a port": "the rule of the definition is true of no name; validation warns",
};

/** Makes the definitions known. Later tests define them again, without cost. */
async function define({ objects }: ApiServer): Promise<void> {
  for (const path of [...await definitionFiles("v1.6.1"), await inferencePoolDefinition()]) {
    for (const document of parseAllDocuments(await Deno.readTextFile(path))) {
      const definition: ObjectDraft & ObjectId = document.toJS();
      if (GATEWAY_API_DEFINITIONS.some(({ plural, group }) => definition.metadata.name === `${plural}.${group}`)) {
        await objects.define(definition);
      }
    }
  }
}

function samplesOf(kind: GatewayApiKind): readonly SpecSample[] {
  const path = new URL(`../../testdata/config/kinds/${kind}.yaml`, import.meta.url);
  return parseAllDocuments(Deno.readTextFileSync(path))[0]!.toJS();
}

/** The server's words about an object in a dry run; undefined: the server accepts the object. */
async function refusal({ client }: ApiServer, kind: GatewayApiKind, namespace: string, spec: unknown) {
  const definition = GATEWAY_API_DEFINITIONS.find((one) => one.kind === kind)!;
  const [version = "v1"] = versionsOfKind(kind);
  const resource = kindResource(definition, version);
  const path = `${objectPath(resource, namespace, "").slice(0, -1)}?dryRun=All&fieldValidation=Strict`;
  const metadata = { name: "sample", ...(isClusterWideKind(kind) ? {} : { namespace }) };
  const body = { apiVersion: `${definition.group}/${version}`, kind: definition.written, metadata, spec };
  try {
    await client.tell({ method: "POST", path, body });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 422 || error.status === 400)) return error.message;
    throw error;
  }
}

test("an API server with the definitions of v1.6.1 judges every sample as validation does, but for named samples", async ({ server, namespace }) => {
  await define(server);
  const onlyValidation: string[] = [];
  const onlyDefinitions: string[] = [];
  let count = 0;
  for (const kind of GATEWAY_API_KINDS) {
    for (const { case: name, errors = [], spec } of samplesOf(kind)) {
      const said = await refusal(server, kind, namespace, spec);
      count++;
      if (said === undefined && errors.length > 0) onlyValidation.push(`${kind}: ${name}`);
      if (said !== undefined && errors.length === 0) onlyDefinitions.push(`${kind}: ${name}: ${said}`);
    }
  }
  assert.deepEqual(onlyValidation, Object.keys(ONLY_VALIDATION));
  assert.deepEqual(
    onlyDefinitions.filter((line) => !Object.keys(ONLY_DEFINITIONS).some((name) => line.startsWith(`${name}: `))),
    [],
  );
  assert.equal(onlyDefinitions.length, Object.keys(ONLY_DEFINITIONS).length);
  assert.ok(count > 200, `${count}`);
});
