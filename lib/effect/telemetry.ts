/**
 * Entries, providers and overrides of Telemetries that change nothing for their workloads.
 *
 * A part is in force if the settings of some workload would differ without the part, or with another value in its
 * place. A part that repeats a default is in force, too: another value in its place would count.
 *
 * @module
 */
import type { TelemetrySpec } from "../config/kinds/telemetry/schema.ts";
import type { ConfigObject } from "../config/types.ts";
import type { EffectiveTelemetry } from "../mesh/telemetry/index.ts";
import { keyText } from "../finding/object_name.ts";
import type { EffectWorld, Judge, UnusedPart } from "./judge.ts";
import type { TelemetryUse } from "./telemetry_uses.ts";
import { PROBE, settingsOf, type TelemetryList } from "./telemetry_settings.ts";

const LISTS: readonly TelemetryList[] = ["accessLogging", "metrics", "tracing"];

/** Verdicts live as long as the merged Telemetries. */
const known = new WeakMap<EffectiveTelemetry, Map<string, ReadonlySet<string>>>();

export const judgeTelemetry: Judge<"Telemetry"> = ({ key, spec }, world) => {
  // The verdict depends on the workloads and on other Telemetries.
  world.noteDead();
  const uses = world.telemetries.of(key);
  if (uses.length === 0) return [];
  const dead = uses.map((use) => deadFields(key, use, world));
  const inAll = [...dead[0]!].filter((field) => dead.every((fields) => fields.has(field)));
  if (inAll.length === 0) return [];
  return inAll.filter((field) => !inAll.some((other) => field.startsWith(`${other}.`))).map((field) => {
    const list = LISTS.find((one) => field.startsWith(`spec.${one}[`))!;
    return { field, value: valueOf(spec, field), ...reasonOf(key, list, uses, world) };
  });
};

/** Fields of a Telemetry that can be removed without a change of the workloads' settings. */
function deadFields(key: string, { telemetry, sides }: TelemetryUse, world: EffectWorld): ReadonlySet<string> {
  const name = `${key} ${[...sides].sort().join()}`;
  const verdicts = known.getOrInsertComputed(telemetry, () => new Map());
  return verdicts.getOrInsertComputed(name, () => {
    const objects = telemetry.causes.flatMap((one) => telemetryOf(one, world) ?? []);
    const at = objects.findIndex((one) => one.key === key);
    if (at < 0 || objects.length < telemetry.causes.length) return new Set<string>();
    const specs = objects.map(({ spec }) => spec);
    const with_ = (list: TelemetryList, spec: TelemetrySpec) =>
      settingsOf(list, specs.with(at, spec), world.mesh.config, [...sides].sort());
    return new Set(LISTS.flatMap((list) => {
      const now = with_(list, specs[at]!);
      return [...variantsOf(list, specs[at]!, world)]
        .filter(({ variants }) => variants.every((variant) => with_(list, variant) === now))
        .map(({ field }) => field);
    }));
  });
}

/** A part, with the object without the part and the objects with other values in its place. */
interface PartVariants {
  readonly field: string;
  readonly variants: readonly TelemetrySpec[];
}

type AnyEntry = Readonly<Record<string, unknown>>;

/** Values that would give an entry an effect, if any value could. */
const OTHER_VALUES: Readonly<Record<TelemetryList, (entry: AnyEntry) => readonly AnyEntry[]>> = {
  accessLogging: (entry) => [
    { ...entry, disabled: entry["disabled"] !== true },
    { ...entry, filter: { expression: PROBE } },
  ],
  metrics: (entry) => [{
    ...entry,
    overrides: [...(entry["overrides"] as AnyEntry[] | undefined ?? []), { tagOverrides: PROBE_TAG }],
  }],
  tracing: (entry) => [
    { ...entry, disableSpanReporting: entry["disableSpanReporting"] !== true },
    { ...entry, customTags: { [PROBE]: { literal: { value: PROBE } } } },
    { ...entry, randomSamplingPercentage: 0.5 + Number(entry["randomSamplingPercentage"] ?? 0) / 2 },
  ],
};

const PROBE_TAG = { [PROBE]: { operation: "UPSERT", value: PROBE } };

function* variantsOf(list: TelemetryList, spec: TelemetrySpec, { mesh }: EffectWorld): Iterable<PartVariants> {
  const entries = (spec[list] ?? []) as readonly AnyEntry[];
  const of = (at: number, entry: AnyEntry): TelemetrySpec => ({ ...spec, [list]: entries.with(at, entry) });
  for (const [at, entry] of entries.entries()) {
    const field = `spec.${list}[${at}]`;
    // Where some workload is measured, all other workloads report their identity. The only entry of metrics has this
    // effect.
    if (list !== "metrics" || entries.length > 1 || (mesh.config.defaultProviders.metrics ?? []).length > 0) {
      const others = [...OTHER_VALUES[list](entry), { ...entry, providers: [{ name: PROBE }] }];
      yield {
        field,
        variants: [{ ...spec, [list]: entries.toSpliced(at, 1) }, ...others.map((other) => of(at, other))],
      };
    }
    for (const [part, others] of [["providers", otherProviders], ["overrides", otherOverrides]] as const) {
      const items = (entry[part] ?? []) as readonly AnyEntry[];
      for (const [position, item] of items.entries()) {
        const lists = [items.toSpliced(position, 1), ...others(item).map((other) => items.with(position, other))];
        yield {
          field: `${field}.${part}[${position}]`,
          variants: lists.map((other) => of(at, { ...entry, [part]: other })),
        };
      }
    }
  }
}

function otherProviders(): readonly AnyEntry[] {
  return [{ name: PROBE }];
}

function otherOverrides(override: AnyEntry): readonly AnyEntry[] {
  return [
    { ...override, disabled: override["disabled"] !== true },
    { ...override, disabled: false, tagOverrides: { ...override["tagOverrides"] as AnyEntry, ...PROBE_TAG } },
  ];
}

/** The narrowest other Telemetry with settings for the list decides. */
function reasonOf(
  key: string,
  list: TelemetryList,
  uses: readonly TelemetryUse[],
  world: EffectWorld,
): Pick<UnusedPart, "expected" | "others"> {
  const deciding = uses.flatMap(({ telemetry: { causes } }) =>
    causes.slice(causes.indexOf(key) + 1).findLast((one) => (telemetryOf(one, world)?.spec[list] ?? []).length > 0) ??
      []
  );
  const [nearest] = deciding;
  if (nearest === undefined || deciding.length < uses.length) {
    return { expected: "a part that changes a setting of the selected workloads (the part changes none)" };
  }
  return {
    expected: `a part that no narrower or younger Telemetry overrides (${keyText(nearest)} decides)`,
    others: [nearest],
  };
}

function telemetryOf(key: string, { object }: EffectWorld): ConfigObject<"Telemetry"> | undefined {
  const found = object(key);
  return found?.kind === "Telemetry" ? found as ConfigObject<"Telemetry"> : undefined;
}

/** The value of a field such as `spec.metrics[0].overrides[1]`. */
function valueOf(spec: TelemetrySpec, field: string): unknown {
  const steps = field.replaceAll("]", "").replaceAll("[", ".").split(".");
  return steps.reduce<unknown>((value, step) => (value as AnyEntry | undefined)?.[step], { spec });
}
