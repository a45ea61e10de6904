/**
 * The shape of the catalogue of names (settings, metrics, flags, commands) that are accepted and not built yet.
 *
 * Its names are plain texts, so that it imports no other package and any may ask it. Tests hold each list against the
 * owner of the names: each name on it has no effect, and each without effect is on it.
 *
 * @module
 */

/** The sort of name of an entry. */
export type NotBuiltWhat =
  | "setting"
  | "metric"
  | "flag"
  | "mesh field"
  | "command"
  | "refused";

/** One part of the product that is not built, with the names that wait for it. */
export interface NotBuiltPart {
  /** A word or two, as messages name the part. */
  readonly title: string;
  /** The work of the part, in one sentence. */
  readonly about: string;
  /** Environment variables. */
  readonly settings?: readonly string[];
  readonly metrics?: readonly string[];
  /** `program --name`. */
  readonly flags?: readonly string[];
  /** Fields of the mesh configuration. */
  readonly meshFields?: readonly string[];
  /** `program command`. */
  readonly commands?: readonly string[];
  /** Names that are not accepted at all, with the present behaviour. */
  readonly refused?: Readonly<Record<string, string>>;
}

/** One thing that is accepted, or refused, because the part that acts on it is not built. */
export interface NotBuilt {
  readonly what: NotBuiltWhat;
  readonly name: string;
  /** Title of the part that will build it. */
  readonly part: string;
  /** Its present behaviour; follows the name in a sentence. */
  readonly effect: string;
}

/** The behaviour of a name of each sort until its part is built. */
export const EFFECTS: Readonly<Record<Exclude<NotBuiltWhat, "refused">, string>> = {
  setting: "is checked, and has no effect",
  metric: "is not on the page of metrics",
  flag: "is checked, and has no effect",
  "mesh field": "is checked, and has no effect",
  command: "checks its flags, and exits with 1",
};

/** The entries of a part. */
export function entriesOf(part: NotBuiltPart): NotBuilt[] {
  const { settings = [], metrics = [], flags = [], meshFields = [], commands = [], refused = {} } = part;
  const named = (what: Exclude<NotBuiltWhat, "refused">, names: readonly string[]): NotBuilt[] =>
    names.map((name) => ({ what, name, part: part.title, effect: EFFECTS[what] }));
  return [
    ...named("command", commands),
    ...named("flag", flags),
    ...named("mesh field", meshFields),
    ...named("setting", settings),
    ...named("metric", metrics),
    ...Object.entries(refused).map(([name, effect]): NotBuilt => ({ what: "refused", name, part: part.title, effect })),
  ];
}
