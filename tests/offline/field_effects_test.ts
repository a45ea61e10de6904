/**
 * Each field of users' telemetry and modules changes the resources of proxies, or gives a finding: no field is silently
 * without effect. The fields come from the schemas, so that new fields cannot be forgotten.
 */
import assert from "node:assert/strict";
import { wasmPlugin } from "../../lib/config/kinds/wasm_plugin/schema.ts";
import { telemetry } from "../../lib/config/kinds/telemetry/schema.ts";
import { extensionProvider } from "../../lib/config/mesh/provider_schema.ts";
import { proxySettings } from "../../lib/config/mesh/proxy_schema.ts";
import type { Field } from "../../lib/config/schema/field.ts";
import { paced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { resourcesJson } from "../../lib/offline/proxy_resources.ts";
import { meshOf } from "./mesh_of.ts";

type Json = Record<string, unknown>;

const object = (kind: string, group: string, name: string, spec: unknown): Json => ({
  ...{ apiVersion: `${group}.istio.io/v1`, kind },
  ...{ metadata: { name, namespace: "shop" }, spec },
});

function service(name: string, at: number, ...ports: readonly string[]): Json {
  return object("ServiceEntry", "networking", name, {
    hosts: [`${name}.shop.svc.cluster.local`],
    addresses: [`10.1.0.${at}`],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports: ports.map((protocol, i) => ({ number: 80 + i, name: protocol.toLowerCase(), protocol })),
    endpoints: [{ address: `10.0.0.${at}`, labels: { app: name } }],
  });
}

const WORLD: readonly Json[] = [
  service("cart", 1, "HTTP", "TCP"),
  service("collector", 2, "GRPC"),
  object("Gateway", "networking", "door", {
    selector: { app: "door" },
    servers: [{ port: { number: 8080, name: "http", protocol: "HTTP" }, hosts: ["*"] }],
  }),
  // Modules of phases come before and after this policy.
  object("AuthorizationPolicy", "security", "all", { rules: [{}] }),
  { ...plugin({ url: "oci://example.com/other:1", priority: 3 }, "other") },
];

function plugin(spec: unknown, name = "probed"): Json {
  return { ...object("WasmPlugin", "extensions", name, spec), apiVersion: "extensions.istio.io/v1alpha1" };
}

/** The resources of a sidecar and a gateway, and the findings. */
async function outcome(meshConfig: Json, objects: readonly Json[], settings: Json = {}) {
  const files = Object.fromEntries([...WORLD, ...objects].map((one, i) => [`${i}.json`, JSON.stringify(one)]));
  const mesh = meshOf(files, { meshConfig: JSON.stringify(meshConfig) });
  const node = (type: string, app: string, address: string) => ({
    id: `${type}~${address}~${app}.shop~shop.svc.cluster.local`,
    metadata: { NAMESPACE: "shop", LABELS: { app }, PROXY_CONFIG: settings },
  });
  const served = [node("sidecar", "cart", "10.0.0.1"), node("router", "door", "10.0.0.9")].map((one) =>
    JSON.stringify(resourcesJson(mesh.join(one), ["cds", "lds", "rds", "eds", "ecds"]))
  ).join().replaceAll(/"ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION":"[^"]*"/g, ""); // changes with every text
  const { findings } = await paced(checkMesh(mesh, { assumeServices: false, textOf: () => undefined }));
  return JSON.stringify([served, findings.map(({ message }) => message)]);
}

interface Leaf {
  readonly path: readonly string[];
  readonly values: readonly unknown[];
}

/** The fields with values, and some values of each. */
function leaves({ shape }: Field<unknown>, path: readonly string[]): Leaf[] {
  const one = (...values: readonly unknown[]): Leaf[] => [{ path, values }];
  switch (shape.type) {
    case "message":
      return Object.entries(shape.fields).flatMap(([name, field]) => leaves(field, [...path, name]));
    case "list":
      return leaves(shape.element, [...path, "0"]);
    case "map":
      return leaves(shape.value, [...path, "probe"]);
    case "enum":
      return one(...shape.names);
    case "boolean":
      return one(true, false);
    case "integer":
      return one(7);
    case "number":
      return one(7.5);
    case "duration":
      return one("7s");
    case "struct":
      return one({ probe: "x" });
    default:
      return one("probe", "response.code > 7", "0".repeat(64));
  }
}

function withValue(root: unknown, [key = "", ...rest]: readonly string[], value: unknown): unknown {
  if (rest.length === 0 && key === "") return value;
  if (/^\d+$/.test(key)) {
    const list = (root ?? []) as readonly unknown[];
    const item = rest.length === 0 ? value : withValue(list[Number(key)], rest, value);
    return list.length > Number(key) ? list.with(Number(key), item) : [...list, item];
  }
  const fields = (root ?? {}) as Json;
  return { ...fields, [key]: rest.length === 0 ? value : withValue(fields[key], rest, value) };
}

const service80 = { service: "collector.shop.svc.cluster.local", port: 80 };
const fieldsOf = ({ shape }: Field<unknown>) => (shape.type === "message" ? shape.fields : {});
const settingsOf = fieldsOf(proxySettings as Field<unknown>);

interface Case {
  readonly name: string;
  readonly field: Field<unknown>;
  readonly base: unknown;
  readonly run: (written: unknown) => Promise<string>;
  /** Fields about other things than the server's resources, with the reason. */
  readonly without?: RegExp;
}

const telemetries = (spec: unknown) => [object("Telemetry", "telemetry", "probed", spec)];

const extensionProviders = [
  { name: "logs", envoyFileAccessLog: {} },
  { name: "probe", envoyOtelAls: service80 },
  { name: "spans", opentelemetry: service80 },
];

const header = [{ name: "x-a", value: "b" }];
const USES: Readonly<Record<string, { readonly use: string; readonly settings?: Json }>> = {
  zipkin: { use: "tracing", settings: { headers: header } },
  datadog: { use: "tracing" },
  skywalking: { use: "tracing" },
  opentelemetry: {
    use: "tracing",
    settings: {
      http: { path: "/x", headers: header },
      dynatraceSampler: { tenant: "t", httpService: { ...service80, http: { path: "/y", headers: header } } },
    },
  },
  proxyFileAccessLog: { use: "accessLogging" },
  proxyHttpAls: { use: "accessLogging" },
  proxyTcpAls: { use: "accessLogging" },
  proxyOtelAls: { use: "accessLogging" },
};

const CASES: readonly Case[] = [
  {
    name: "Telemetry",
    field: telemetry as Field<unknown>,
    base: {
      tracing: [{ providers: [{ name: "spans" }] }],
      metrics: [{
        providers: [{ name: "prometheus" }],
        overrides: [{ tagOverrides: { probe: { value: "request.method" } } }],
      }],
      accessLogging: [{ providers: [{ name: "logs" }] }],
    },
    run: (spec) => outcome({ extensionProviders }, telemetries(spec)),
  },
  ...Object.entries(USES).map(([kind, { use, settings }]): Case => ({
    name: `provider ${kind}`,
    field: fieldsOf(extensionProvider as Field<unknown>)[kind]!,
    base: { ...(kind === "proxyFileAccessLog" ? {} : service80), ...settings },
    run: (written) =>
      outcome(
        { extensionProviders: [{ name: "p", [kind]: written }] },
        telemetries({ [use]: [{ providers: [{ name: "p" }] }] }),
      ),
  })),
  {
    name: "tracing of proxies",
    field: settingsOf.tracing!,
    base: { zipkin: { address: "z:9411" } },
    run: (tracing) => outcome({ defaultConfig: { tracing } }, [], { tracing }),
    without: /^tlsSettings/, // of the bootstrap, which the agent makes
  },
  {
    name: "WasmPlugin",
    field: wasmPlugin as Field<unknown>,
    base: { url: "oci://example.com/a:1", match: [{ mode: "SERVER" }], vmConfig: { env: [{ name: "A", value: "b" }] } },
    run: (spec) => outcome({}, [plugin(spec)]),
  },
];

/** Whether a value has an effect; a refusal is an effect. */
async function hasEffect({ base, run }: Case, before: string, path: readonly string[], value: unknown) {
  try {
    return await run(withValue(base, path, value)) !== before;
  } catch (error) {
    assert(error instanceof RangeError, String(error));
    return true;
  }
}

for (const one of CASES) {
  Deno.test(`${one.name}: each field changes what proxies get, or is refused, or gives a finding`, async () => {
    const before = await one.run(one.base);
    const found = leaves(one.field, []).filter(({ path }) => !one.without?.test(path.join(".")));
    assert.ok(found.length > 0);
    const idle: string[] = [];
    for (const { path, values } of found) {
      let effects = false;
      for (const value of values) effects ||= await hasEffect(one, before, path, value);
      if (!effects) idle.push(path.join("."));
    }
    assert.deepEqual(idle, []);
  });
}
