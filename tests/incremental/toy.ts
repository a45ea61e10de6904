/**
 * A world of named numbers, for tests of results that depend on reads.
 * @module
 */
import { InvalidatedKeys } from "../../lib/incremental/keys.ts";
import type { ReadSource, Recorder, SourceQuery } from "../../lib/incremental/read_record.ts";

/** Numbers by name. Only views of one color see some numbers. */
export class ToyWorld {
  readonly #numbers = new Map<string, { readonly number: number; readonly color?: string }>();

  /** Puts or removes a number. @returns the invalidated keys */
  set(name: string, number: number | undefined, color?: string): InvalidatedKeys {
    if (number === undefined) this.#numbers.delete(name);
    else this.#numbers.set(name, { number, ...(color === undefined ? {} : { color }) });
    const keys = new InvalidatedKeys();
    // A name with `*` at its end stands for all names with the beginning.
    if (name.endsWith("*")) keys.addPattern("number", (other) => other.startsWith(name.slice(0, -1)));
    else keys.add("number", name);
    return keys;
  }

  names(): Iterable<string> {
    return this.#numbers.keys();
  }

  /** The number of a name, or else of the longest pattern over the name, in the view of a color. */
  number(name: string, color: string): number | undefined {
    for (let length = name.length; length >= 0; length--) {
      const at = length === name.length ? name : `${name.slice(0, length)}*`;
      const found = this.#numbers.get(at);
      if (found && (found.color === undefined || found.color === color)) return found.number;
    }
    return undefined;
  }
}

export interface ToyProperties {
  readonly color: string;
  readonly factor: number;
}

/** A source that reads the world. */
export class ToySource implements ReadSource<ToyProperties> {
  readonly #world: ToyWorld;

  constructor(world: ToyWorld, readonly properties: ToyProperties, readonly view: object = {}) {
    this.#world = world;
  }

  number(name: string): number | undefined {
    return this.#world.number(name, this.properties.color);
  }
}

const NUMBER: SourceQuery<ToySource, number | undefined> = {
  ask: (source, name) => source.number(name),
  on: ["number"],
};

/** Notes the outcome. */
export type Note = (note: string) => void;

/**
 * Follows a chain of numbers: if `a` is 2, `a` and two more letters of the alphabet are added up. Numbers of three and
 * more are multiplied by the source's factor; 13 throws.
 */
export function chain(recorder: Recorder<ToySource>, name: string, note: Note): string {
  const first = recorder.ask(NUMBER, name);
  if (first === undefined) return "nothing";
  if (first === 13) throw new Error(`bad luck in ${name}`);
  const sums: number[] = [];
  for (let i = 0; i <= first; i++) {
    sums.push(recorder.ask(NUMBER, String.fromCharCode(name.charCodeAt(0) + i)) ?? 0);
  }
  if (first === 0) note(`${name} is zero`);
  const scaled = first >= 3 ? recorder.property("factor", ({ factor }) => factor) : 1;
  return sums.map((sum) => sum * scaled).join("+");
}
