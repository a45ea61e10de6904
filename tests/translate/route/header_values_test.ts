import assert from "node:assert/strict";
import { substitutionProblem } from "../../../lib/config/validation/substitution.ts";
import { httpRoutes } from "../../../lib/translate/route/virtual_service.ts";
import { envoyPath } from "../../envoy/path.ts";
import { validate } from "../../envoy/verdict.ts";
import { meshReader } from "../mesh_reader.ts";
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
  "%CEL(size(request.path) > 2 ? 'a' : request.headers['x-b']):5%",
  "a %START_TIME(%Y)%%PROTOCOL%(x)%% b",
  "%FILTER_STATE(a:FIELD:b):9%",
  "%METADATA(ROUTE:a:b):9%",
  "%COMMON_DURATION(DS_RX_BEG:DS_TX_END:us)%",
  "%PATH(NQ:ORIG):9% %PATH% %QUERY_PARAMS(DECODED)%",
  '%COALESCE({"operators":["HOSTNAME",{"command":"REQ","param":":path","max_length":3}]})%',
  "%PER_REQUEST_STATE(a)%",
  "%RESPONSE_CODE_DETAILS(ALLOW_WHITESPACES)%",
  "%START_TIME()%",
];
const bad: [string, RegExp][] = [
  ["50%", /lone %/],
  ["%", /lone %/],
  ["%REQ(x)", /lone %/],
  ["%%%", /lone %/],
  ["%req(x)%", /lone %/],
  ["%NOPE%", /%NOPE% is not a command/],
  ["%REQ%", /%REQ% needs an argument/],
  ["%PROTOCOL(x)%", /%PROTOCOL% takes no argument/],
  ["%PROTOCOL:5%", /%PROTOCOL% takes no length/],
  ["%START_TIME(%Y):5%", /%START_TIME% takes no length/],
  ["%UPSTREAM_METADATA(a):5%", /%UPSTREAM_METADATA% takes no length/],
  ["%REQ(a):x%", /lone %/],
  ["%REQ()%", /%REQ% needs an argument/],
  ["%REQ(x y)%", /%REQ% takes the name of a header/],
  ["%RESP(a?b?c)%", /%RESP% takes the name of a header/],
  ["%ENVIRONMENT()%", /%ENVIRONMENT% needs an argument/],
  ["%CEL(request.path ==)%", /%CEL% takes an expression of CEL/],
  ["%CEL(f(x))%", /%CEL% takes .* not f/],
  ["%CEL(a)\n%", /lone %/],
  ["%FILTER_STATE(a:FOO)%", /%FILTER_STATE% takes KEY/],
  ["%FILTER_STATE(:PLAIN)%", /%FILTER_STATE% takes KEY/],
  ["%UPSTREAM_FILTER_STATE(a:FIELD)%", /%UPSTREAM_FILTER_STATE% takes KEY/],
  ["%METADATA(FOO:a)%", /%METADATA% takes TYPE/],
  ["%COMMON_DURATION(x)%", /%COMMON_DURATION% takes START/],
  ["%COMMON_DURATION(a:b:zz)%", /%COMMON_DURATION% takes START/],
  ["%PATH(x)%", /%PATH% takes WQ/],
  ["%QUERY_PARAMS(RAW)%", /%QUERY_PARAMS% takes ORIG/],
  ["%START_TIME(%1n)%", /%START_TIME% takes a format of time/],
  ["%COALESCE(x)%", /%COALESCE% takes JSON/],
  ['%COALESCE({"operators":[]})%', /%COALESCE% takes JSON/],
  ['%COALESCE({"operators":["NOPE"]})%', /%NOPE% is not a command/],
  ['%COALESCE({"operators":[{"command":"CEL","param":"f(x)"}]})%', /%CEL% takes/],
  ["ok %PROTOCOL% but %NOPE(x)%", /%NOPE% is not a command/],
];

for (const value of good) {
  Deno.test(`the header value "${value}" is one that Envoy can read`, () => {
    assert.equal(substitutionProblem(value, "header"), undefined);
  });
}
for (const [value, expected] of bad) {
  Deno.test(`the header value "${value}" cannot be read by Envoy`, () => {
    assert.match(substitutionProblem(value, "header") ?? "", expected);
  });
}

Deno.test("a command that only headers know is refused in logs and tags", () => {
  assert.match(substitutionProblem("%PER_REQUEST_STATE(a)%", "report") ?? "", /not a command/);
});

Deno.test("a header that Envoy cannot read is left out and reported; the rest of the rule stays", () => {
  const rule = {
    headers: { request: { set: { a: "%NOPE%", b: "fine" } }, response: { add: { c: "50%" } } },
    route: [{ destination: { host: "x" }, headers: { request: { add: { d: "%REQ%" } } } }],
  };
  const context = { read: meshReader(), port: 80, gateways: ["mesh"], tls: false };
  const { routes, warnings } = httpRoutes(virtualService([rule]), context);
  assert.deepEqual(routes[0]?.request_headers_to_add?.map(({ header }) => header?.key), ["b"]);
  assert.equal(routes[0]?.response_headers_to_add, undefined);
  assert.deepEqual(warnings.map(({ text }) => /header (\w): (.*);/.exec(text)?.slice(1)), [
    ["a", "%NOPE% is not a command of the proxy"],
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
