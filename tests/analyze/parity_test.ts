/**
 * Istio's analyzers and ours give the same verdicts. The inputs are built anew from the subjects of Istio's own tests
 * of each analyzer: reported and ignored cases. A different verdict of ours has its reason in the case.
 */
import assert from "node:assert/strict";
import { findingKind, findingObject } from "../../lib/finding/finding.ts";
import { NOT_REPORTED } from "../../lib/finding/codes/not_reported.ts";
import { parseMeshConfig } from "../../lib/config/mesh/parse.ts";
import type { ParityCase } from "./parity/case.ts";
import { FILTERS_OF_PEER } from "./parity/filters.ts";
import { TRAFFIC } from "./parity/traffic.ts";
import { WORKLOADS } from "./parity/workloads.ts";
import { findingsIn } from "./support/analyzed.ts";

const CASES: readonly ParityCase[] = [...TRAFFIC, ...WORKLOADS, ...FILTERS_OF_PEER];

/** All codes of Istio's analysis. */
const CODES = [
  ...[2, 101, 102, 103, 106, 107, 108, 109, 110, 111, 112, 116, 118, 123, 125, 126, 127, 128, 129, 130, 131, 132, 133],
  ...[134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155],
  ...[156, 157, 158, 159, 160, 161, 162, 163, 164, 165, 166, 167, 170, 171, 172, 173, 174, 175, 176, 177],
].map((number) => `MSH${String(number).padStart(4, "0")}` as const);

/** Codes with cases in other tests, about other things than configuration objects. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  MSH0126: "tests/config/mesh/mesh_test.ts: it is about the networks file",
};

for (const { about, codes, input, mesh = {}, expected, differs } of CASES) {
  Deno.test(`parity, ${codes.join(" ")}: ${about}${differs === undefined ? "" : `. ${differs}`}`, () => {
    const config = parseMeshConfig(JSON.stringify(mesh), { systemNamespace: "mesh-system" }).value;
    const text = input.map((one) => JSON.stringify(one)).join("\n---\n");
    const found = findingsIn({ "case.yaml": text }, config).filter(({ code }) => codes.includes(code)).map((one) => {
      const { namespace, name } = findingObject(one);
      return `${one.code} ${findingKind(one)} ${namespace === "" ? name : `${namespace}/${name}`}`;
    });
    assert.deepEqual([...new Set(found)].sort(), [...expected].sort());
  });
}

Deno.test("parity: each of Istio's codes has a case that reports it, or a reason why it is not reported", () => {
  const reported = new Set(CASES.flatMap(({ expected }) => expected.map((one) => one.split(" ")[0]!)));
  const missing = CODES.filter((code) => !reported.has(code) && NOT_REPORTED[code] === undefined && !ELSEWHERE[code]);
  assert.deepEqual(missing, []);
});
