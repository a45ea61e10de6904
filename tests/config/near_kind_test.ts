/** Heads of objects with a slip are findings with the intended text; objects of other projects are not. */
import assert from "node:assert/strict";
import { parseDocument } from "../../lib/config/document/document.ts";
import { formatFinding } from "../../lib/finding/finding.ts";

const OPTIONS = { defaultNamespace: "default", facts: { digestKey: new Uint8Array(32) } };

function findings(head: string): string[] {
  const place = { source: "", file: "a.yaml", line: 1, format: "yaml" } as const;
  const text = `${head}\nmetadata: { name: a }\nspec: { hosts: [a] }\n`;
  return parseDocument(text, place, OPTIONS).findings.map(formatFinding);
}

/** Head of an object, and the line, field and expectation of the finding. */
const SLIPS: readonly (readonly [head: string, line: number, message: string])[] = [
  [
    "apiVersion: networking.mesh.oi/v1\nkind: VirtualService",
    1,
    'apiVersion: "networking.mesh.oi/v1", expected an API of the mesh; did you mean networking.mesh.io/v1?',
  ],
  [
    "apiVersion: netwroking.istio.io/v1beta1\nkind: VirtualService",
    1,
    'apiVersion: "netwroking.istio.io/v1beta1", expected an API of the mesh; did you mean networking.istio.io/v1beta1?',
  ],
  [
    "apiVersion: networking.istio.io/v1\nkind: VirtualServices",
    2,
    'kind: "VirtualServices", expected a kind of networking.istio.io; did you mean VirtualService?',
  ],
  [
    "apiVersion: networking.istio.io/v2\nkind: VirtualService",
    1,
    'apiVersion: "networking.istio.io/v2", expected a known version (v1, v1beta1, v1alpha3, v1alpha1); did you mean networking.istio.io/v1?',
  ],
  [
    "apiVersion: networking.istio.io/v1\nkind: AuthorizationPolicy",
    1,
    'apiVersion: "networking.istio.io/v1", expected the API of AuthorizationPolicy; did you mean security.istio.io/v1?',
  ],
  [
    "apiVersion: v1\nkind: DestinationRule",
    1,
    'apiVersion: "v1", expected an API of the mesh; did you mean networking.mesh.io/v1?',
  ],
  [
    "apiVersion: istio.io/v1\nkind: Telemetry",
    1,
    'apiVersion: "istio.io/v1", expected an API of the mesh; did you mean telemetry.istio.io/v1?',
  ],
  ["kind: VirtualService", 1, "apiVersion is missing, expected the version of VirtualService: networking.mesh.io/v1"],
  ["kind: VirtualSerivce", 1, "apiVersion is missing, expected the version of VirtualService: networking.mesh.io/v1"],
  ["apiVersion: telemetry.istio.io/v1", 1, "kind is missing, expected one of Telemetry"],
  ["", 1, "apiVersion is missing, expected an object with apiVersion and kind as text"],
];

for (const [head, line, message] of SLIPS) {
  Deno.test({
    name: `a slip: ${head.replace("\n", ", ") || "no head"}`,
    permissions: "none",
    fn() {
      const [found = "", ...more] = findings(head);
      assert.equal(more.length, 0);
      assert.ok(found.endsWith(`error: ${message}`), found);
      assert.equal(Number(/^a\.yaml:(\d+)/.exec(found)?.[1]), line, found);
    },
  });
}

Deno.test(
  "a manifest of an unsupported version is a warning that names the supported version",
  { permissions: "none" },
  () => {
    assert.deepEqual(findings("apiVersion: extensions/v1beta1\nkind: Deployment"), [
      'a.yaml:1 Deployment default/a: warning: apiVersion: "extensions/v1beta1", expected apps/v1 for a Deployment (it is not read)',
    ]);
    assert.deepEqual(findings("kind: Service"), [
      "a.yaml:1 Service default/a: warning: apiVersion is missing, expected v1 for a Service (it is not read)",
    ]);
  },
);
