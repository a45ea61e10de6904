import assert from "node:assert/strict";
import { compact, difference } from "./difference.ts";

Deno.test("an object keeps its changed fields and the names of its removed fields", () => {
  assert.equal(difference({ a: 1, b: { c: [1] } }, { a: 1, b: { c: [1] } }), undefined);
  assert.deepEqual(difference({ a: 1, b: 2, c: 3 }, { a: 1, b: 4, d: 5 }), { b: 4, d: 5, gone: ["c"] });
  assert.deepEqual(difference({ a: { b: 1, c: false } }, { a: { b: 1 } }), { a: { gone: ["c"] } });
});

Deno.test("a message of another type is whole", () => {
  const before = { "@type": "A", same: 1 };
  assert.deepEqual(difference(before, { "@type": "B", same: 1 }), { "@type": "B", same: 1 });
});

Deno.test("of a list of names the changed elements are left; a list in which one moved, came or went is whole", () => {
  const [a, b, c] = [{ name: "a", x: 1 }, { name: "b", x: 1 }, { name: "c", x: 1 }];
  assert.deepEqual(difference([a, b], [a, { ...b, x: 2 }]), [{ name: "b", x: 2 }]);
  assert.deepEqual(difference([a, b], [b, a]), ["= b", "= a"]);
  assert.deepEqual(difference([a, b], [a, { name: "new", y: 1 }, b]), ["= a", { name: "new", y: 1 }, "= b"]);
  assert.deepEqual(difference([a, b, c], [a, c]), ["= a", "= c", "gone: b"]);
  assert.deepEqual(difference([a, b], [{ ...a, x: 2 }, { ...b, x: 2 }]), [
    { name: "a", x: 2 },
    { name: "b", "changed as": "a" },
  ]);
});

Deno.test("elements of one name are told apart by their number", () => {
  const [one, two] = [{ name: "a", x: 1 }, { name: "a", x: 2 }];
  assert.deepEqual(difference([one, two], [one, { name: "a", x: 3 }]), [{ name: "a (2)", x: 3 }]);
  assert.deepEqual(difference([one, two], [one]), ["= a", "gone: a (2)"]);
});

Deno.test("of a list without names the elements that are as they were are a sign", () => {
  assert.deepEqual(difference([{ x: 1 }, { y: 1 }], [{ x: 1 }, { y: 2 }]), ["=", { y: 2 }]);
  assert.deepEqual(difference([1, 2], [1, 3]), [1, 3]);
});

Deno.test("a new element similar to another element is shown by its differences", () => {
  const long = { match: { prefix: "/a" }, route: { cluster: "outbound|80||a", timeout: "0s", retries: 2 } };
  const other = { ...long, match: { prefix: "/b" } };
  assert.deepEqual(compact([long, other]), [long, { like: "above", match: { prefix: "/b" } }]);
  assert.deepEqual(difference([{ name: "a", ...long }], [{ name: "b", ...other }]), [
    { like: "a", name: "b", match: { prefix: "/b" } },
    "gone: a",
  ]);
  assert.deepEqual(compact([{ x: 1 }, { y: 2 }]), [{ x: 1 }, { y: 2 }]);
});
