/**
 * Profiles of V8 in the form for `go tool pprof` and its companions: a message of `profile.proto`, packed with gzip
 * (https://github.com/google/pprof/blob/main/proto/README.md).
 *
 * @module
 */
import { gzipSync } from "node:zlib";
import { Function, Line, Location, Profile, Sample, StringTable, ValueType } from "pprof-format";

/** A function as V8 names it (https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-CallFrame). */
export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** Counted from 0; negative: unknown. */
  readonly lineNumber: number;
}

/** https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
export interface V8CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: CallFrame;
    readonly children?: readonly number[];
  }[];
  /** Microseconds. */
  readonly startTime: number;
  readonly endTime: number;
  /** The node of each sample. */
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

/** A node of https://chromedevtools.github.io/devtools-protocol/tot/HeapProfiler/#type-SamplingHeapProfile */
export interface V8AllocationNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children: readonly V8AllocationNode[];
}

/** The allocations, with the tree of their stacks. */
export interface V8AllocationProfile {
  readonly head: V8AllocationNode;
  readonly samples: readonly { readonly size: number; readonly nodeId: number }[];
}

/** A stack: a function and the calling functions. */
interface StackNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly parent: StackNode | undefined;
}

/** The function of samples in which the program waited. */
const IDLE = "(idle)";

/** CPU time by stack: samples, and nanoseconds. As in Go, waiting time is left out. */
export function cpuPprof({ nodes, samples, timeDeltas, startTime, endTime }: V8CpuProfile): Uint8Array {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stacks = new Map<number, StackNode>();
  const stackOf = (id: number): StackNode => {
    const known = stacks.get(id);
    if (known !== undefined) return known;
    const parent = parents.get(id);
    const made = { id, callFrame: byId.get(id)!.callFrame, parent: parent === undefined ? undefined : stackOf(parent) };
    stacks.set(id, made);
    return made;
  };
  const writer = new PprofWriter(["samples", "count"], ["cpu", "nanoseconds"]);
  samples.forEach((id, i) => {
    const stack = stackOf(id);
    if (stack.callFrame.functionName !== IDLE) writer.add(stack, 1, timeDeltas[i]! * 1000);
  });
  return writer.end({ durationNanos: Math.round((endTime - startTime) * 1000) });
}

/** Allocations by stack: number and bytes. */
export function allocationPprof({ head, samples }: V8AllocationProfile): Uint8Array {
  const stacks = new Map<number, StackNode>();
  const rest: [V8AllocationNode, StackNode | undefined][] = [[head, undefined]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [{ id, callFrame, children }, parent] = next;
    const stack = { id, callFrame, parent };
    stacks.set(id, stack);
    for (const child of children) rest.push([child, stack]);
  }
  const writer = new PprofWriter(["alloc_objects", "count"], ["alloc_space", "bytes"]);
  for (const { nodeId, size } of samples) {
    const stack = stacks.get(nodeId);
    if (stack !== undefined) writer.add(stack, 1, size);
  }
  return writer.end({});
}

/** A name and a unit, as in `profile.proto`. */
type Value = readonly [type: string, unit: string];

/** Collects values by stack. Equal functions are written once, and so is each stack. */
class PprofWriter {
  readonly #strings = new StringTable();
  readonly #types: readonly [Value, Value];
  /** Each function with a single place, the start of the function. Function and place have the same number. */
  readonly #places = new Map<string, { readonly function: Function; readonly location: Location }>();
  readonly #samples = new Map<number, Sample>();

  constructor(...types: readonly [Value, Value]) {
    this.#types = types;
  }

  add(stack: StackNode, first: number, second: number): void {
    let sample = this.#samples.get(stack.id);
    if (sample === undefined) {
      sample = new Sample({ locationId: this.#path(stack), value: [0, 0] });
      this.#samples.set(stack.id, sample);
    }
    sample.value = [Number(sample.value[0]) + first, Number(sample.value[1]) + second];
  }

  /** The function first, then the calling functions. */
  #path(stack: StackNode): number[] {
    const path: number[] = [];
    for (let at: StackNode | undefined = stack; at !== undefined; at = at.parent) {
      // The root is not a function.
      if (at.parent !== undefined || stack === at) path.push(Number(this.#location(at.callFrame).id));
    }
    return path;
  }

  #location({ functionName, url, lineNumber }: CallFrame): Location {
    const key = JSON.stringify([functionName, url, lineNumber]);
    const known = this.#places.get(key);
    if (known !== undefined) return known.location;
    const name = this.#strings.dedup(functionName || "(anonymous)");
    const startLine = Math.max(0, lineNumber + 1);
    const id = this.#places.size + 1;
    const location = new Location({ id, line: [new Line({ functionId: id, line: startLine })] });
    this.#places.set(key, {
      function: new Function({ id, name, systemName: name, filename: this.#strings.dedup(url), startLine }),
      location,
    });
    return location;
  }

  end(facts: { readonly durationNanos?: number }): Uint8Array {
    const sampleType = this.#types.map(([type, unit]) =>
      new ValueType({ type: this.#strings.dedup(type), unit: this.#strings.dedup(unit) })
    );
    const places = [...this.#places.values()];
    const profile = new Profile({
      ...{ sampleType, stringTable: this.#strings, ...facts },
      sample: [...this.#samples.values()],
      location: places.map(({ location }) => location),
      function: places.map((place) => place.function),
      timeNanos: BigInt(Date.now()) * 1_000_000n,
    });
    return gzipSync(profile.encode());
  }
}
