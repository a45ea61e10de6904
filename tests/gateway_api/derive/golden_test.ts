/**
 * What Envoy gets for the rules of routes. Inputs: `testdata/gateway_api/rules/in`; accept changes with
 * `deno task goldens`.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { encode } from "../../../lib/pb/codec.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import { inputNames, testGoldens } from "../../golden.ts";
import { parsedRoute, rules } from "./routes.ts";
import { routeConfiguration } from "./traffic.ts";

const folder = new URL("../../testdata/gateway_api/rules/", import.meta.url);
const inputs = new URL("in/", folder);
const CONFIGURATION = "envoy.config.route.v3.RouteConfiguration";

function made(name: string): string {
  const documents = parseAllDocuments(Deno.readTextFileSync(new URL(`${name}.yaml`, inputs)));
  const routes = documents.map((document) => rules(parsedRoute(document.toJS())));
  assert.deepEqual(routes.flatMap(({ refusals }) => refusals), []);
  const message = encode(CONFIGURATION, routeConfiguration(routes, {}));
  return `${JSON.stringify(readable(CONFIGURATION, message), null, 2)}\n`;
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".json",
  cases: new Map(inputNames(inputs).map((name) => [name, () => made(name)])),
});
