/**
 * The parts of a program as an ordered list.
 *
 * Each part names the earlier parts it needs, the reason for the place in the list, the start and the end. The list
 * starts the parts in order, and the program's stopper ends the parts in reverse. So the order of a start is written in
 * one place, and a part cannot use another part before the other part has started.
 *
 * @module
 */
import { type OptionFault, OptionFaults } from "./option_faults.ts";
import type { Readiness } from "./readiness.ts";
import type { Stopper } from "./stop.ts";

/** A part of a program. */
export interface ProgramPart<Given, Got, Name extends string, Need extends keyof Got & string, Gives> {
  /** Later parts get the part's result under this name. */
  readonly name: Name;
  /** Earlier parts for the start. */
  readonly needs: readonly Need[];
  /** Reason for the part's place. For readers, and for the printed list. */
  readonly why: string;
  /**
   * Starts the part.
   *
   * @throws {OptionFaults} When options keep the part from starting.
   */
  start(got: Given & Pick<Got, Need>): Gives | Promise<Gives>;
  /** Ends the part. Default: the part has nothing to end, or registers with the stopper on its own. */
  stop?(part: Gives, signal: AbortSignal): Promise<void> | void;
  /**
   * Name of a readiness task, done when the part has started. Earlier parts have started by then, except parts with
   * `beside`.
   */
  readonly ready?: string;
  /**
   * Whether the start may overlap with the start of the next parts. A part that needs this part waits for the end of
   * the start. Default: false.
   */
  readonly beside?: boolean;
  /** Faults of options that can be found without any other part, used when an earlier part fails. Default: none. */
  faults?(given: Given): Promise<readonly OptionFault<string>[]>;
}

/** The kernel's part in a start. */
export interface PartsKernel {
  readonly readiness: Pick<Readiness, "task" | "complete">;
  readonly stopper: Pick<Stopper, "add">;
}

/** A part after the list has checked the types. */
interface ListedPart<Given> {
  readonly name: string;
  readonly needs: readonly string[];
  readonly why: string;
  readonly ready?: string;
  readonly beside?: boolean;
  start(got: Given & Readonly<Record<string, unknown>>): unknown;
  stop?(part: unknown, signal: AbortSignal): Promise<void> | void;
  faults?(given: Given): Promise<readonly OptionFault<string>[]>;
}

/** A list of parts. `Given` is the input of every start, `Got` the results of the parts. */
export class PartList<Given extends object, Got extends object = Record<never, never>> {
  /** The parts, in starting order. */
  readonly list: readonly ListedPart<Given>[];

  private constructor(list: readonly ListedPart<Given>[]) {
    this.list = list;
  }

  /** A list without parts. */
  static of<Given extends object>(): PartList<Given> {
    return new PartList<Given>([]);
  }

  /** The list with a further part at the end. */
  add<const Name extends string, const Need extends keyof Got & string, Gives>(
    part: ProgramPart<Given, Got, Name, Need, Gives>,
  ): PartList<Given, Got & { readonly [Key in Name]: Gives }> {
    // The signature has checked the needs of the part. From here on only names distinguish parts.
    return new PartList([...this.list, part as unknown as ListedPart<Given>]);
  }

  /**
   * Starts the parts.
   *
   * @returns The results of all parts, when all parts have started.
   * @throws {OptionFaults} With the faults of the failed part and of the parts after it.
   */
  async start(given: Given, kernel: PartsKernel): Promise<Got> {
    const ready = this.list.map((part) => part.ready === undefined ? undefined : kernel.readiness.task(part.ready));
    kernel.readiness.complete();
    const started = new Map<string, unknown>();
    for (const [index, part] of this.list.entries()) {
      try {
        const got: Record<string, unknown> = {};
        for (const need of part.needs) got[need] = await started.get(need);
        const starting = startOf(part, { ...given, ...got }, kernel);
        started.set(part.name, part.beside ? starting : await starting);
        ready[index]?.();
      } catch (error) {
        throw error instanceof OptionFaults ? error.and(await this.#faultsAfter(index, given)) : error;
      }
    }
    const all: Record<string, unknown> = {};
    for (const [name, part] of started) all[name] = await part;
    return all as Got;
  }

  async #faultsAfter(index: number, given: Given): Promise<readonly OptionFault<string>[]> {
    const faults = await Promise.all(this.list.slice(index + 1).map((part) => part.faults?.(given) ?? []));
    return faults.flat();
  }
}

/** Starts a part and registers its end. A part starting beside others may fail before any caller awaits the promise. */
function startOf<Given>(
  part: ListedPart<Given>,
  got: Given & Readonly<Record<string, unknown>>,
  { stopper }: PartsKernel,
): Promise<unknown> {
  const starting = (async () => {
    const gives = await part.start(got);
    if (part.stop !== undefined) stopper.add(part.name, (signal) => part.stop?.(gives, signal));
    return gives;
  })();
  starting.catch(() => {});
  return starting;
}
