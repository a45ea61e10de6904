import assert from "node:assert/strict";
import { remoteWasmFilter, standInOf } from "../../../lib/agent/wasm/config/wasm_filter.ts";
import { concatBytes } from "../../../lib/resource/block.ts";
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";
import { struct } from "../../../lib/pb/wellknown.ts";
import { encode } from "../../../lib/pb/codec.ts";
import { extension, extensionOf, type TestWasmFilter } from "../support/wasm_messages.ts";

const TYPED_STRUCT = "type.googleapis.com/udpa.type.v1.TypedStruct";
const HTTP_FILTER = "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm";

/** The same filter as a structure. */
function structured(name: string, config: Record<string, unknown>, type = HTTP_FILTER): Uint8Array {
  const value = new MessageWriter().string(1, type).bytes(2, encode("google.protobuf.Struct", struct({ config })));
  return extension(name, TYPED_STRUCT, value.finish());
}

const env = {
  ISTIO_META_WASM_IMAGE_PULL_POLICY: "Always",
  ISTIO_META_WASM_IMAGE_PULL_SECRET: "{}",
  ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION: "7",
  COLOUR: "blue",
};
const filter: TestWasmFilter = { name: "demo.auth", url: "oci://reg.test/auth:1", sha256: "AB", timeout: 12, env };

const facts = (config: Uint8Array) => {
  const { withFile: _, ...rest } = remoteWasmFilter(config)!;
  return rest;
};

const expected = {
  ...{ name: "demo.auth", level: "http", failOpen: false, url: "oci://reg.test/auth:1", sha256: "ab", timeout: 12_000 },
  ...{ pullPolicy: "Always", pullSecret: "{}", resourceVersion: "7" },
};

Deno.test("a filter names the place of its module; with a file, only the agent's variables differ", () => {
  assert.deepEqual(facts(extensionOf(filter)), expected);
  const { url: _, ...local } = filter;
  const withFile = remoteWasmFilter(extensionOf(filter))!.withFile("/cache/a.wasm");
  assert.equal(remoteWasmFilter(withFile), undefined);
  // Changed fields move to the end, which is the same message.
  const sorted = (bytes: Uint8Array) => [...bytes].sort().join();
  assert.equal(sorted(withFile), sorted(extensionOf({ ...local, file: "/cache/a.wasm", env: { COLOUR: "blue" } })));
  const text = new TextDecoder().decode(withFile);
  assert.doesNotMatch(text, /ISTIO_META|reg\.test/);
  assert.match(text, /\/cache\/a\.wasm/);
});

Deno.test("the same as a structure, in both spellings of fields; numbers and lists in it stay", () => {
  const snake = {
    vm_config: {
      code: { remote: { http_uri: { uri: filter.url, timeout: "12s" }, sha256: "AB" } },
      environment_variables: { key_values: env },
    },
    configuration: { "@type": "t", value: { list: [1.5, null, true], deep: { text: "" } } },
  };
  const camel = {
    vmConfig: {
      code: { remote: { httpUri: { uri: filter.url, timeout: "12s" }, sha256: "AB" } },
      environmentVariables: { keyValues: env },
    },
  };
  assert.deepEqual(facts(structured("demo.auth", snake)), expected);
  assert.deepEqual(facts(structured("demo.auth", camel)), expected);
  const local = {
    configuration: snake.configuration,
    vm_config: { code: { local: { filename: "/a.wasm" } }, environment_variables: { key_values: { COLOUR: "blue" } } },
  };
  const sorted = (bytes: Uint8Array) => [...bytes].sort().join();
  assert.equal(
    sorted(remoteWasmFilter(structured("demo.auth", snake))!.withFile("/a.wasm")),
    sorted(structured("demo.auth", local)),
  );
  assert.equal(remoteWasmFilter(structured("demo.auth", local)), undefined);
  assert.equal(remoteWasmFilter(structured("demo.auth", snake, "type.googleapis.com/other")), undefined);
});

Deno.test("the failure policy of a filter comes from the present field, else from the former field", () => {
  const table: readonly (readonly [Partial<TestWasmFilter>, boolean])[] = [
    [{}, false],
    [{ failOpen: true }, true],
    [{ failurePolicy: 1 }, false],
    [{ failurePolicy: 2, failOpen: true }, false],
    [{ failurePolicy: 3 }, true],
    [{ failurePolicy: 99 }, false],
  ];
  for (const [changed, isOpen] of table) {
    assert.equal(facts(extensionOf({ ...filter, ...changed })).failOpen, isOpen, JSON.stringify(changed));
  }
  for (
    const [fields, isOpen] of [[{ failure_policy: "FAIL_OPEN" }, true], [{
      failurePolicy: "FAIL_RELOAD",
      fail_open: true,
    }, false], [{ fail_open: true }, true]] as const
  ) {
    const vm_config = { code: { remote: { http_uri: { uri: "http://a/" } } } };
    assert.equal(facts(structured("a", { vm_config, ...fields })).failOpen, isOpen);
  }
});

Deno.test("a message in two parts is read as protobuf does: later fields win, and are replaced together", () => {
  const twice = concatBytes([extensionOf(filter), extension("demo.auth", HTTP_FILTER, new Uint8Array(0))]);
  assert.equal(facts(twice).url, filter.url);
  assert.equal(remoteWasmFilter(remoteWasmFilter(twice)!.withFile("/a.wasm")), undefined);
});

Deno.test("a resource without a remote module is left alone, and a malformed message is an error", () => {
  assert.equal(
    remoteWasmFilter(
      extension("a", "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", new Uint8Array([10, 0])),
    ),
    undefined,
  );
  assert.equal(remoteWasmFilter(extension("a", HTTP_FILTER, new Uint8Array(0))), undefined);
  assert.throws(() => remoteWasmFilter(new Uint8Array(0)), /without typed_config/);
  assert.throws(
    () => remoteWasmFilter(extension("a", HTTP_FILTER, new Uint8Array([10, 99]))),
    /longer than its message/,
  );
  assert.equal(remoteWasmFilter(extensionOf({ name: "a", url: "" }))!.url, "", "a remote module without an address");
});

Deno.test("a stand-in has the filter's name, and allows or denies by the filter's failure policy", () => {
  const text = (changed: Partial<TestWasmFilter>) =>
    new TextDecoder().decode(standInOf(remoteWasmFilter(extensionOf({ ...filter, ...changed }))!));
  assert.match(text({}), /demo\.auth.*filters\.http\.rbac\.v3\.RBAC.*wasm-default-deny/s);
  assert.match(text({ failOpen: true }), /http\.rbac.*wasm-default-allow/s);
  assert.match(text({ network: true, failurePolicy: 3 }), /filters\.network\.rbac\.v3\.RBAC.*wasm-default-allow/s);
});
