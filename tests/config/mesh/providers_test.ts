/** Providers of the mesh configuration: both spellings, and providers removed from Envoy. */
import assert from "node:assert/strict";
import { parseMeshConfig } from "../../../lib/config/mesh/parse.ts";
import { namedProvider, providerUseProblem } from "../../../lib/config/mesh/telemetry_providers.ts";

const OPTIONS = { systemNamespace: "mesh-system" };

function meshWith(provider: object) {
  const written = { extensionProviders: [{ name: "one", ...provider }] };
  const { value, findings } = parseMeshConfig(JSON.stringify(written), OPTIONS);
  assert.deepEqual(findings, []);
  return value!;
}

const service = { service: "collector.test", port: 4317 };

const SPELLED = {
  FileAccessLog: { path: "/tmp/log", logFormat: { text: "a" } },
  HttpAls: { ...service, additionalRequestHeadersToLog: ["x-a"] },
  TcpAls: { ...service, logName: "own" },
  OtelAls: { ...service, logFormat: { labels: { a: "b" } } },
  ExtAuthzHttp: { ...service, pathPrefix: "/check" },
  ExtAuthzGrpc: { ...service, failOpen: true },
};

for (const [name, fields] of Object.entries(SPELLED)) {
  Deno.test(`envoy${name} and proxy${name} are one provider`, () => {
    for (const spelling of ["proxy", "envoy"]) {
      const read = namedProvider(meshWith({ [`${spelling}${name}`]: fields }), "one");
      assert.deepEqual(read, { name: "one", [`proxy${name}`]: fields });
    }
  });
}

const GONE = {
  lightstep: { ...service, accessToken: "t" },
  stackdriver: {},
  opencensus: service,
};

for (const [name, fields] of Object.entries(GONE)) {
  Deno.test(`${name} is refused with what to use in its place, for logs and for traces`, () => {
    const mesh = meshWith({ [name]: fields });
    for (const use of ["accessLogging", "tracing"] as const) {
      assert.equal(
        providerUseProblem(mesh, "one", use),
        `is of ${name}, which Envoy does not have any more: use opentelemetry`,
      );
    }
  });
}

Deno.test("each use takes the providers that support it, and names what other providers lack", () => {
  const taken = (provider: object) =>
    (["accessLogging", "tracing", "metrics"] as const).filter((use) =>
      providerUseProblem(meshWith(provider), "one", use) === undefined
    );
  for (const name of ["FileAccessLog", "HttpAls", "TcpAls", "OtelAls"] as const) {
    assert.deepEqual(taken({ [`envoy${name}`]: SPELLED[name] }), ["accessLogging"]);
  }
  for (const name of ["zipkin", "datadog", "skywalking", "opentelemetry"]) {
    assert.deepEqual(taken({ [name]: service }), ["tracing"]);
  }
  assert.deepEqual(taken({ prometheus: {} }), ["metrics"]);
  assert.equal(
    providerUseProblem(meshWith({ prometheus: {} }), "two", "metrics"),
    "is not among the extensionProviders of the mesh configuration",
  );
});

Deno.test("headers and times that proxies could not send are warnings with their place", () => {
  const headers = [{ name: "x-a", value: "50%" }, { value: "v" }, { name: "x b", value: "v" }, { name: "x-c" }];
  const extensionProviders = [
    { name: "a", zipkin: { ...service, timeout: "-1s", headers } },
    { name: "b", opentelemetry: { ...service, grpc: { initialMetadata: [{ name: "x-a", value: "50%" }] } } },
  ];
  const { value, findings } = parseMeshConfig(JSON.stringify({ extensionProviders }), OPTIONS);
  assert(value !== undefined);
  assert.deepEqual(findings.map(({ severity, place }) => `${severity} ${place.field}`), [
    "warning extensionProviders[3].zipkin.timeout",
    "warning extensionProviders[3].zipkin.headers[1]",
    "warning extensionProviders[3].zipkin.headers[2]",
    "warning extensionProviders[3].zipkin.headers[3]",
    "warning extensionProviders[4].opentelemetry.grpc.initialMetadata[0]",
  ]);
});
