/**
 * Destinations of log lines: standard output, standard error, and files rotated by size.
 *
 * Permissions: write (the files' paths), read (their sizes at start); none for the standard streams.
 *
 * @module
 */

/** Receives whole lines. */
export interface Target {
  /** Whether the target is a terminal with colours. */
  readonly colour?: boolean;
  write(line: Uint8Array): void;
  close(): void;
}

/** Size at which a file is rotated, in bytes: 100 MiB, Istio's default. */
const ROTATE_AT_BYTES = 100 * 1024 * 1024;

/** Number of rotated files to keep. `path.1` is the newest. */
const ROTATED_FILES = 5;

/** A stream of the process. */
export interface LogStream {
  writeSync(bytes: Uint8Array): number;
  /** Default: not a terminal. */
  isTerminal?(): boolean;
}

/** Standard output or error. A closed or full stream loses lines. Logging never ends the program. */
export function streamTarget(stream: LogStream): Target {
  return {
    // The runtime reads `NO_COLOR` from the environment.
    colour: stream.isTerminal?.() === true && !Deno.noColor,
    write(line) {
      try {
        for (let rest = line; rest.length > 0;) rest = rest.subarray(stream.writeSync(rest));
      } catch {
        // No stream is left for reporting the failure.
      }
    },
    close() {},
  };
}

/** Limits of a rotated file. */
export interface RotationLimits {
  readonly bytes: number;
  readonly files: number;
}

/**
 * A file with lines appended, rotated by size. A failure after the start loses lines.
 *
 * @throws When the file cannot be opened at start, so that a bad path is refused at once.
 */
export function fileTarget(
  path: string,
  limits: RotationLimits = { bytes: ROTATE_AT_BYTES, files: ROTATED_FILES },
): Target {
  const open = () => {
    requireWritable(path);
    return Deno.openSync(path, { append: true, create: true, write: true });
  };
  let file: Deno.FsFile | undefined = open();
  let size = file.statSync().size;
  const rotate = () => {
    file?.close();
    file = undefined;
    for (let n = limits.files - 1; n >= 1; n--) renameIfThere(`${path}.${n}`, `${path}.${n + 1}`);
    if (limits.files > 0) renameIfThere(path, `${path}.1`);
    else Deno.truncateSync(path);
    file = open();
    size = 0;
  };
  return {
    write(line) {
      try {
        if (size > 0 && size + line.length > limits.bytes) rotate();
        file ??= open();
        for (let rest = line; rest.length > 0;) rest = rest.subarray(file.writeSync(rest));
        size += line.length;
      } catch {
        // A full disk or a removed folder must not end the server. The next line tries again.
      }
    },
    close() {
      file?.close();
      file = undefined;
    },
  };
}

/** Opening a named pipe waits for a reader, so the program would never start. */
function requireWritable(path: string): void {
  try {
    if (Deno.statSync(path).isFifo) throw new Error(`${path}: got a named pipe, expected a file`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    Deno.renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Target of a `--log_target` value: `stdout`, `stderr`, or a path. */
export function openTarget(name: string): Target {
  if (name === "stdout") return streamTarget(Deno.stdout);
  if (name === "stderr") return streamTarget(Deno.stderr);
  return fileTarget(name);
}
