/**
 * The shape of the catalogue of names (settings, metrics, flags, commands) that are accepted but not built yet.
 *
 * Names are plain texts, so that the catalogue imports no other package and any package may use the catalogue. Tests
 * compare each list with the owner of the names: every listed name has no effect, and every name without effect is
 * listed.
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

/** A part of the product that is not built, with all names waiting for the part. */
export interface NotBuiltPart {
  /** The part's name in messages, a word or two. */
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
  /** Names that are refused, with the present behaviour. */
  readonly refused?: Readonly<Record<string, string>>;
}

/** A name that is accepted or refused because the part behind the name is not built. */
export interface NotBuilt {
  readonly what: NotBuiltWhat;
  readonly name: string;
  /** Title of the missing part. */
  readonly part: string;
  /** The present behaviour, written to follow the name in a sentence. */
  readonly effect: string;
}

/** The behaviour of each sort of names until the part is built. */
const EFFECTS: Readonly<Record<Exclude<NotBuiltWhat, "refused">, string>> = {
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
