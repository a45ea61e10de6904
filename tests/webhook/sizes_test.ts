import assert from "node:assert/strict";
import { type AdmissionRequest, readReview, reviewAnswer, unreadAnswer } from "../../lib/webhook/admission.ts";
import { validate } from "../../lib/webhook/validation.ts";

const request = (object: unknown, more: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  ...{ uid: "u", resource: { group: "networking.mesh.io", version: "v1", resource: "virtualservices" } },
  ...{ namespace: "a", operation: "CREATE", object, ...more },
});
const virtualService = (spec: object) => ({
  ...{ apiVersion: "networking.mesh.io/v1", kind: "VirtualService", metadata: { name: "x", namespace: "a" }, spec },
});
const answerBytes = (object: unknown) =>
  JSON.stringify(reviewAnswer("admission.k8s.io/v1", request(object), validate(request(object)))).length;

Deno.test("an answer about a text of a megabyte is short, wherever the text stands", () => {
  const huge = "a!".repeat(500_000);
  for (
    const object of [
      virtualService({ hosts: [huge] }),
      virtualService({ hosts: ["a.test"], [huge]: 1 }),
      { ...virtualService({}), kind: huge },
      { ...virtualService({}), metadata: { name: huge } },
      virtualService({ hosts: Array.from({ length: 5000 }, (_, i) => `${i}!`.repeat(100)) }),
    ]
  ) {
    assert(answerBytes(object) < 64_000, String(answerBytes(object)));
  }
});

Deno.test("an answer of many causes names the first ones and says how many others there are", () => {
  const causes = Array.from({ length: 300 }, (_, i) => ({ field: `f${i}`, message: "m".repeat(2000) }));
  const { response } = reviewAnswer("admission.k8s.io/v1", request({}), { causes, warnings: [] });
  const named = response.status?.details.causes ?? [];
  assert.equal(named.at(-1)?.message, `and ${300 - (named.length - 1)} more problems`);
  assert(JSON.stringify(response).length < 64_000);
  assert.equal(response.allowed, false);
});

Deno.test("a review whose uid or namespace is longer than a name of the API is refused", () => {
  const tree = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: request({}) };
  const read = readReview(JSON.stringify({ ...tree, request: { ...tree.request, namespace: "n".repeat(1_000_000) } }));
  assert("problems" in read);
  assert.match(read.problems[0]!, /^request\.namespace: got "n+\.\.\. .*expected a text of at most 253 characters$/);
  assert(JSON.stringify(unreadAnswer(read)).length < 2000);
});
