/**
 * Files in which an orchestrator tells a pod the pod's labels and annotations. Each line is `key="value"`, the value
 * quoted as in Go.
 *
 * @module
 */

/**
 * Reads such a text. An invalid line is left out: the orchestrator writes the file, and may not have finished the line.
 */
export function parseDownwardFile(text: string): Record<string, string> {
  const entries: Record<string, string> = Object.create(null);
  for (const line of text.split("\n")) {
    const at = line.indexOf("=");
    const value = at > 0 ? unquoted(line.slice(at + 1)) : undefined;
    if (value !== undefined) entries[line.slice(0, at)] = value;
  }
  return { ...entries };
}

/** The text between double quotes, with Go's escapes undone; undefined: not quoted. */
function unquoted(text: string): string | undefined {
  const inside = /^"((?:[^"\\]|\\.)*)"$/.exec(text.trim())?.[1];
  return inside?.replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/g, (_, escape: string) => {
    if (escape.length > 1) return String.fromCharCode(parseInt(escape.slice(1), 16));
    return ESCAPES[escape] ?? escape;
  });
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
