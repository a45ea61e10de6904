/**
 * The parts of a program as one ordered list.
 *
 * Each part says which earlier parts it needs, why it stands at its place, how it starts, and how it ends. The list
 * starts the parts in its order, and the program's stopper ends them in reverse. So the order of a start is written in
 * one place, and a part cannot use another part that has not started.
 *
 * @module
 */
import { type OptionFault, OptionFaults } from "./option_faults.ts";
import type { Readiness } from "./readiness.ts";
import type { Stopper } from "./stop.ts";

/** One part of a program. */
export interface ProgramPart<Given, Got, Name extends string, Need extends keyof Got & string, Gives> {
  /** Under this name later parts get what the part gives. */
  readonly name: Name;
  /** Earlier parts that the start takes. */
  readonly needs: readonly Need[];
  /** Why the part stands at its place. For readers, and for the printed list. */
  readonly why: string;
  /**
   * Starts the part.
   *
   * @throws {OptionFaults} When options keep the part from starting.
   */
  start(got: Given & Pick<Got, Need>): Gives | Promise<Gives>;
  /** Ends the part. Default: the part has nothing to end, or registers its ends itself. */
  stop?(part: Gives, signal: AbortSignal): Promise<void> | void;
  /** The program is not ready before this part and all parts before it have started; the task has this name. */
  readonly ready?: string;
  /** The start goes on while the next parts start. A part that needs this part waits for it. Default false. */
  readonly beside?: boolean;
  /** Faults of options that show without any other part, for a start that an earlier part has ended. Default: none. */
  faults?(given: Given): Promise<readonly OptionFault<string>[]>;
}

/** The kernel's part in a start. */
export interface PartsKernel {
  readonly readiness: Pick<Readiness, "task" | "complete">;
  readonly stopper: Pick<Stopper, "add">;
}

/** A part whose types the list has checked already. */
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

/** A list of parts. `Given` is what every start gets, `Got` what the parts give. */
export class PartList<Given extends object, Got extends object = Record<never, never>> {
  /** The parts, in the order of their start. */
  readonly list: readonly ListedPart<Given>[];

  private constructor(list: readonly ListedPart<Given>[]) {
    this.list = list;
  }

  /** A list without parts. */
  static of<Given extends object>(): PartList<Given> {
    return new PartList<Given>([]);
  }

  /** The list with one more part at its end. */
  add<const Name extends string, const Need extends keyof Got & string, Gives>(
    part: ProgramPart<Given, Got, Name, Need, Gives>,
  ): PartList<Given, Got & { readonly [Key in Name]: Gives }> {
    // The signature has checked the needs of the part; from here on parts are told apart by name alone.
    return new PartList([...this.list, part as unknown as ListedPart<Given>]);
  }

  /**
   * Starts the parts.
   *
   * @returns What they give, when all have started.
   * @throws {OptionFaults} With the faults of the part that failed and of the parts after it.
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

/** Starts one part and registers its end. A part that starts beside others may fail before anybody waits for it. */
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
