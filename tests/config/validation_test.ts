import assert from "node:assert/strict";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { isSimple } from "../../lib/config/validation/regex_work.ts";
import { Findings } from "../../lib/finding/findings.ts";
import { hostProblem, hostsOverlap, isHostWithin, wildcardHostProblem } from "../../lib/config/validation/names.ts";
import { isCidr, isIpAddress } from "../../lib/config/validation/network.ts";
import { checkRegex, compilationSteps, compileBounded, programSteps } from "../../lib/config/validation/regex.ts";
import { runs } from "../properties.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const HOSTS: readonly (readonly [string, boolean, boolean])[] = [
  ["a", true, true],
  ["a.b", true, true],
  ["a.b.", true, true],
  ["*.b", false, true],
  ["*-a.b", false, true],
  ["*a.b", false, true],
  ["*", false, true],
  ["a.*.b", false, false],
  ["a..b", false, false],
  ["", false, false],
  ["a_b", false, false],
  ["-a", false, false],
  ["a.123", false, false],
  ["A.B", true, true],
  ["a".repeat(63), true, true],
  ["a".repeat(64), false, false],
  [`${"a.".repeat(130)}a`, false, false],
];

for (const [host, plain, wildcard] of HOSTS) {
  test(`${host.slice(0, 20)} is ${plain ? "a host" : wildcard ? "a wildcard host" : "no host"}`, () => {
    assert.equal(hostProblem(host) === undefined, plain);
    assert.equal(wildcardHostProblem(host) === undefined, wildcard);
  });
}

test("a host of several labels without wildcard is judged the same whether wildcards are allowed or not", () => {
  const piece = fc.constantFrom("a", "Z", "0", "7", "-", "_", "é", "x".repeat(60), "b-c", "12");
  const label = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(fc.array(label, { minLength: 2, maxLength: 5 }), (labels) => {
      const host = labels.join(".");
      assert.equal(wildcardHostProblem(host) === undefined, hostProblem(host) === undefined, host);
    }),
    { numRuns: runs(2000) },
  );
});

const OVERLAPS: readonly (readonly [string, string, boolean, boolean])[] = [
  ["foo.com", "foo.com", true, true],
  ["foo.com", "bar.com", false, false],
  ["*.com", "foo.com", true, false],
  ["foo.com", "*.com", true, true],
  ["*.foo.com", "foo.com", false, false],
  ["*.foo.com", "*.com", true, true],
  ["*.com", "*.foo.com", true, false],
  ["*", "foo.com", true, false],
  ["*", "*.com", true, false],
];

for (const [a, b, overlap, within] of OVERLAPS) {
  test(`${a} ${overlap ? "overlaps" : "does not overlap"} ${b}, and is ${within ? "" : "not "}within it`, () => {
    assert.equal(hostsOverlap(a, b), overlap);
    assert.equal(hostsOverlap(b, a), overlap);
    assert.equal(isHostWithin(a, b), within);
  });
}

const ADDRESSES: readonly (readonly [string, boolean, boolean])[] = [
  ["10.0.0.1", true, false],
  ["10.0.0.01", false, false],
  ["256.0.0.1", false, false],
  ["10.0.1", false, false],
  ["::1", true, false],
  ["2001:db8::", true, false],
  ["fe80::1%eth0", false, false],
  ["::ffff:1.2.3.4", true, false],
  [":::", false, false],
  ["10.0.0.0/8", false, true],
  ["10.0.0.0/33", false, false],
  ["10.0.0.0/08", false, false],
  ["2001:db8::/32", false, true],
  ["2001:db8::/129", false, false],
  ["10.0.0.0/", false, false],
  ["a", false, false],
];

for (const [text, address, cidr] of ADDRESSES) {
  test(`${text} is ${address ? "an address" : cidr ? "a CIDR" : "neither address nor CIDR"}`, () => {
    assert.equal(isIpAddress(text), address);
    assert.equal(isCidr(text), cidr);
  });
}

const STEPS: readonly (readonly [string, number])[] = [
  ["abc", 3],
  ["[a-z]+", 2],
  ["a{10}", 10],
  ["(ab){10}c", 21],
  ["((a{10}){10}){10}", 1000],
  ["\\p{L}{5}", 5],
  ["[]a]{3}", 3],
  ["\\({4}", 4],
  ["a{2,5}", 5],
  ["a{2,}", 2],
];

for (const [regex, steps] of STEPS) {
  test(`${regex} has about ${steps} steps`, () => assert.equal(programSteps(regex), steps));
}

/** Expressions with expensive signs: the compiler needs milliseconds for a class. */
const WORK: readonly (readonly [regex: string, least: number, most: number])[] = [
  ["(?i)[B-\\x{10fff0}]", 1900, 2100],
  ["(?i)[]-\\x{10fff0}]", 1900, 2100],
  ["(?i)[^]-\\x{10fff0}]", 1900, 2100],
  ["(?si:[!-鿿])", 600, 700],
  ["(?i)[a-z0-9-]", 1, 10],
  ["(?i)[\\w\\-.]", 1, 10],
  ["[B-\\x{10fff0}]", 1, 10],
  ["[\\p{L}\\p{N}]{1,63}", 160, 250],
  ["\\pL\\PN", 160, 170],
];

for (const [regex, least, most] of WORK) {
  test(`${regex} costs the compiler ${least} to ${most} steps`, () => {
    const steps = compilationSteps(regex);
    assert.ok(least <= steps && steps <= most, `${steps} steps`);
  });
}

test("expressions that few signs make costly are refused before they are compiled, also in the simulator", () => {
  const compile = RE2JS.compile;
  let compiled = 0;
  RE2JS.compile = (regex, flags) => (compiled++, compile(regex, flags));
  try {
    for (const costly of ["(?i)[B-\\x{10fff0}]", "[^\\pL\\pN]", "(?i)\\PL"]) {
      const regex = costly.repeat(Math.floor(1020 / costly.length));
      const report = new Findings();
      checkRegex(regex, "spec", report);
      assert.match(report.list[0]?.expected ?? "", /a smaller regular expression/, costly);
      assert.throws(() => compileBounded(regex), /larger than/, costly);
    }
    assert.equal(compiled, 0);
  } finally {
    RE2JS.compile = compile;
  }
});

test("every simple expression compiles, and is accepted without compiling", () => {
  const sign = fc.constantFrom(
    ..."aZ_0/:,=@%&~ -.^$*+?()[]{}|\\\"'<>#!;é".split(""),
    "\\.",
    "\\d",
    "[a-z]",
    "[^/]",
    "[A-Za-z0-9_-]",
  );
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 8 }).map((signs) => signs.join("")), (regex) => {
      if (isSimple(regex)) assert.doesNotThrow(() => RE2JS.compile(regex));
    }),
    { numRuns: runs(3000) },
  );
  for (const regex of ["/api/v1/.*", "^[A-Za-z0-9_-]+$", "/users/[^/]+/cart", "https?://a\\.b", ".*"]) {
    assert.ok(isSimple(regex), regex);
  }
  for (const regex of ["a**", "[z-a]", "(a", "\\", "a{2}", "[[:alpha:]]", "+"]) assert.ok(!isSimple(regex), regex);
});

test("the estimate of steps never falls far below the real program", () => {
  const atom = fc.constantFrom("a", "[a-z]", "\\d", ".", "(b|c)", "\\p{L}");
  const count = fc.constantFrom("", "*", "+", "?", "{3}", "{2,7}", "{40}");
  const piece = fc.tuple(atom, count).map((parts) => parts.join(""));
  const group = fc.tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), count).map(([pieces, count]) =>
    `(${pieces.join("")})${count}`
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, group), { maxLength: 6 }).map((parts) => parts.join("")), (regex) => {
      const size = compiledSize(regex);
      if (size !== undefined) {
        assert.ok(size <= 8 * programSteps(regex) + 20, `${regex}: ${size} against ${programSteps(regex)}`);
      }
    }),
    { numRuns: runs(300) },
  );
});

function compiledSize(regex: string): number | undefined {
  try {
    return RE2JS.compile(regex).programSize();
  } catch {
    return undefined; // Repetitions beyond RE2's limit.
  }
}

test("regex bombs are refused before they are compiled, and the steps compiled for an object are bounded", () => {
  const compile = RE2JS.compile;
  let compiled: string[] = [];
  RE2JS.compile = (regex, flags) => {
    compiled.push(regex);
    return compile(regex, flags);
  };
  const errors = (regexes: readonly string[]) => {
    const report = new Findings();
    compiled = [];
    for (const regex of regexes) checkRegex(regex, "spec", report);
    return report.list.map((one) => one.expected);
  };
  const bombs: readonly [string, RegExp][] = [
    ["x{1000}".repeat(146), /146000 steps/],
    ["a".repeat(1025), /at most 1024 characters/],
    ["((a{100}){100}){100}", /100000[0-9] steps/],
  ];
  try {
    for (const [bomb, expected] of bombs) {
      assert.match(errors([bomb])[0] ?? "", expected);
      assert.deepEqual(compiled, []);
    }
    const many = Array.from({ length: 5000 }, (_, index) => `${index}[a-z]{900}`);
    assert.ok(errors(many).some((text) => text.includes("fewer or smaller")));
    const steps = compiled.reduce((sum, regex) => sum + programSteps(regex), 0);
    assert.ok(steps > 0 && steps <= 30_000, `${steps} steps`);
    assert.deepEqual(errors(new Array(100_000).fill("[a-z]{900}")), []);
    assert.equal(compiled.length, 1, "equal expressions are compiled once");
  } finally {
    RE2JS.compile = compile;
  }
});
