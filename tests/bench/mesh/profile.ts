/**
 * The use of CPU time: the functions of a V8 CPU profile by their own time.
 *
 *     deno run --allow-read tests/bench/mesh/profile.ts FILE.cpuprofile [lines]
 *
 * @module
 */

/** The used part of the format: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

/** Time of a function. */
export interface FunctionTime {
  /** Name, file and line. */
  readonly name: string;
  /** Milliseconds in the function itself, and including callees. */
  readonly self: number;
  readonly total: number;
}

/** Functions by their own time, the longest first. Idle time is excluded. */
export function functionTimes(profile: CpuProfile): FunctionTime[] {
  const own = new Map<number, number>();
  profile.samples.forEach((id, i) => own.set(id, (own.get(id) ?? 0) + profile.timeDeltas[i]! / 1000));
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const names = new Map(profile.nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
    const file = url.split("/").slice(-3).join("/");
    return [id, file === "" ? functionName : `${functionName || "(anonymous)"} ${file}:${lineNumber + 1}`];
  }));
  const times = new Map<string, { self: number; total: number }>();
  const visit = (id: number, above: ReadonlySet<string>): number => {
    const name = names.get(id)!;
    const self = own.get(id) ?? 0;
    const within = above.has(name) ? above : new Set(above).add(name);
    let total = self;
    for (const child of byId.get(id)?.children ?? []) total += visit(child, within);
    const sum = times.get(name) ?? { self: 0, total: 0 };
    times.set(name, sum);
    sum.self += self;
    if (!above.has(name)) sum.total += total; // A recursive function is counted once.
    return total;
  };
  const root = profile.nodes[0];
  if (root) visit(root.id, new Set());
  return [...times].filter(([name]) => name !== "(idle)" && name !== "(root)")
    .map(([name, { self, total }]) => ({ name, self, total })).sort((a, b) => b.self - a.self);
}

/** The first functions as lines: milliseconds alone, in all, name. */
export function showProfile(profile: CpuProfile, count: number): string {
  const column = (ms: number) => ms.toFixed(0).padStart(7);
  return functionTimes(profile).slice(0, count)
    .map(({ name, self, total }) => `${column(self)} ${column(total)}  ${name}`).join("\n");
}

if (import.meta.main) {
  const [file, count] = Deno.args;
  if (file === undefined) throw new Error("expected the path of a .cpuprofile");
  console.log("self ms  all ms  function");
  console.log(showProfile(JSON.parse(Deno.readTextFileSync(file)) as CpuProfile, Number(count ?? 40)));
}
