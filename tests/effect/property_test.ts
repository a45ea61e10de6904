/** Parts reported as reaching no proxy reach no proxy in any mesh; and changes one by one agree with a fresh look. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { writtenObject } from "../../lib/debug/world.ts";
import { EffectAnalysis } from "../../lib/effect/effect_analysis.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { Fixture } from "../discovery/fixture.ts";
import { manySteps, play } from "../discovery/random_steps.ts";
import { type Tree, tree } from "../discovery/random_trees.ts";
import { delivered, leadsTo } from "./delivered.ts";
import { partSteps } from "./random_parts.ts";
import { runs } from "../properties.ts";

/** Runs of each property. */
const RUNS = runs(40);

function analysisOf(fixture: Fixture): EffectAnalysis {
  const analysis = new EffectAnalysis({ object: (key) => fixture.objects.get(key) });
  analysis.changed(fixture.objects.keys());
  unpaced(analysis.steps(fixture.pipeline.translator));
  return analysis;
}

function texts(analysis: EffectAnalysis): string[] {
  return [...analysis.findings(() => [])].map(({ message, place }) => JSON.stringify([place.objects, message]));
}

type Path = readonly (string | number)[];

/** The path of the nearest list item around a field; empty: the object as a whole. */
function itemOf(field: string): Path {
  const end = field.lastIndexOf("]");
  if (end < 0) return [];
  return field.slice(0, end + 1).split(/[.[]/).map((part) => part.endsWith("]") ? Number(part.slice(0, -1)) : part);
}

/** A patch without a fitting resource. */
const NO_PATCH = {
  applyTo: "LISTENER",
  match: { context: "ANY", listener: { name: "a-listener-that-nobody-has" } },
  patch: { operation: "REMOVE" },
};

function without(tree: object, path: Path): unknown {
  const copy: unknown = structuredClone(tree);
  let at = copy;
  for (const step of path.slice(0, -1)) at = (at as Record<string | number, unknown>)[step];
  // Stand-ins of unusable patches name a patch by the place in the list, so a patch keeps its place.
  const rest = path.at(-2) === "configPatches" ? [NO_PATCH] : [];
  (at as unknown[]).splice(Number(path.at(-1)), 1, ...rest);
  return copy;
}

/** An object as a user may write it. The fixture adds fields that only derivations set, from an annotation. */
function userTree(fixture: Fixture, key: string): { spec: object } {
  const { origin: _, spec, ...head } = writtenObject(fixture.objects.get(key)!);
  const { internal: __, ...written } = spec as { internal?: unknown };
  return { ...head, spec: written };
}

/** Takes a part away; gives the way back; undefined: the rest would be refused. */
function takeAway(fixture: Fixture, key: string, path: Path): (() => void) | undefined {
  const tree = userTree(fixture, key);
  const rest = path.length === 0 ? undefined : without(tree, path);
  if (rest === undefined) fixture.remove(key);
  else if (!fixture.offer(rest)) return undefined;
  fixture.pipeline.flush();
  return () => {
    fixture.put(tree);
    fixture.pipeline.flush();
  };
}

Deno.test("parts reported as reaching no proxy can be removed, one by one and together, without a change of any proxy's resources", () => {
  const kinds = new Map<string, number>();
  fc.assert(
    fc.property(manySteps, partSteps, (steps, more) => {
      const { fixture, joined } = play([...steps, ...more], true);
      const all = (isImport: boolean) => joined.map(({ state }) => delivered(state, isImport));
      for (
        const { place: { field, objects: [object] }, message, value } of [...analysisOf(fixture).findings(() => [])]
      ) {
        const { kind, namespace, name } = object!;
        const isImport = kind === "Sidecar" && field !== "";
        const hidden = isImport ? / of \S+$/.exec(value) : null;
        if (hidden !== null) {
          const leading = joined.filter(({ state }) =>
            state.proxyClass.scope.sidecar?.key === `Sidecar/${namespace}/${name}`
          );
          for (const target of value.slice(1, hidden.index).replace(/ and \d+ more$/, "").split(", ")) {
            const isLed = leading.some(({ state }) => leadsTo(state, target));
            assert.ok(!isLed || namespace === "mesh-system", `${message}: ${target}`);
          }
          kinds.set("hidden ports", (kinds.get("hidden ports") ?? 0) + 1);
          continue;
        }
        const before = all(isImport);
        const back = takeAway(fixture, `${kind}/${namespace}/${name}`, itemOf(field));
        if (back === undefined) continue;
        const sort = `${kind} ${field.replace(/\d+/g, "#")}`;
        kinds.set(sort, (kinds.get(sort) ?? 0) + 1);
        assert.deepEqual(all(isImport), before, `${kind} ${namespace}/${name}: ${message}`);
        back();
      }
    }),
    { numRuns: RUNS },
  );
  // The worlds are worth something: parts of many sorts are found.
  assert.ok(kinds.size >= 8, JSON.stringify([...kinds]));
});

Deno.test("after single changes, and after proxies connect and disconnect, the findings equal a fresh analysis", () => {
  const step = fc.oneof(
    tree.map((put: Tree) => ({ put })),
    partSteps.map(([one]) => ({ put: one!.do === "put" ? one!.tree : undefined })),
    fc.constantFrom("a", "b").map((namespace) => ({ join: namespace })),
    fc.constant({ leave: true }),
    fc.nat({ max: 9 }).map((remove) => ({ remove })),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 30, size: "max" }), (steps) => {
      const fixture = new Fixture();
      const { pipeline, pipeline: { translator } } = fixture;
      const analysis = new EffectAnalysis({ object: (key) => fixture.objects.get(key) });
      const states = [fixture.join({ namespace: "a", address: "172.16.0.1", labels: { app: "p" } })];
      for (const [at, one] of steps.entries()) {
        const before = new Map(fixture.objects);
        if ("put" in one && one.put !== undefined) fixture.offer(one.put);
        if ("remove" in one) fixture.remove(...[...fixture.objects.keys()].slice(one.remove, one.remove + 1));
        if ("join" in one) {
          const gateway = at % 2 === 0;
          const labels = { app: gateway ? "gw" : "q" };
          const node = { namespace: one.join!, address: `172.16.1.${at}`, labels };
          states.push(fixture.join(gateway ? { ...node, type: "router" } : node));
        }
        if ("leave" in one && states.length > 1) translator.leave(states.pop()!);
        pipeline.flush();
        const keys = new Set([...before.keys(), ...fixture.objects.keys()]);
        analysis.changed([...keys].filter((key) => before.get(key) !== fixture.objects.get(key)));
        unpaced(analysis.steps(translator));
      }
      assert.deepEqual(texts(analysis), texts(analysisOf(fixture)));
    }),
    { numRuns: RUNS },
  );
});
