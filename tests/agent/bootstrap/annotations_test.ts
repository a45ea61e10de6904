/** Each annotation about statistics, in both spellings, and its effect on the bootstrap. */
import assert from "node:assert/strict";
import { bootstrapOfCase } from "./cases.ts";

const ANNOTATIONS: readonly (readonly [name: string, value: string, becomes: RegExp])[] = [
  ["extraStatTags", "team,shop", /"tag_name":"team".*"tag_name":"shop"/],
  ["statsInclusionPrefixes", "p.a,p.b", /\{"prefix":"p\.a"\},\{"prefix":"p\.b"\}/],
  ["statsInclusionSuffixes", ".a,.b", /\{"suffix":"\.a"\},\{"suffix":"\.b"\}/],
  ["statsInclusionRegexps", "a.*,b.*", /\{"safe_regex":\{"regex":"a\.\*"\}\},\{"safe_regex":\{"regex":"b\.\*"\}\}/],
  ["statsHistogramBuckets", '{"http":[1,5]}', /\{"match":\{"prefix":"http"\},"buckets":\[1,5\]\}/],
  ["statsCompression", "gzip", /compressor/],
];

const text = (annotations: Readonly<Record<string, string>>) => {
  const { config, problems } = bootstrapOfCase({ addresses: ["10.0.0.1"], annotations });
  assert.deepEqual(problems, []);
  const { node: _, ...rest } = config as { node: unknown };
  return JSON.stringify(rest);
};

for (const domain of ["sidecar.istio.io", "sidecar.mesh.io"]) {
  for (const [name, value, becomes] of ANNOTATIONS) {
    Deno.test(`${domain}/${name} is in the bootstrap`, () => {
      assert.doesNotMatch(text({}), becomes);
      assert.match(text({ [`${domain}/${name}`]: value }), becomes);
    });
  }
}

Deno.test("an annotation replaces the same choice in the settings; the choice adds to the statistics that are always kept", () => {
  const proxy = { proxyStatsMatcher: { inclusionSuffixes: [".settings"] } };
  const annotations = { "sidecar.istio.io/statsInclusionSuffixes": ".annotation" };
  const suffixes = (given: { readonly annotations?: Readonly<Record<string, string>> }) => {
    const { config } = bootstrapOfCase({ addresses: ["10.0.0.1"], proxy, ...given });
    return [...JSON.stringify(config).matchAll(/\{"suffix":"([^"]*)"\}/g)].map(([, suffix]) => suffix);
  };
  const [own, ...always] = suffixes({});
  assert.equal(own, ".settings");
  assert.deepEqual(suffixes({ annotations }), [".annotation", ...always]);
});
