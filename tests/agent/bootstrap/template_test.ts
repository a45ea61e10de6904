import assert from "node:assert/strict";
import { templateOf, writeBootstrap } from "../../../lib/agent/envoy/bootstrap_file.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { envoyPath } from "../../envoy/path.ts";
import { validateBy } from "../../envoy/verdict.ts";
import { bootstrapOfCase, inputOfCase, readCase } from "./cases.ts";

const envoy = envoyPath();
const log = silentLog().scope("default");

/** Writes the bootstrap of a case by a template, in a temporary folder. */
async function written<T>(text: string, name: string, caseName: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/${name}`;
    await Deno.writeTextFile(path, text);
    return await use(
      await writeBootstrap(inputOfCase(readCase(caseName)), { path, by: "customConfigFile" }, `${folder}/etc`, log),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("of several templates the variable wins, then the custom file, the flag, and the path in the settings", () => {
  const all = { variable: "/v", flag: "/f", proxy: { customConfigFile: "/c", proxyBootstrapTemplatePath: "/p" } };
  const none = { variable: "", flag: undefined, proxy: {} };
  assert.deepEqual(templateOf(all), { by: "variable MESH_BOOTSTRAP", path: "/v" });
  assert.deepEqual(templateOf({ ...all, variable: "" }), { by: "customConfigFile", path: "/c" });
  const { customConfigFile: _, ...proxy } = all.proxy;
  assert.deepEqual(templateOf({ ...all, variable: "", proxy }), { by: "flag --templateFile", path: "/f" });
  assert.deepEqual(templateOf({ ...none, proxy }), { by: "proxyBootstrapTemplatePath", path: "/p" });
  assert.equal(templateOf(none), undefined);
});

Deno.test("a template may print the bootstrap that the agent would write, and a file without actions is used unchanged", async () => {
  const own = bootstrapOfCase(readCase("collectors")).config;
  const copy = await written("{{ toJSON .bootstrap }}", "x.json", "collectors", (file) => Deno.readTextFile(file));
  assert.deepEqual(JSON.parse(copy), own);
  const plain = "admin:\n  address: {}\n";
  await written(plain, "x.yaml", "minimal", async (file) => {
    assert.match(file, /\/envoy-rev\.yaml$/);
    assert.equal(await Deno.readTextFile(file), plain);
  });
});

/** A bootstrap in the style of templates for Istio's agent. */
const TEMPLATE = `{
  "node": {
    "id": "{{ .nodeID }}", "cluster": "{{ .cluster }}",
    "locality": {
      {{- if .region }} "region": "{{ .region }}"{{ end }}
      {{- if .zone }}, "zone": "{{ .zone }}"{{ end }}
      {{- if .sub_zone }}, "sub_zone": "{{ .sub_zone }}"{{ end }}
    },
    "metadata": {{ .meta_json_str }}
  },
  "layered_runtime": { "layers": [{ "name": "global", "static_layer": {{ .runtime_flags }} }] },
  "stats_config": {
    "use_all_default_tags": false,
    "stats_tags": [
      {{- range $i, $tag := .extraStatTags }}{{ if $i }},{{ end }}
      { "tag_name": "{{ $tag }}", "regex": "({{ $tag }}=\\\\.=(.*?);\\\\.;)" }
      {{- end }}
    ],
    "stats_matcher": { "inclusion_list": { "patterns": [
      {{- range $i, $s := .inclusionPrefix }}{{ if $i }},{{ end }}{ "prefix": "{{ $s }}" }{{ end }}
      {{- range .inclusionSuffix }},{ "suffix": "{{ . }}" }{{ end }}
      {{- range .inclusionRegexps }},{ "safe_regex": { "regex": {{ toJSON . }} } }{{ end }}
    ] } }
  },
  "admin": { "address": { "socket_address": { "address": "{{ .localhost }}", "port_value": {{ .config.ProxyAdminPort }} } } },
  "dynamic_resources": { "ads_config": {
    "api_type": "{{ .xds_type }}", "transport_api_version": "V3",
    "grpc_services": [{ "envoy_grpc": { "cluster_name": "xds-grpc" } }]
  } },
  "static_resources": { "clusters": [
    { "name": "xds-grpc", "type": "STATIC", "load_assignment": { "cluster_name": "xds-grpc", "endpoints": [{
      "lb_endpoints": [{ "endpoint": { "address": { "pipe": { "path": "{{ .xds_socket }}" } } } }] }] } }
    {{- if .zipkin }},
    { "name": "zipkin", "type": "STRICT_DNS", "dns_lookup_family": "{{ .dns_lookup_family }}",
      {{- if .tracing_tls }} "transport_socket": {{ .tracing_tls }},{{ end }}
      "load_assignment": { "cluster_name": "zipkin", "endpoints": [{
        "lb_endpoints": [{ "endpoint": { "address": { "socket_address": {{ .zipkin }} } } }] }] } }
    {{- end }}
  ] }
}`;

for (const name of ["minimal", "collectors", "datadog", "dual_stack", "cloud", "labels_and_metadata"]) {
  Deno.test({
    name: `Envoy accepts what a template with Istio's names makes of ${name}`,
    ignore: envoy === undefined,
    fn: () =>
      written(TEMPLATE, "bootstrap.json.tmpl", name, async (file) => {
        const { accepted, output } = await validateBy(envoy!, ["-l", "error", "-c", file]);
        assert(accepted, output);
        const made = JSON.parse(await Deno.readTextFile(file));
        const { node, stats_config } = bootstrapOfCase(readCase(name)).config as typeof made;
        assert.deepEqual(made.node, node);
        assert.deepEqual(
          made.stats_config.stats_matcher.inclusion_list.patterns.length,
          stats_config.stats_matcher.inclusion_list.patterns.length,
        );
      }),
  });
}

Deno.test("a missing template, or a template without output, is reported with the setting and the line", async () => {
  const input = inputOfCase(readCase("minimal"));
  const missing = { path: "/nowhere.json", by: "flag --templateFile" };
  await assert.rejects(writeBootstrap(input, missing, "/tmp", log), /^Error: flag --templateFile: .*\/nowhere\.json/);
  await assert.rejects(written("\n{{ .nobody }}", "x.json", "minimal", Promise.resolve), /x\.json:2: there is no such/);
});
