/**
 * One step of a client from its present resources towards the wanted resources.
 *
 * @module
 */
import type { Block, Form } from "../../resource/block.ts";
import type { Diff, DiffTable } from "../../resource/diff.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import { findInStack, type SetStack, type StackedSet } from "./set_stack.ts";

/** The content of one response. */
export interface StreamStep {
  readonly blocks: readonly Block[];
  /** Resources in the blocks, in one list for each diff. */
  readonly changed: readonly (readonly EncodedResource[])[];
  readonly count: number;
  readonly removed: readonly string[];
  /** The diffs of the single sets. */
  readonly diffs: readonly Diff[];
  /** The client's resources afterwards. */
  readonly next: SetStack;
}

/** How a step is made. */
export interface StepOptions {
  readonly form: Form;
  /** Most uncompressed bytes of resources in a step. The first resource is sent whatever the size. */
  readonly maxBytes: number;
  readonly table: DiffTable;
}

/** An unfinished step. */
interface StepDraft {
  readonly blocks: Block[];
  readonly changed: (readonly EncodedResource[])[];
  readonly removed: string[];
  readonly diffs: Diff[];
  readonly next: StackedSet[];
  bytesLeft: number;
  complete: boolean;
}

/**
 * The resources that lead a client from `sent` to `want`, up to about `maxBytes`. If the limit cuts the step short,
 * `next` is not `want`. The cost depends on the groups that differ and the groups between them.
 */
export function stepTowards(sent: SetStack, want: SetStack, options: StepOptions): StreamStep {
  if (sent.length === 1 && want.length === 1) {
    const step = stepOfLoneSet(sent[0]!, want[0]!, want, options);
    if (step !== undefined) return step;
  }
  const draft: StepDraft = {
    ...{ blocks: [], changed: [], removed: [], diffs: [], next: [] },
    bytesLeft: options.maxBytes,
    complete: true,
  };
  const first = firstDifference(sent, want);
  const same = sameAtEnd(sent, want, first);
  const had = byGroup(sent.slice(first, sent.length - same));
  for (const [group, wanted] of byGroup(want.slice(first, want.length - same))) {
    stepOfGroup(draft, had.get(group) ?? [], wanted, options);
    had.delete(group);
  }
  for (const gone of had.values()) stepOfGroup(draft, gone, [], options);
  const { blocks, changed, removed, diffs, complete } = draft;
  const count = changed.reduce((sum, list) => sum + list.length, 0);
  const next = complete ? want : [...want.slice(0, first), ...draft.next, ...want.slice(want.length - same)];
  return { blocks, changed, count, removed, diffs, next };
}

/**
 * The step between two stacks of one set each, such as endpoints, if the step is the whole difference. The parts of
 * such a step are shared by all streams. Undefined: a part of the difference is left.
 */
function stepOfLoneSet(
  sent: StackedSet,
  want: StackedSet,
  next: SetStack,
  { form, maxBytes, table }: StepOptions,
): StreamStep | undefined {
  if (sent.group !== want.group || sent.key !== want.key || sent.set === want.set) return undefined;
  const { diff, next: reached } = table.part(sent.set, want.set, maxBytes, form);
  if (reached !== want.set) return undefined;
  const { changed, removed } = diff;
  return {
    blocks: diff.blocks(form),
    changed: changed.length === 0 ? [] : [changed],
    count: changed.length,
    removed,
    diffs: [diff],
    next,
  };
}

/** The place of the first difference, moved back to the first set of its group. */
function firstDifference(a: SetStack, b: SetStack): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  while (at > 0 && (a[at - 1]!.group === a[at]?.group || a[at - 1]!.group === b[at]?.group)) at--;
  return at;
}

/** The number of equal sets at the end, after `first`, in groups without a difference. */
function sameAtEnd(a: SetStack, b: SetStack, first: number): number {
  let same = 0;
  while (same < Math.min(a.length, b.length) - first && a.at(-1 - same) === b.at(-1 - same)) same++;
  const groupAt = (stack: SetStack, fromEnd: number) => stack.at(-1 - fromEnd)?.group;
  while (same > 0 && [groupAt(a, same), groupAt(b, same)].includes(groupAt(a, same - 1))) same--;
  return same;
}

function byGroup(stack: SetStack): Map<string, StackedSet[]> {
  const groups = new Map<string, StackedSet[]>();
  for (const one of stack) {
    const group = groups.get(one.group);
    if (group === undefined) groups.set(one.group, [one]);
    else group.push(one);
  }
  return groups;
}

function stepOfGroup(draft: StepDraft, sent: SetStack, want: SetStack, { form, table }: StepOptions): void {
  const had = relocated(sent, want, table);
  for (const one of want) {
    const before = setAt(had, one.key) ?? one.set.table.empty;
    if (before === one.set) {
      draft.next.push(one);
      continue;
    }
    const part = table.part(before, one.set, draft.bytesLeft, form);
    draft.bytesLeft -= part.bytes;
    for (const block of part.diff.blocks(form)) draft.blocks.push(block);
    if (part.diff.changed.length > 0) draft.changed.push(part.diff.changed);
    draft.diffs.push(part.diff);
    tellRemoved(draft, part.diff.removed, want);
    draft.complete &&= part.next === one.set;
    draft.next.push(part.next === one.set ? one : { ...one, set: part.next });
  }
  for (const { key, set } of had) {
    if (setAt(want, key) === undefined) tellRemoved(draft, set.list.map(({ name }) => name), want);
  }
}

/** A resource that moved to another set of the stack is not removed. */
function tellRemoved(draft: StepDraft, names: readonly string[], want: SetStack): void {
  for (const name of names) if (findInStack(want, name) === undefined) draft.removed.push(name);
}

function setAt(stack: SetStack, key: string) {
  return stack.find((one) => one.key === key)?.set;
}

/**
 * A client's resources, arranged like `want`: a resource that `want` has in another set is moved to the other set. A
 * resource that only changes its set is neither removed nor new.
 */
function relocated(sent: SetStack, want: SetStack, table: DiffTable): SetStack {
  const moved = new Map<string, EncodedResource[]>();
  for (const { key, set } of sent) {
    const same = setAt(want, key);
    if (same === set || (same !== undefined && want.length === 1)) continue;
    const leaving = same === undefined ? set.list : table.between(set, same).removed.map((name) => set.get(name)!);
    for (const resource of leaving) {
      const home = want.find((other) => other.key !== key && other.set.has(resource.name));
      if (home === undefined) continue;
      const list = moved.get(home.key);
      if (list === undefined) moved.set(home.key, [resource]);
      else list.push(resource);
    }
  }
  if (moved.size === 0) return sent;
  const here = want.map(({ group, key, set }) => {
    const before = setAt(sent, key) ?? set.table.empty;
    return { group, key, set: before.with(moved.get(key) ?? []) };
  });
  return here.concat(sent.filter(({ key }) => setAt(want, key) === undefined));
}
