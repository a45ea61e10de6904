import assert from "node:assert/strict";
import { substitutionProblem } from "../../../lib/config/validation/substitution.ts";
import { httpRoutes } from "../../../lib/translate/route/virtual_service.ts";
import { envoyPath, validate } from "../envoy.ts";
import { fakeReader } from "../fake_reader.ts";
import { virtualService } from "./objects.ts";
import { routeListener } from "./route_listener.ts";

const good = [
  "",
  "plain",
  "100%%",
  "%%REQ%%",
  "%PROTOCOL% and %REQ(x-user?:path):10%",
  "%START_TIME%",
  "%START_TIME(%s.%3f)%",
  "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
  '%UPSTREAM_METADATA(["a", "b"])%',
  "%ENVIRONMENT(HOME)%",
  "%CEL(request.path)%",
];
const bad: [string, RegExp][] = [
  ["50%", /lone %/],
  ["%", /lone %/],
  ["%REQ(x)", /lone %/],
  ["%%%", /lone %/],
  ["%req(x)%", /lone %/],
  ["%NOPE%", /%NOPE% is no command/],
  ["%REQ%", /%REQ% needs an argument/],
  ["%PROTOCOL(x)%", /%PROTOCOL% takes no argument/],
  ["ok %PROTOCOL% but %NOPE(x)%", /%NOPE% is no command/],
];

for (const value of good) {
  Deno.test(`the header value "${value}" is one that Envoy can read`, () => {
    assert.equal(substitutionProblem(value), undefined);
  });
}
for (const [value, expected] of bad) {
  Deno.test(`the header value "${value}" is one that Envoy cannot read`, () => {
    assert.match(substitutionProblem(value) ?? "", expected);
  });
}

Deno.test("a header that Envoy cannot read is left out and reported; the rest of the rule stays", () => {
  const rule = {
    headers: { request: { set: { a: "%NOPE%", b: "fine" } }, response: { add: { c: "50%" } } },
    route: [{ destination: { host: "x" }, headers: { request: { add: { d: "%REQ%" } } } }],
  };
  const context = { read: fakeReader(), port: 80, gateways: ["mesh"], tls: false };
  const { routes, warnings } = httpRoutes(virtualService([rule]), context);
  assert.deepEqual(routes[0]?.request_headers_to_add?.map(({ header }) => header?.key), ["b"]);
  assert.equal(routes[0]?.response_headers_to_add, undefined);
  assert.deepEqual(warnings.map(({ text }) => /header (\w): (.*);/.exec(text)?.slice(1)), [
    ["a", "%NOPE% is no command of the proxy"],
    ["c", "a lone % (write %% for a percent sign)"],
    ["d", "%REQ% needs an argument in parentheses"],
  ]);
});

const envoyBinary = envoyPath();

Deno.test({
  name: "Envoy reads every good value and refuses every bad one",
  ignore: envoyBinary === undefined,
  async fn() {
    const accepts = async (values: readonly string[]) => {
      const request_headers_to_add = values.map((value) => ({ header: { key: "x", value } }));
      const route = { match: { prefix: "/" }, direct_response: { status: 200 }, request_headers_to_add };
      const routes = { name: "r", virtual_hosts: [{ name: "v", domains: ["*"], routes: [route] }] };
      return (await validate(envoyBinary!, { listeners: [routeListener(routes, 0)] })).accepted;
    };
    assert.equal(await accepts(good), true);
    for (const [value] of bad) assert.equal(await accepts([value]), false, value);
  },
});
