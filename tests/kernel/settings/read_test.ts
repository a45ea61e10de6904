import assert from "node:assert/strict";
import fc from "fast-check";
import { inOurSpelling, ourName, renamed, spellings } from "../../../lib/kernel/settings/border.ts";
import { catalogue, settingEntries, settingsUsedBy } from "../../../lib/kernel/settings/catalogue.ts";
import { defaultSettings, readSettings, SettingsError } from "../../../lib/kernel/settings/read.ts";

function problems(run: () => unknown): SettingsError["problems"] {
  try {
    run();
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

Deno.test("an empty environment gives every default, durations in milliseconds", () => {
  const settings = readSettings("pilot-discovery", {});
  assert.equal(settings.PILOT_DEBOUNCE_AFTER, 100);
  assert.equal(settings.CITADEL_SELF_SIGNED_CA_CERT_TTL, 87600 * 3600 * 1000);
  assert.equal(settings.PILOT_TRACE_SAMPLING, 1);
  assert.equal(settings.PILOT_ENABLE_VHDS, true);
  assert.deepEqual(settings, defaultSettings("pilot-discovery"));
});

Deno.test("a program gets its own variables and no others", () => {
  assert(!("DNS_PROXY_ADDR" in readSettings("pilot-discovery", {})));
  assert.equal(readSettings("pilot-agent", {}).DNS_PROXY_ADDR, "localhost:15053");
  assert.equal(Object.keys(readSettings("install-cni", {})).length, settingsUsedBy("install-cni").length);
});

Deno.test("POD_NAMESPACE has a separate default for the server", () => {
  assert.equal(readSettings("pilot-discovery", {}).POD_NAMESPACE, "mesh-system");
  assert.equal(readSettings("pilot-agent", {}).POD_NAMESPACE, "");
});

Deno.test("PILOT_ENABLE_AMBIENT turns the defaults of its parts on, and a part set by hand stays", () => {
  const parts = settingEntries().filter(([, s]) => s.ambient !== undefined).map(([n]) => n);
  assert.deepEqual(parts.toSorted(), [
    "AMBIENT_ENABLE_STATUS",
    "ENABLE_INGRESS_WAYPOINT_ROUTING",
    "PILOT_ENABLE_AMBIENT_WAYPOINTS",
    "PILOT_ENABLE_SENDING_HBONE",
    "PILOT_ENABLE_SIDECAR_LISTENING_HBONE",
  ]);
  const on = readSettings("pilot-discovery", { PILOT_ENABLE_AMBIENT: "true", PILOT_ENABLE_SENDING_HBONE: "false" });
  assert.equal(on.PILOT_ENABLE_AMBIENT_WAYPOINTS, true);
  assert.equal(on.PILOT_ENABLE_SENDING_HBONE, false);
  assert.equal(readSettings("pilot-discovery", {}).PILOT_ENABLE_AMBIENT_WAYPOINTS, false);
});

Deno.test("all bad variables are refused at once, each with name, value and expectation", () => {
  const found = problems(() =>
    readSettings("pilot-discovery", {
      PILOT_DEBOUNCE_AFTER: "5",
      PILOT_HTTP10: "maybe",
      PILOT_XDS_CACHE_SIZE: "many",
      PILOT_TRACE_SAMPLING: "101",
      MESH_ORCH_CLIENT_CONTENT_TYPE: "xml",
    })
  );
  assert.deepEqual(found.map((p) => [p.name, p.value]).toSorted(), [
    ["MESH_ORCH_CLIENT_CONTENT_TYPE", "xml"],
    ["PILOT_DEBOUNCE_AFTER", "5"],
    ["PILOT_HTTP10", "maybe"],
    ["PILOT_TRACE_SAMPLING", "101"],
    ["PILOT_XDS_CACHE_SIZE", "many"],
  ]);
  const expected = Object.fromEntries(found.map((p) => [p.name, p.expected]));
  assert.match(expected["PILOT_DEBOUNCE_AFTER"] ?? "", /duration such as 300ms/);
  assert.equal(expected["PILOT_TRACE_SAMPLING"], "a number, at least 0, at most 100");
  assert.equal(expected["MESH_ORCH_CLIENT_CONTENT_TYPE"], "one of protobuf, json");
});

Deno.test("a variable that another program uses is not checked", () => {
  assert.deepEqual(problems(() => readSettings("pilot-discovery", { WORKLOAD_RSA_KEY_SIZE: "x" })), []);
});

Deno.test("an empty variable is unset, but an empty text is a value", () => {
  const settings = readSettings("pilot-discovery", { PILOT_HTTP10: "", VALIDATION_WEBHOOK_CONFIG_NAME: "" });
  assert.equal(settings.PILOT_HTTP10, false);
  assert.equal(settings.VALIDATION_WEBHOOK_CONFIG_NAME, "");
});

Deno.test("a file mode is read as octal, a plain number is not", () => {
  assert.equal(readSettings("install-cni", { ORCHCONFIG_MODE: "0600" }).ORCHCONFIG_MODE, 0o600);
  assert.equal(readSettings("install-cni", { ORCHCONFIG_MODE: "384" }).ORCHCONFIG_MODE, 384);
  assert.equal(readSettings("install-cni", { MONITORING_PORT: "015014" }).MONITORING_PORT, 15014);
});

Deno.test("Istio's spellings are read, our spelling wins, and a mistake is reported in the written spelling", () => {
  const settings = readSettings("pilot-agent", {
    ISTIO_META_DNS_CAPTURE: "true",
    KUBERNETES_SERVICE_HOST: "10.0.0.1",
    ENVOY_STATUS_PORT: "1",
    PROXY_STATUS_PORT: "2",
    ISTIOD_SAN: "istiod.example",
  });
  assert.equal(settings.MESH_META_DNS_CAPTURE, true);
  assert.equal(settings.ORCH_SERVICE_HOST, "10.0.0.1");
  assert.equal(settings.PROXY_STATUS_PORT, 2);
  assert.equal(settings.MESHD_SAN, "istiod.example");
  const [problem] = problems(() => readSettings("pilot-discovery", { ISTIO_DUAL_STACK: "x" }));
  assert.equal(problem?.name, "ISTIO_DUAL_STACK");
});

Deno.test("Istio's values are read as ours", () => {
  const settings = readSettings("pilot-discovery", {
    EXTERNAL_CA: "ISTIOD_RA_KUBERNETES_API",
    PILOT_CERT_PROVIDER: "k8s.io/signer",
    PILOT_JWT_ENABLE_REMOTE_JWKS: "envoy",
  });
  assert.equal(settings.EXTERNAL_CA, "ISTIOD_RA_ORCH_API");
  assert.equal(settings.PILOT_CERT_PROVIDER, "orch.io/signer");
  assert.equal(settings.PILOT_JWT_ENABLE_REMOTE_JWKS, "proxy");
  assert.equal(readSettings("pilot-discovery", { PILOT_CERT_PROVIDER: "istiod" }).PILOT_CERT_PROVIDER, "meshd");
});

Deno.test("every renamed name leads to a variable of the catalogue, of the flags or of the agent", () => {
  const elsewhere = new Set(["ORCH_SERVICE_PORT", "ORCH_VIRT_INTERFACES"]);
  const lost = Object.values(renamed).filter((ours) => !(ours in catalogue) && !elsewhere.has(ours));
  assert.deepEqual(lost, []);
});

Deno.test("every spelling of a variable leads back to it", () => {
  for (const [name] of settingEntries()) for (const spelling of spellings(name)) assert.equal(ourName(spelling), name);
});

Deno.test("node metadata in Istio's spelling keeps its key", () => {
  const { env, givenAs } = inOurSpelling({ ISTIO_META_NETWORK: "n1", ISTIO_METAJSON_LABELS: "{}", PATH: "/bin" });
  assert.deepEqual({ ...env }, { MESH_META_NETWORK: "n1", MESH_METAJSON_LABELS: "{}", PATH: "/bin" });
  assert.equal(givenAs.get("MESH_META_NETWORK"), "ISTIO_META_NETWORK");
});

Deno.test("any environment gives settings or a SettingsError", () => {
  const names = settingEntries().map(([name]) => name);
  const environment = fc.dictionary(fc.constantFrom(...names, "__proto__", "constructor"), fc.string(), { maxKeys: 8 });
  fc.assert(fc.property(environment, (env) => {
    problems(() => readSettings("pilot-agent", env));
  }));
});

Deno.test("numbers outside of the wire's range, and texts that are not numbers, are refused", () => {
  const environment = {
    PILOT_DNS_CARES_UDP_MAX_QUERIES: "many",
    MESH_GPRC_MAXSTREAMS: "4294967296",
    GRPC_KEEPALIVE_INTERVAL: "0s",
    GRPC_KEEPALIVE_TIMEOUT: "0s",
  };
  assert.throws(() => readSettings("pilot-discovery", environment), (error) => {
    assert(error instanceof SettingsError);
    assert.deepEqual(Object.fromEntries(error.problems.map(({ name, expected }) => [name, expected])), {
      PILOT_DNS_CARES_UDP_MAX_QUERIES: "a whole number from 0 to 999999999",
      MESH_GPRC_MAXSTREAMS: "a whole number, at least 1, at most 4294967295",
      GRPC_KEEPALIVE_INTERVAL: "a duration such as 300ms, 10s or 1h30m, at least 1s",
      GRPC_KEEPALIVE_TIMEOUT: "a duration such as 300ms, 10s or 1h30m, at least 1ms",
    });
    return true;
  });
});
